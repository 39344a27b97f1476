import { statSync } from 'node:fs';
import { join } from 'node:path';
import { type Config, ConfigError } from '../base/config.ts';
import { DataRefusedError } from '../base/data-refused-error.ts';
import { Fault } from '../contract/fault.ts';
import type { Store } from '../store/store.ts';
import { requireInstallation } from './installation.ts';
import { openStore, storeFile } from './stack.ts';

/**
 * Returns true if a store exists: on the embedded stack, a data file. Throws a ConfigError if the
 * data folder cannot be read.
 */
export function hasData({ mongoUri, dataDir }: Config): boolean {
  if (mongoUri !== null) return true;
  try {
    statSync(join(dataDir, storeFile));
    return true;
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT' || code === 'ENOTDIR') return false;
    throw new ConfigError(
      `The data folder ${dataDir} cannot be read: ${message}. ` +
        'Run the command as the user of the service.',
    );
  }
}

/** Opens the store of an existing installation. Throws a ConfigError if there is no data. */
export async function openExistingStore(config: Config): Promise<Store> {
  await requireData(config);
  return openStore(config);
}

/**
 * Locks the data folder of the embedded stack against a second service or a command that writes to
 * it. Returns a function that releases the lock. The distributed stack needs no lock. Throws a
 * ConfigError that names the process holding the lock and the remedy.
 */
export async function lockData(
  { mongoUri, dataDir }: Config,
  remedy = 'Stop that process, or set GLEANER_DATA_DIR to another folder.',
): Promise<() => void> {
  if (mongoUri !== null) return () => {};
  const { lockFolder } = await import('../store/sqlite/lock.ts');
  const lock = inDataFolder(dataDir, () => lockFolder(dataDir));
  if ('release' in lock) return lock.release;
  const holder = lock.pid === null ? 'another process' : `process ${lock.pid}`;
  throw new ConfigError(`The data folder ${dataDir} is in use by ${holder}. ${remedy}`);
}

/** Remedy for a data folder that cannot be created or written. */
export const dataFolderRemedy = 'Set GLEANER_DATA_DIR to a folder that this user can write.';

/**
 * Calls a function that writes to the data folder. Throws a ConfigError if the folder cannot be
 * created or written.
 */
function inDataFolder<T>(dataDir: string, write: () => T): T {
  try {
    return write();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).syscall === undefined) throw error;
    throw new ConfigError(
      `The data folder ${dataDir} cannot be written: ` +
        `${(error as Error).message}. ${dataFolderRemedy}`,
    );
  }
}

const missingDataRemedy =
  'Run the command in the folder where the service was started, or set GLEANER_DATA_DIR.';

/**
 * Throws a ConfigError with a remedy if there is no store, and an UnknownInstallationError if it
 * does not belong to the data folder.
 */
export async function requireData(config: Config, remedy = missingDataRemedy): Promise<void> {
  if (!hasData(config)) throw new ConfigError(`No Gleaner data in ${config.dataDir}. ${remedy}`);
  await requireInstallation(config);
}

/**
 * Opens the store in which workers share request limits, so that a single request stays within
 * them. Returns a store in memory if there is none or it does not respond; `note` receives a
 * warning in that case.
 */
export async function openPageStore(config: Config, note: (line: string) => void): Promise<Store> {
  if (hasData(config)) {
    await requireInstallation(config);
    const store = await openStore(config);
    try {
      await store.ping();
      return store;
    } catch (error) {
      await store.close();
      if (error instanceof DataRefusedError) throw error;
      note(
        'The store does not respond, so this request does not ' +
          `count toward the limits: ${Fault.from(error).message}`,
      );
    }
  }
  const { openSqliteStore } = await import('../store/sqlite/open.ts');
  return openSqliteStore({ path: ':memory:' });
}
