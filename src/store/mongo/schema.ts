import type { Collection, Db, IndexDescription } from 'mongodb';
import type { Batch, Outcome } from '../batches.ts';
import { collectionNames, declarations } from '../collections.ts';
import type { ApiKey, Job, JobState, LedgerEntry, StoredFile, User } from '../documents.ts';
import type { OriginPause } from '../origin-state.ts';
import type { Holding } from '../permits.ts';
import type { CollectionName } from '../stored-documents.ts';
import { indexesOf, type StoredDocument } from './documents.ts';

/** A document with `_id` instead of `id`. */
export type Stored<T extends { id: string }> = Omit<T, 'id'> & { _id: string };

/** A user with the fields of the ledger protocol (posting.ts). */
export type UserDocument = Stored<User> & {
  /** Keys of entries that are in the balance and may not be marked as applied yet. */
  openKeys: string[];
  /** Incremented when a key leaves `openKeys`, and to make concurrent posts start over. */
  revision: number;
  /** Credits spent by API keys with a ceiling, by the key's id. Absent before the first charge. */
  spentByKey?: Record<string, number>;
};

/**
 * A ledger entry. `pending`: counts only while its key is open. `void`: never counts, and stays.
 */
export type LedgerDocument = Omit<LedgerEntry, 'key'> & {
  _id: string;
  state: 'pending' | 'applied' | 'void';
  /** Id of the call that last wrote the entry. A deletion names the stamp it read. */
  stamp: string;
};

/** States that no reader sees: a job that is being written or removed. */
export type HiddenState = 'writing' | 'removing';

/** A job. The field `number` is absent without a number, since its index is sparse. */
export type JobDocument = Omit<Stored<Job>, 'number' | 'state' | 'params'> & {
  number?: number;
  state: JobState | HiddenState;
  /** JSON text, because field names of clients must not become field names in MongoDB. */
  params: string;
  /** Id of the attempt to write the job, also stored in its batches (jobs.ts). */
  draft: string;
};

/**
 * A batch. `units` is JSON text, since inputs have arbitrary field names; `keys` are the unit keys,
 * for an index.
 */
export type BatchDocument = Omit<Stored<Batch>, 'units' | 'outcomes'> & {
  total: number;
  units: string;
  keys: string[];
  outcomes: Record<string, Outcome>;
  file: StoredFile | null;
  draft: string;
  /**
   * Id of the call that last moved the batch, by which concurrent callers find the batches they
   * moved.
   */
  moveId: string;
};

/** Shared state of an origin. */
export interface OriginDocument {
  _id: string;
  nextFree: number;
  pause: OriginPause;
  holdings: Holding[];
  /** Incremented by each write of `holdings`, which names the value it read. */
  holdingsRevision: number;
  /** Latest expiry of any permit lease. */
  heldUntil: number;
}

/**
 * State of the schema. One process at a time migrates: the one named by `holder`, until
 * `leaseUntil`.
 */
export interface SchemaDocument {
  _id: 'schema';
  version: number;
  /** Lowest schema version whose programs can use the data. Default: `version`. */
  compatibleFrom?: number;
  holder: string;
  leaseUntil: number;
  /** Id of the installation that the database belongs to. */
  installation?: string;
  /** Source of an incomplete move, during which no other process may use the database. */
  movingFrom?: string;
}

/** Collections with queries of their own. */
interface OwnCollections {
  schema: Collection<SchemaDocument>;
  users: Collection<UserDocument>;
  apiKeys: Collection<Stored<ApiKey>>;
  ledger: Collection<LedgerDocument>;
  jobs: Collection<JobDocument>;
  batches: Collection<BatchDocument>;
  origins: Collection<OriginDocument>;
}

/** The database's collections. */
export type MongoCollections = OwnCollections & {
  [K in Exclude<CollectionName, keyof OwnCollections>]: Collection<StoredDocument>;
};

export function collectionsOf(database: Db): MongoCollections {
  const names = ['schema', 'ledger', 'batches', 'origins', ...collectionNames];
  return Object.fromEntries(
    names.map((name) => [name, database.collection(name)]),
  ) as unknown as MongoCollections;
}

/** Indexes of collections with queries of their own. */
const indexes: Partial<Record<keyof OwnCollections, IndexDescription[]>> = {
  ledger: [
    { key: { userId: 1, createdAt: -1, _id: -1 } },
    { key: { createdAt: -1, _id: -1 } },
    { key: { createdAt: 1 }, partialFilterExpression: { state: 'pending' } },
  ],
  batches: [
    { key: { jobId: 1, seq: 1 }, unique: true },
    { key: { jobId: 1, state: 1, seq: 1 } },
    { key: { jobId: 1, region: 1, seq: 1 }, partialFilterExpression: { state: 'waiting' } },
    { key: { jobId: 1, keys: 1 } },
    { key: { jobId: 1, 'wait.until': 1 }, partialFilterExpression: { 'wait.until': { $gt: 0 } } },
    { key: { state: 1, queuedAt: 1 } },
    { key: { state: 1, publishedAt: 1 } },
  ],
};

/** Creates the missing indexes and their collections. */
export async function createIndexes(database: Db): Promise<void> {
  const declared = Object.values(declarations).map(
    (declaration) => [declaration.name, indexesOf(declaration)] as const,
  );
  for (const [name, descriptions] of [...Object.entries(indexes), ...declared]) {
    if (descriptions.length > 0) await database.collection(name).createIndexes([...descriptions]);
  }
}
