import { extname } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The compiled program is one folder of bundles (deploy/build.mjs); a checkout runs its sources. */
const isCompiled = extname(import.meta.url) === '.js';

const pathOf = (compiled: string, source: string) =>
  fileURLToPath(new URL(isCompiled ? compiled : source, import.meta.url));

/** Modules that the program starts processes with. */
export const programs = {
  /** The command line. */
  main: pathOf('./main.js', '../cli/main.ts'),
  /** A worker process. */
  pageWorker: pathOf('./page-worker.js', './page-worker.ts'),
  /** The fake marketplaces. */
  sandbox: pathOf('./sandbox.js', '../../sandbox/main.ts'),
  /** The local engines, which only a checkout has. */
  engines: isCompiled ? null : pathOf('', '../../test/engines/main.ts'),
};
