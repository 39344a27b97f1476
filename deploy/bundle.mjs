// Bundles the program: the command line, its worker processes, and the fake marketplaces of the demo.
import { build } from 'rolldown';

/** Writes the bundle of the sources in a folder to another folder. */
export const bundle = (folder, target, output = {}) =>
  build({
    cwd: folder,
    platform: 'node',
    input: {
      main: 'src/cli/main.ts',
      'page-worker': 'src/app/page-worker.ts',
      sandbox: 'sandbox/main.ts',
    },
    // UMD modules, which `main` often names, require their parts in a way that bundlers cannot follow.
    resolve: { mainFields: ['module', 'main'] },
    // Loaded from their own packages, and only if configured or on a terminal.
    external: [
      /^@aws-sdk\//,
      // The API is small and used everywhere; bundled, it takes a quarter of the memory.
      /^@opentelemetry\/(?!api$)/,
      'mongodb',
      'nats',
      'nodemailer',
      'open',
      'pino-pretty',
      /^puppeteer-core(?:\/|$)/,
      '@puppeteer/browsers',
    ],
    output: {
      dir: target,
      format: 'esm',
      // Modules find files by import.meta.url, so all chunks are in one folder.
      chunkFileNames: '[name]-[hash].js',
      // Node keeps source texts in memory.
      comments: { legal: true, annotation: false, jsdoc: false },
      ...output,
    },
    logLevel: 'warn',
  });
