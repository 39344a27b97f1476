// Bundles the program for the package and the image into dist: the command line, its worker processes, and the fake
// marketplaces of the demo. Bundles need a third less memory than single modules (docs/performance.md).
import { readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { build } from 'rolldown';
import { root } from './place.mjs';

const dist = join(root, 'dist');
for (const name of readdirSync(root).includes('dist') ? readdirSync(dist) : [])
  if (/\.js(?:\.map)?$/.test(name)) rmSync(join(dist, name));

await build({
  cwd: root,
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
    'puppeteer-core',
  ],
  output: {
    dir: dist,
    format: 'esm',
    // Modules find files by import.meta.url, so all chunks are in one folder.
    chunkFileNames: '[name]-[hash].js',
    sourcemap: true,
    // Node keeps source texts in memory. Names and lines are preserved, so stack traces are readable without source
    // maps.
    comments: { legal: true, annotation: false, jsdoc: false },
  },
  logLevel: 'warn',
});
