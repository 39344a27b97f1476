import type { BatchStore } from './batch-store.ts';
import type { Collections } from './collections.ts';
import type { JobStore } from './jobs.ts';
import type { KeyStore } from './keys.ts';
import type { LedgerStore } from './ledger.ts';
import type { OriginStore } from './origin-state.ts';

/**
 * The store port: the declared collections, and the parts with queries of their own in each engine.
 * Rules of several steps are functions in the modules beside this one. Each method is one atomic
 * step: a transaction in SQLite; in MongoDB an update of one document, or a sequence of updates
 * that a later call with the same arguments resumes (docs/decisions/0003-ledger-protocol.md). Every
 * method rejects with the fault `unavailable` if the database does not respond. Callers must not
 * change returned documents: they may be shared.
 */
export interface Store extends Omit<Collections, 'apiKeys' | 'jobs'> {
  readonly jobs: JobStore;
  readonly batches: BatchStore;
  readonly apiKeys: KeyStore;
  readonly ledger: LedgerStore;
  readonly origins: OriginStore;
  /** Display name of the database: "SQLite" or "MongoDB". */
  readonly engine: string;
  /**
   * Resolves if the database responds, with its time in milliseconds since the epoch, a clock
   * shared by all processes. SQLite uses the host's clock. Throws a DataRefusedError if this
   * program must not use the database.
   */
  ping(): Promise<number>;
  /**
   * Returns the version of the schema, which is up to date: the first call of a store migrates it.
   */
  schemaVersion(): Promise<number>;
  /**
   * Returns the id of the installation that the database belongs to, which the first call creates.
   * Ids are unique to a database.
   */
  installationId(): Promise<string>;
  /** Closes connections and files. */
  close(): Promise<void>;
}
