import { createOperatorKey } from '../access/operator.ts';
import { auditFiles, type FileAudit } from '../backup/file-audit.ts';
import { type Clock, systemClock } from '../base/clock.ts';
import type { Config } from '../base/config.ts';
import { Fault } from '../contract/fault.ts';
import { type Audit, audit } from '../jobs/queries/audit.ts';
import { lockData, openExistingStore, requireData } from '../stack/data-folder.ts';
import { openBlobs, openStore } from '../stack/stack.ts';
import type { Store } from '../store/store.ts';

export type { Audit };

/**
 * Result of `gleaner audit`. `files`: number of files in the result storage, if they were audited.
 */
export type CompleteAudit = Audit & Partial<Pick<FileAudit, 'files'>>;

/**
 * Audits the store, and with `withFiles` the result storage, also while a service uses them. Throws
 * a ConfigError if there is no data.
 */
export async function runAudit(config: Config, { withFiles = false } = {}): Promise<CompleteAudit> {
  const store = await openExistingStore(config);
  try {
    const books = await audit(store);
    if (!withFiles) return books;
    const blobs = await openBlobs(config);
    const { files, problems } = await auditFiles(store, blobs).finally(() => blobs.close());
    return { ...books, files, problems: [...books.problems, ...problems] };
  } finally {
    await store.close();
  }
}

/**
 * Creates another key of the first operator directly in the store, for use when all keys are lost.
 * Throws a ConfigError if there is no data or a service is using the data folder.
 */
export async function recoverOperatorKey(config: Config, name: string): Promise<string> {
  return withLockedStore(config, (store) => createOperatorKey(store, name, systemClock.now()));
}

/**
 * Calls a function with the store of an installation. Throws a ConfigError without data, or while
 * in use.
 */
async function withLockedStore<T>(config: Config, call: (store: Store) => Promise<T>): Promise<T> {
  await requireData(config);
  const release = await lockData(config);
  try {
    const store = await openStore(config);
    try {
      return await call(store);
    } finally {
      await store.close();
    }
  } finally {
    release();
  }
}

/**
 * Time between attempts while another process migrates or the store does not respond, in
 * milliseconds.
 */
const retryMs = 1_000;

export interface MigrateStoreOptions {
  /** Maximum wait for a store that does not respond, in milliseconds. */
  waitMs: number;
  clock?: Clock;
}

/**
 * Migrates the store to this program's schema. Returns the name of the engine and the version.
 * Throws a ConfigError if there is no data or a service uses the data folder, a NewerDataError if a
 * newer program wrote the data, and fault `unavailable` if the store does not respond in time.
 */
export async function migrateStore(
  config: Config,
  { waitMs, clock = systemClock }: MigrateStoreOptions,
): Promise<{ engine: string; version: number }> {
  return withLockedStore(config, async (store) => {
    const until = clock.steady() + waitMs;
    for (;;) {
      try {
        return { engine: store.engine, version: await store.schemaVersion() };
      } catch (error) {
        if (Fault.from(error).code !== 'unavailable' || clock.steady() >= until) throw error;
        await clock.sleep(retryMs);
      }
    }
  });
}
