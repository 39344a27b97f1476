import { randomBytes } from 'node:crypto';
import { renameSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { syncFolder } from './sync-folder.ts';

/** Returns a path beside a file, for a draft that no other process writes. */
export const draftPath = (path: string): string =>
  `${path}.${process.pid}.${randomBytes(4).toString('hex')}`;

/**
 * Replaces a private file (mode 0600) with one that survives a power failure. Other processes read
 * the former text or the new one, even if several replace it concurrently.
 */
export function replaceFile(path: string, text: string): void {
  const draft = draftPath(path);
  writeFileSync(draft, text, { mode: 0o600, flag: 'wx', flush: true });
  renameSync(draft, path);
  syncFolder(dirname(path));
}
