import { chmodSync, closeSync, mkdirSync, openSync, statSync } from 'node:fs';

const sticky = 0o1000;
const others = 0o077;

/**
 * Creates a folder for data that only this program's user may read, and makes an existing one private (mode 0700).
 * Leaves a folder with the sticky bit, such as /tmp, to its other users. Throws an Error that names the folder when
 * it cannot be created.
 */
export function openPrivateFolder(path: string): void {
  mkdirSync(path, { recursive: true, mode: 0o700 });
  const { mode } = statSync(path);
  if ((mode & sticky) === 0 && (mode & others) !== 0) restrict(path, 0o700);
}

/** Makes a file private (mode 0600) where it exists. */
export function restrictFile(path: string): void {
  const found = statSync(path, { throwIfNoEntry: false });
  if (found !== undefined && (found.mode & others) !== 0) restrict(path, 0o600);
}

/** Creates an empty private file (mode 0600) unless it exists, and makes an existing one private. */
export function openPrivateFile(path: string): void {
  closeSync(openSync(path, 'a', 0o600));
  restrictFile(path);
}

function restrict(path: string, mode: number): void {
  try {
    chmodSync(path, mode);
  } catch (error) {
    // A mounted volume may belong to another user, who alone decides on its mode.
    if ((error as NodeJS.ErrnoException).code !== 'EPERM') throw error;
  }
}
