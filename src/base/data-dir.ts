import { chmodSync, closeSync, mkdirSync, openSync, statSync } from 'node:fs';
import { dirname } from 'node:path';

const sticky = 0o1000;
const groupAndOthers = 0o077;

/**
 * Creates a folder that only the current user may read, and makes an existing one private (mode
 * 0700). Leaves a folder with the sticky bit, such as /tmp, unchanged. Throws an Error that names
 * the folder if it cannot be created.
 */
export function openPrivateFolder(path: string): void {
  createFolder(path);
  const { mode } = statSync(path);
  if ((mode & sticky) === 0 && (mode & groupAndOthers) !== 0) restrict(path, 0o700);
}

/**
 * Creates a folder and its parents. The recursive mkdirSync() of Node never returns for a folder
 * that cannot exist, such as /proc/nope: it repeats while the error is ENOENT.
 */
function createFolder(path: string): void {
  try {
    if (statSync(path, { throwIfNoEntry: false })?.isDirectory()) return;
    if (dirname(path) !== path) createFolder(dirname(path));
    mkdirSync(path, { mode: 0o700 });
  } catch (error) {
    // Another process may have created it since.
    if (!statSync(path, { throwIfNoEntry: false })?.isDirectory()) throw error;
  }
}

/** Makes a file private (mode 0600) if it exists. */
export function restrictFile(path: string): void {
  const found = statSync(path, { throwIfNoEntry: false });
  if (found !== undefined && (found.mode & groupAndOthers) !== 0) restrict(path, 0o600);
}

/** Creates an empty private file (mode 0600), or makes an existing file private. */
export function openPrivateFile(path: string): void {
  closeSync(openSync(path, 'a', 0o600));
  restrictFile(path);
}

function restrict(path: string, mode: number): void {
  try {
    chmodSync(path, mode);
  } catch (error) {
    // A mounted volume may belong to another user, and only its owner can change the mode.
    if ((error as NodeJS.ErrnoException).code !== 'EPERM') throw error;
  }
}
