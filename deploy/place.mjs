// Location of the project, and the Node that runs it.
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** Root folder of the project. */
export const root = dirname(dirname(fileURLToPath(import.meta.url)));

/** Folder of compiled modules. It halves the start of commands. */
export const compileCache = join(root, 'node_modules', '.cache', 'compiled');

/**
 * Path of the Node that runs the service and its tools in a checkout. The set-up links it to the
 * checkout's own Node, or to the one that runs the set-up if that has the same version.
 */
export const node = join(
  root,
  'node_modules',
  '.bin',
  process.platform === 'win32' ? 'node.cmd' : 'node',
);

/** True if this process runs on a Node that runs TypeScript without a warning: 24.12 or newer. */
export function isRecentNode() {
  const [major, minor] = process.versions.node.split('.').map(Number);
  return major > 24 || (major === 24 && minor >= 12);
}

/** True if a process with this id runs. */
export function isAlive(pid) {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return error.code === 'EPERM';
  }
}
