import type { Store } from '../store.ts';
import { accountStore } from './accounts.ts';
import { batchStore } from './batches.ts';
import { crawlStore } from './crawls.ts';
import { driftStore } from './drift.ts';
import { openEngine } from './engine.ts';
import { jobStore } from './jobs.ts';
import { ledgerStore } from './ledger.ts';
import { noticeStore } from './notices.ts';
import { operationsStore } from './operations.ts';
import { originStore } from './origins.ts';
import { waitStore } from './waits.ts';

/** Where the embedded store keeps its data. */
export interface SqliteStoreOptions {
  /** The data file; its folder is made where it is missing. `:memory:` keeps nothing. */
  path: string;
}

/**
 * Opens the embedded store (DESIGN, "Two stacks, one program"). Several processes of one machine may
 * open the same file. Data lasts from the moment an intent resolves, whatever ends the process; a
 * power cut may take the last moments, never leave a step half done. Fault `unavailable` when the
 * file cannot be opened.
 */
export function openSqliteStore(options: SqliteStoreOptions): Store {
  const engine = openEngine(options.path);
  return {
    engine: 'SQLite',
    ping: async () => {
      engine.get('SELECT 1 FROM sequences LIMIT 1');
    },
    time: async () => Date.now(),
    close: async () => engine.close(),
    ...accountStore(engine),
    ...ledgerStore(engine),
    ...jobStore(engine),
    ...batchStore(engine),
    ...originStore(engine),
    ...waitStore(engine),
    ...crawlStore(engine),
    ...driftStore(engine),
    ...operationsStore(engine),
    ...noticeStore(engine),
  };
}
