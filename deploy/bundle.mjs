// Bundles the program: the command line, its worker processes, and the fake marketplaces of the
// demo.
import { build } from 'rolldown';

/**
 * Built-in modules with exports that load much when they are read, and Node reads all exports of a
 * module that is imported: `http` has those of WebSocket, which load the whole fetch API.
 */
const plainModules = /^(?:node:)?(http|crypto)$/;
const plain = '\0plain:';

/** Returns a module with the exports of a built-in module that take nothing to read. */
function plainExports(name) {
  const module = process.getBuiltinModule(name);
  const isPlain = ([, { get }]) => get === undefined;
  const names = Object.entries(Object.getOwnPropertyDescriptors(module)).filter(isPlain);
  return [
    `const module = process.getBuiltinModule('node:${name}');`,
    'export default module;',
    `export const { ${names.map(([key]) => key).join(', ')} } = module;`,
  ].join('\n');
}

/**
 * Escapes characters outside of Latin-1 in the code of chunks: a single one makes V8 keep the whole
 * source text with two bytes per character. Throws an Error if one is escaped by a backslash.
 */
function escapeWide(files) {
  for (const file of Object.values(files))
    if (file.type === 'chunk' && /[\u0100-\uffff]/.test(file.code)) {
      if (/\\[\u0100-\uffff]/.test(file.code))
        throw new Error(`${file.fileName}: backslash before a wide character`);
      file.code = file.code.replace(
        /[\u0100-\uffff]/g,
        (wide) => `\\u${wide.charCodeAt(0).toString(16).padStart(4, '0')}`,
      );
    }
}

/** Writes the bundle of the sources in a folder to another folder. */
export const bundle = (folder, target, output = {}) =>
  build({
    cwd: folder,
    platform: 'node',
    input: {
      main: 'src/cli/main.ts',
      'page-worker': 'src/app/page-worker.ts',
      'stall-thread': 'src/app/stall-thread.ts',
      sandbox: 'sandbox/main.ts',
    },
    // UMD modules, which `main` often names, require their parts in a way that bundlers cannot
    // follow.
    resolve: { mainFields: ['module', 'main'] },
    plugins: [
      {
        name: 'less-memory',
        resolveId: (id, _importer, { kind }) =>
          kind === 'import-statement' && plainModules.test(id)
            ? plain + plainModules.exec(id)[1]
            : null,
        load(id) {
          if (id.startsWith(plain)) return plainExports(id.slice(plain.length));
          // The gateway reads bodies itself, and the parsers of Express bring 300 KB of tables of
          // encodings.
          return /node_modules\/body-parser\/index\.js$/.test(id) ? 'module.exports = {}' : null;
        },
        generateBundle: (_options, files) => escapeWide(files),
      },
    ],
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
