import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { ConfigError } from '../../base/config-error.ts';
import { openPrivateFile, openPrivateFolder } from '../../base/data-dir.ts';
import { isBusy } from './engine.ts';

/** A held lock. */
export interface FolderLock {
  release(): void;
}

/** Result of lockFolder() for a folder that is locked already. */
export interface FolderHolder {
  /** Id of the process that holds the lock. Null while it has not written it yet. */
  pid: number | null;
}

/** Result code of SQLite for a file that is not a database. */
const notDatabase = 26;

/** Databases whose locks are held. Without a reference, the garbage collector would close them. */
const held = new Set<DatabaseSync>();

/**
 * Locks a data folder for one process, and creates it if necessary. The lock is SQLite's exclusive
 * lock on the file `gleaner.lock`: the operating system releases it when the process ends, however
 * it ends. Throws an Error if the folder cannot be written, or if the file has other contents.
 */
export function lockFolder(folder: string): FolderLock | FolderHolder {
  const path = join(folder, 'gleaner.lock');
  const pidFile = join(folder, 'gleaner.pid');
  openPrivateFolder(dirname(path));
  openPrivateFile(path);
  const database = new DatabaseSync(path);
  try {
    database.exec('BEGIN EXCLUSIVE');
  } catch (error) {
    database.close();
    if ((error as { errcode?: number }).errcode === notDatabase)
      throw new ConfigError(
        `${path} is damaged. Stop every program that uses the folder, and delete the file.`,
      );
    if (!isBusy(error)) throw error;
    return { pid: readPid(pidFile) };
  }
  held.add(database);
  writeFileSync(pidFile, `${process.pid}\n`, { mode: 0o600 });
  return {
    release() {
      held.delete(database);
      rmSync(pidFile, { force: true });
      database.close();
    },
  };
}

function readPid(path: string): number | null {
  try {
    return Number.parseInt(readFileSync(path, 'utf8'), 10) || null;
  } catch {
    return null;
  }
}
