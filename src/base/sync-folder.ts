import { closeSync, fsyncSync, openSync } from 'node:fs';

/** Waits until a folder's entries are on the disk: a file that was created or renamed in it is there after a power cut. */
export function syncFolder(path: string): void {
  const folder = openSync(path, 'r');
  try {
    fsyncSync(folder);
  } finally {
    closeSync(folder);
  }
}
