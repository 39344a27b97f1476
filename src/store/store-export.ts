import type { Batch } from './batches.ts';
import type { Job, LedgerEntry } from './documents.ts';
import type { OriginPause } from './origin-state.ts';
import type { Store } from './store.ts';
import type { StoredDocuments } from './stored-documents.ts';

/**
 * Documents of a store by kind, for a copy of all data. Not included: heartbeats and permits of
 * processes, and jobs that were being written or deleted.
 */
export type StoreContents = Omit<StoredDocuments, 'processes'> & {
  ledger: LedgerEntry;
  voidLedgerKeys: { key: string; at: number };
  jobs: Job;
  batches: Batch;
  origins: { origin: string; nextFree: number; pause: OriginPause };
};

/** Kind of documents. */
export type ContentKind = keyof StoreContents;

/** Reads the data of a store that no process changes. */
export interface StoreExport {
  /** Kinds in the order in which they are copied. */
  readonly kinds: readonly ContentKind[];
  /** Yields the documents of a kind, and holds only one in memory. */
  read<K extends ContentKind>(kind: K): Iterable<StoreContents[K]>;
  close(): void;
}

/**
 * Replaces the data of a store with another store's. Until `complete()`, no other process can use
 * the store.
 */
export interface StoreImport {
  /** The written data. */
  readonly store: Store;
  /** Marks the store as incomplete, and deletes the documents of an earlier, interrupted import. */
  begin(): Promise<void>;
  /** Writes the documents of a kind, and returns their number. */
  write<K extends ContentKind>(kind: K, documents: Iterable<StoreContents[K]>): Promise<number>;
  /**
   * Verifies that the store contains the written documents and no others. Throws `malformed` if it
   * does not.
   */
  verify(): Promise<void>;
  /** Completes the import: the store becomes the one of the installation. */
  complete(installationId: string): Promise<void>;
  close(): Promise<void>;
}
