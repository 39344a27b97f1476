import type { Store } from '../store.ts';
import { accountStore } from './accounts.ts';
import { auditLogStore } from './audit-log.ts';
import { batchStore } from './batches.ts';
import { crawlStore } from './crawls.ts';
import { destinationStore } from './destinations.ts';
import { driftStore } from './drift.ts';
import { type MongoEngine, openEngine } from './engine.ts';
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

/** Options for openMongoStore(). */
export interface MongoStoreOptions {
  /** Connection string. The database is the one it names, `gleaner` by default. */
  uri: string;
}

/**
 * Opens the distributed store (docs/architecture.md) on a standalone server, a replica set, or a sharded cluster
 * (docs/scaling.md). Succeeds even if MongoDB is down: calls then fail with the fault `unavailable` within seconds
 * until it is back.
 */
export function openMongoStore(options: MongoStoreOptions): Store {
  return storeOn(openEngine(options.uri));
}

/** Creates the store on a database. */
export function storeOn(engine: MongoEngine): Store {
  return {
    engine: 'MongoDB',
    ping: () => engine.ping(),
    schemaVersion: () => engine.schemaVersion(),
    time: () => engine.time(),
    close: () => engine.close(),
    ...accountStore(engine),
    ...sessionStore(engine),
    ...auditLogStore(engine),
    ...ledgerStore(engine),
    ...jobStore(engine),
    ...batchStore(engine),
    ...originStore(engine),
    ...crawlStore(engine),
    ...expiryStore(engine),
    ...retentionStore(engine),
    ...driftStore(engine),
    ...operationsStore(engine),
    ...noticeStore(engine),
    ...destinationStore(engine),
    ...scheduleStore(engine),
    ...historyStore(engine),
  };
}
