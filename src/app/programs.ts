import { extname } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The compiled program is one folder of bundles (deploy/build.mjs); a checkout runs its sources. */
const isCompiled = extname(import.meta.url) === '.js';

const pathOf = (compiled: string, source: string) =>
  fileURLToPath(new URL(isCompiled ? compiled : source, import.meta.url));

/** Entry modules of the processes. */
export const programs = {
  /** Command line. */
  main: pathOf('./main.js', '../cli/main.ts'),
  /** Worker process. */
  pageWorker: pathOf('./page-worker.js', './page-worker.ts'),
  /** Fake marketplaces. */
  sandbox: pathOf('./sandbox.js', '../../sandbox/main.ts'),
  /** Local engines; only in a checkout. */
  engines: isCompiled ? null : pathOf('', '../../test/engines/main.ts'),
};
