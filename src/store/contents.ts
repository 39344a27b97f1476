import type { AuditEntry } from './audit-log.ts';
import type { Destination } from './destinations.ts';
import type {
  ApiKey,
  Batch,
  DeletedJob,
  Delivery,
  DriftRecord,
  Job,
  LedgerEntry,
  Submission,
  User,
  Webhook,
} from './documents.ts';
import type { ItemChange, Observation, Rule, TrackedItem, TrackingRun } from './history.ts';
import type { OriginMinute } from './operations.ts';
import type { OriginPause } from './origin-state.ts';
import type { Schedule, ScheduleRun } from './schedules.ts';
import type { BrowserSession } from './sessions.ts';
import type { Store } from './store.ts';

/**
 * Documents of a store by kind, for a copy of all data. Not included: heartbeats and permits of processes, and jobs that
 * were being written or deleted.
 */
export interface StoreContents {
  users: User;
  apiKeys: ApiKey;
  sessions: BrowserSession;
  auditLog: AuditEntry;
  ledger: LedgerEntry;
  voidLedgerKeys: { key: string; at: number };
  jobs: Job;
  deletedJobs: DeletedJob;
  batches: Batch;
  sequences: { name: string; value: number };
  submissions: Submission;
  origins: { origin: string; nextFree: number; pause: OriginPause };
  crawls: { key: string; at: number; body: Uint8Array };
  drift: DriftRecord;
  originMinutes: OriginMinute;
  webhooks: Webhook;
  deliveries: Delivery;
  destinations: Destination;
  schedules: Schedule & { request: string };
  scheduleRuns: ScheduleRun;
  trackingRuns: TrackingRun;
  trackedItems: TrackedItem;
  observations: Observation;
  itemChanges: ItemChange;
  rules: Rule;
}

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

/** Replaces the data of a store with that of another one. Until `complete()`, no other process can use the store. */
export interface StoreImport {
  /** The written data. */
  readonly store: Store;
  /** Marks the store as incomplete, and deletes the documents of an earlier, interrupted import. */
  begin(): Promise<void>;
  /** Writes the documents of a kind, and returns their number. */
  write<K extends ContentKind>(kind: K, documents: Iterable<StoreContents[K]>): Promise<number>;
  /**
   * Verifies that the store contains the written documents and no others. Fault `malformed` if it does not.
   */
  verify(): Promise<void>;
  /** Makes the store usable. */
  complete(): Promise<void>;
  close(): Promise<void>;
}
