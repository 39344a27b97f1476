import type { Binary, Collection, Db, IndexDescription } from 'mongodb';
import type {
  ApiKey,
  Batch,
  Delivery,
  DriftRecord,
  Job,
  JobState,
  LedgerEntry,
  Outcome,
  StoredFile,
  Submission,
  User,
  Webhook,
} from '../documents.ts';
import type { OriginMinute, ProcessReport } from '../operations.ts';
import type { OriginPause } from '../origin-state.ts';
import type { Holding } from '../permits.ts';
import type { BatchWait } from '../waits.ts';

/** A document under its own name for `id`. */
export type Stored<T extends { id: string }> = Omit<T, 'id'> & { _id: string };

/** A user with what the ledger protocol needs (ledger.ts). */
export type UserDocument = Stored<User> & {
  /** Keys of entries that are in the balance and may not be marked applied yet. */
  openKeys: string[];
  /** Raised whenever a key leaves `openKeys` or must never enter it from an older reading. */
  epoch: number;
};

/** An entry; a `pending` one counts only while its key is open, a `void` one never does and stays. */
export type LedgerDocument = Omit<LedgerEntry, 'key'> & {
  _id: string;
  state: 'pending' | 'applied' | 'void';
  /** Of the call that touched it last: a removal names the stamp it saw. */
  stamp: string;
};

/** States that no reader sees: a job that is being written, one that is being removed. */
export type HiddenState = 'writing' | 'removing';

/** A job. Without a number it has no such field: the index on it is sparse. */
export type JobDocument = Omit<Stored<Job>, 'number' | 'state' | 'params'> & {
  number?: number;
  state: JobState | HiddenState;
  /** JSON text: names of a client's fields are not to be field names here. */
  params: string;
  /** Names one writing of the job; batches carry it too (jobs.ts). */
  draft: string;
};

/** A batch. `units` is JSON text, for their inputs have fields of any name; `keys` are theirs, for an index. */
export type BatchDocument = Omit<Stored<Batch>, 'units' | 'outcomes'> & {
  total: number;
  units: string;
  keys: string[];
  outcomes: Record<string, Outcome>;
  file: StoredFile | null;
  draft: string;
  /** The call that moved it last, where many may want to: each looks for its own mark. */
  taker: string;
};

/** A record that an earlier version kept here: `<batch id>/<attempt>/<index>`. */
export interface PayloadDocument {
  _id: string;
  body: Binary;
}

/** An idempotency key: user and key as a JSON array. */
export type SubmissionDocument = Submission & { _id: string };

/** A pause, with `failures` under its stored name. */
export type PauseDocument = Omit<OriginPause, 'failures'> & { strikes: number }; // cspell:disable-line

/** An origin. */
export interface OriginDocument {
  _id: string;
  nextFree: number;
  pause: PauseDocument;
  holdings: Holding[];
  /** Raised whenever `holdings` is written: a writer names the one that it read. */
  leases: number;
  /** The latest end of a holding. */
  heldUntil: number;
}

/** A batch that waits, by the batch's id. `tries` is JSON text. */
export type WaitDocument = Omit<BatchWait, 'batchId' | 'tries'> & { _id: string; tries: string };

/** A page kept for a while, by its key. */
export interface CrawlDocument {
  _id: string;
  at: number;
  body: Binary;
}

/** What was seen of fields: `<market>/<page>`. */
export type DriftDocument = DriftRecord & { _id: string };

/** A webhook by its user's id. */
export type WebhookDocument = Omit<Webhook, 'userId'> & { _id: string };

/** What was asked of an origin in a minute, by minute, origin, market and region as a JSON array. */
export type OriginMinuteDocument = OriginMinute & { _id: string };

/** The database's collections. */
export interface Collections {
  users: Collection<UserDocument>;
  apiKeys: Collection<Stored<ApiKey>>;
  ledger: Collection<LedgerDocument>;
  jobs: Collection<JobDocument>;
  batches: Collection<BatchDocument>;
  payloads: Collection<PayloadDocument>;
  sequences: Collection<{ _id: string; value: number }>;
  submissions: Collection<SubmissionDocument>;
  origins: Collection<OriginDocument>;
  waits: Collection<WaitDocument>;
  crawls: Collection<CrawlDocument>;
  drift: Collection<DriftDocument>;
  processes: Collection<Stored<ProcessReport>>;
  originMinutes: Collection<OriginMinuteDocument>;
  webhooks: Collection<WebhookDocument>;
  deliveries: Collection<Stored<Delivery>>;
}

/** The collections of a database. */
export function collectionsOf(database: Db): Collections {
  return {
    users: database.collection('users'),
    apiKeys: database.collection('apiKeys'),
    ledger: database.collection('ledger'),
    jobs: database.collection('jobs'),
    batches: database.collection('batches'),
    payloads: database.collection('payloads'),
    sequences: database.collection('sequences'),
    submissions: database.collection('submissions'),
    origins: database.collection('origins'),
    waits: database.collection('waits'),
    crawls: database.collection('crawls'),
    drift: database.collection('drift'),
    processes: database.collection('processes'),
    originMinutes: database.collection('originMinutes'),
    webhooks: database.collection('webhooks'),
    deliveries: database.collection('deliveries'),
  };
}

const indexes: Partial<Record<keyof Collections, IndexDescription[]>> = {
  users: [{ key: { role: 1, createdAt: -1, _id: -1 } }],
  crawls: [{ key: { at: 1 } }],
  apiKeys: [{ key: { hash: 1 }, unique: true }, { key: { userId: 1, createdAt: -1 } }],
  ledger: [
    { key: { userId: 1, createdAt: -1, _id: -1 } },
    { key: { createdAt: -1, _id: -1 } },
    { key: { createdAt: 1 }, partialFilterExpression: { state: 'pending' } },
  ],
  jobs: [
    { key: { number: 1 }, unique: true, sparse: true },
    { key: { createdAt: -1, _id: -1 } },
    { key: { userId: 1, createdAt: -1, _id: -1 } },
    { key: { state: 1, stateSince: 1 } },
    { key: { state: 1, decideBy: 1 } },
    { key: { retryOf: 1 }, partialFilterExpression: { retryOf: { $gt: '' } } },
    { key: { noticeAt: 1, _id: 1 }, partialFilterExpression: { noticeAt: { $gt: 0 } } },
  ],
  batches: [
    { key: { jobId: 1, seq: 1 }, unique: true },
    { key: { jobId: 1, state: 1, seq: 1 } },
    { key: { jobId: 1, region: 1, seq: 1 }, partialFilterExpression: { state: 'waiting' } },
    { key: { jobId: 1, keys: 1 } },
    { key: { state: 1, queuedAt: 1 } },
  ],
  processes: [{ key: { seenAt: 1 } }],
  originMinutes: [{ key: { minute: 1 } }],
  submissions: [{ key: { createdAt: 1 } }],
  deliveries: [
    { key: { key: 1 }, unique: true },
    { key: { nextAttemptAt: 1, _id: 1 }, partialFilterExpression: { nextAttemptAt: { $gt: 0 } } },
    { key: { userId: 1, createdAt: -1, _id: -1 } },
    { key: { createdAt: -1, _id: -1 } },
  ],
  waits: [{ key: { jobId: 1, until: 1 } }, { key: { until: 1 } }],
};

/** Makes every index that is not there; collections come with them. */
export async function makeIndexes(database: Db): Promise<void> {
  for (const [name, descriptions] of Object.entries(indexes)) {
    await database.collection(name).createIndexes(descriptions);
  }
}
