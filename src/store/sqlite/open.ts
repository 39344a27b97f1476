import type { Store } from '../store.ts';
import { accountStore } from './accounts.ts';
import { batchStore } from './batches.ts';
import { crawlStore } from './crawls.ts';
import { driftStore } from './drift.ts';
import { earlierPayloadStore } from './earlier/payloads.ts';
import { type Engine, openEngine } from './engine.ts';
import { expiryStore } from './expiry.ts';
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
  /** Pages of the file kept in memory; 8 MiB by default. */
  cacheBytes?: number;
}

/**
 * Opens the embedded store (DESIGN, "Two stacks, one program"). Several processes of one machine may
 * open the same file. Data lasts from the moment an intent resolves, whatever ends the process. In a power cut
 * accounts, the ledger, transitions of jobs and notices last too; the work on batches may fall back by some
 * seconds and is done again (docs/reliability.md). No step is ever half done. Fault `unavailable` when the
 * file cannot be opened.
 */
export function openSqliteStore(options: SqliteStoreOptions): Store {
  return storeOn(openEngine(options.path, options.cacheBytes));
}

/** The store on an open data file. */
export function storeOn(engine: Engine): Store {
  const { relaxed } = engine;
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
    ...originStore(relaxed),
    ...waitStore(relaxed),
    ...crawlStore(relaxed),
    ...expiryStore(relaxed),
    ...earlierPayloadStore(engine),
    ...driftStore(relaxed),
    ...operationsStore(relaxed),
    ...noticeStore(engine),
  };
}
