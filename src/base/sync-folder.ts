import { closeSync, fsyncSync, openSync } from 'node:fs';

/**
 * Flushes a folder's entries to disk, so that files created or renamed in it survive a power
 * failure.
 */
export function syncFolder(path: string): void {
  const folder = openSync(path, 'r');
  try {
    fsyncSync(folder);
  } finally {
    closeSync(folder);
  }
}
