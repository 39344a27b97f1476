import type { Store } from '../store.ts';
import { accountStore } from './accounts.ts';
import { auditLogStore } from './audit-log.ts';
import { batchStore } from './batches.ts';
import { crawlStore } from './crawls.ts';
import { destinationStore } from './destinations.ts';
import { driftStore } from './drift.ts';
import { openEngine, type SqliteEngine } from './engine.ts';
import { expiryStore } from './expiry.ts';
import { historyStore } from './history.ts';
import { jobStore } from './jobs.ts';
import { ledgerStore } from './ledger.ts';
import { noticeStore } from './notices.ts';
import { operationsStore } from './operations.ts';
import { originStore } from './origins.ts';
import { retentionStore } from './retention.ts';
import { scheduleStore } from './schedules.ts';
import { sessionStore } from './sessions.ts';

/** Options for openSqliteStore(). */
export interface SqliteStoreOptions {
  /** The data file. A missing folder is created. `:memory:` stores nothing. */
  path: string;
  /** Size of the page cache; 8 MiB by default. */
  cacheBytes?: number;
}

/**
 * Opens the embedded store (docs/architecture.md). Several processes of one host may open the same file. A change
 * is stored when its method resolves and survives any crash of the process. After a power failure, users, the
 * ledger, job transitions, and notices are intact; work on batches may lose some seconds and is repeated
 * (docs/reliability.md). Every step is atomic. Fault `unavailable` if the file cannot be opened.
 */
export function openSqliteStore(options: SqliteStoreOptions): Store {
  return storeOn(openEngine(options.path, options.cacheBytes));
}

/** Creates the store on an open data file. */
export function storeOn(engine: SqliteEngine): Store {
  const { relaxed } = engine;
  return {
    engine: 'SQLite',
    ping: async () => {
      engine.get('SELECT 1 FROM sequences LIMIT 1');
    },
    schemaVersion: async () => engine.schemaVersion(),
    time: async () => Date.now(),
    close: async () => engine.close(),
    ...accountStore(engine),
    ...sessionStore(engine),
    ...auditLogStore(engine),
    ...ledgerStore(engine),
    ...jobStore(engine),
    ...batchStore(engine),
    ...originStore(relaxed),
    ...crawlStore(relaxed),
    ...expiryStore(relaxed),
    ...retentionStore(engine),
    ...driftStore(relaxed),
    ...operationsStore(relaxed),
    ...noticeStore(engine),
    ...destinationStore(engine),
    ...scheduleStore(engine),
    ...historyStore(engine),
  };
}
