import { DatabaseSync } from 'node:sqlite';
import { openPrivateFile } from '../../base/data-dir.ts';
import { busyTimeoutMs, guarded } from './engine.ts';

/**
 * Copies a data file to the new file `target` (mode 0600), also while a service writes to it. The
 * copy has the state of one moment. VACUUM INTO reads within one transaction; SQLite's backup API
 * would start over with every commit of the service. It is in a file of its own, because a backup
 * opens no store.
 */
export function copyDataFile(path: string, target: string): void {
  guarded(target, () => openPrivateFile(target));
  const database = guarded(path, () => new DatabaseSync(path, { timeout: busyTimeoutMs }));
  try {
    database.prepare('VACUUM INTO ?').run(target);
  } catch (error) {
    const { errcode } = error as { errcode?: number };
    guarded(writeCodes.has(errcode) ? target : path, () => {
      throw error;
    });
  } finally {
    database.close();
  }
}

/** Codes of a full disk, a failed write, and a failed flush. Only the copy is written. */
const writeCodes = new Set<unknown>([13, 778, 1034]);
