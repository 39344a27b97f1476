import type { Store } from '../store.ts';
import { accountStore } from './accounts.ts';
import { batchStore } from './batches.ts';
import { crawlStore } from './crawls.ts';
import { driftStore } from './drift.ts';
import { earlierPayloadStore } from './earlier/payloads.ts';
import { openEngine } from './engine.ts';
import { expiryStore } from './expiry.ts';
import { jobStore } from './jobs.ts';
import { ledgerStore } from './ledger.ts';
import { noticeStore } from './notices.ts';
import { operationsStore } from './operations.ts';
import { originStore } from './origins.ts';
import { waitStore } from './waits.ts';

/** Where the distributed store keeps its data. */
export interface MongoStoreOptions {
  /** Connection string; the database is the one it names, else `gleaner`. */
  uri: string;
}

/**
 * Opens the distributed store (DESIGN, "Two stacks, one program"): MongoDB as a standalone server, a
 * replica set, or sharded as docs/scaling.md allows. It opens at once, also while MongoDB is down: each call then fails as
 * `unavailable` within seconds, until MongoDB is there.
 */
export function openMongoStore(options: MongoStoreOptions): Store {
  const engine = openEngine(options.uri);
  return {
    engine: 'MongoDB',
    ping: () => engine.ping(),
    time: () => engine.time(),
    close: () => engine.close(),
    ...accountStore(engine),
    ...ledgerStore(engine),
    ...jobStore(engine),
    ...batchStore(engine),
    ...originStore(engine),
    ...waitStore(engine),
    ...crawlStore(engine),
    ...expiryStore(engine),
    ...earlierPayloadStore(engine),
    ...driftStore(engine),
    ...operationsStore(engine),
    ...noticeStore(engine),
  };
}
