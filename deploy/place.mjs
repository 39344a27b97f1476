// Location of the project, and the Node that runs it.
import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** Root folder of the project. */
export const root = dirname(dirname(fileURLToPath(import.meta.url)));

/** True if this is an installed package and not a checkout: npm does not pack the lock file. */
export const isInstalled = !existsSync(join(root, 'package-lock.json'));

/**
 * Path of the Node that runs the service and its tools. A checkout has its own; an installed package runs on
 * the system's.
 */
export const node = isInstalled
  ? process.execPath
  : join(root, 'node_modules', '.bin', process.platform === 'win32' ? 'node.cmd' : 'node');
