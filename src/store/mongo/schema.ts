import type { Binary, Collection, Db, IndexDescription } from 'mongodb';
import type { AuditEntry } from '../audit-log.ts';
import type { Destination } from '../destinations.ts';
import type {
  ApiKey,
  Batch,
  DeletedJob,
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
import type { ItemChange, Observation, Rule, TrackedItem, TrackingRun } from '../history.ts';
import type { OriginMinute, ProcessReport } from '../operations.ts';
import type { OriginPause } from '../origin-state.ts';
import type { Holding } from '../permits.ts';
import type { Schedule, ScheduleRun } from '../schedules.ts';
import type { BrowserSession } from '../sessions.ts';

/** A document with `_id` instead of `id`. */
export type Stored<T extends { id: string }> = Omit<T, 'id'> & { _id: string };

/** A user with the fields of the ledger protocol (posting.ts). */
export type UserDocument = Stored<User> & {
  /** Keys of entries that are in the balance and may not be marked as applied yet. */
  openKeys: string[];
  /** Incremented when a key leaves `openKeys`, and to make concurrent posts start over. */
  epoch: number;
  /** Credits spent by API keys with a ceiling, by the key's id; absent before the first charge. */
  spentByKey?: Record<string, number>;
};

/** A ledger entry. `pending`: counts only while its key is open. `void`: never counts, and stays. */
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
  /** Id of one writing of the job, also stored in its batches (creating.ts). */
  draft: string;
};

/**
 * A batch. `units` is JSON text, since inputs have arbitrary field names; `keys` are the unit keys, for an index.
 */
export type BatchDocument = Omit<Stored<Batch>, 'units' | 'outcomes'> & {
  total: number;
  units: string;
  keys: string[];
  outcomes: Record<string, Outcome>;
  file: StoredFile | null;
  draft: string;
  /** Id of the call that last moved the batch, by which concurrent callers find the batches they moved. */
  taker: string;
};

/** An idempotency key. The id is a JSON array of user and key. */
export type SubmissionDocument = Submission & { _id: string };

/** A pause, with `failures` under its stored name. */
export type PauseDocument = Omit<OriginPause, 'failures'> & { strikes: number };

/** Shared state of an origin. */
export interface OriginDocument {
  _id: string;
  nextFree: number;
  pause: PauseDocument;
  holdings: Holding[];
  /** Incremented by each write of `holdings`, which names the value it read. */
  leases: number;
  /** Latest expiry of a holding. */
  heldUntil: number;
}

/** A recently crawled page, by its key. */
export interface CrawlDocument {
  _id: string;
  at: number;
  body: Binary;
}

/** Drift statistics: `<market>/<page>`. */
export type DriftDocument = DriftRecord & { _id: string };

/** A webhook by its user's id. */
export type WebhookDocument = Omit<Webhook, 'userId'> & { _id: string };

/** A destination. `address` is JSON text. */
export type DestinationDocument = Omit<Stored<Destination>, 'address'> & { address: string };

/** Request counts of an origin. The id is a JSON array of minute, origin, market, and region. */
export type OriginMinuteDocument = OriginMinute & { _id: string };

/** A session by its hash. */
export type SessionDocument = Omit<BrowserSession, 'hash'> & { _id: string };

/** A schedule. `options` is JSON text. */
export type ScheduleDocument = Omit<Stored<Schedule>, 'options'> & { options: string; request: string };

/** A run by its job. */
export type TrackingRunDocument = Omit<TrackingRun, 'jobId'> & {
  _id: string;
  /** The user of an active run; absent otherwise. Unique. */
  activeUser?: string;
};

/** An observation. The id consists of the item, the time, and the job (history.ts), so that it serves as an index. */
export type ObservationDocument = Observation & { _id: string };

/** State of the schema. One process at a time migrates: the one named by `holder`, until `leaseUntil`. */
export interface SchemaDocument {
  _id: 'schema';
  version: number;
  /** Lowest schema version whose programs can use the data; default: `version`. */
  compatibleFrom?: number;
  holder: string;
  leaseUntil: number;
  /** Source of an incomplete move, during which no other process may use the database. */
  movingFrom?: string;
}

/** The database's collections. */
export interface Collections {
  schema: Collection<SchemaDocument>;
  users: Collection<UserDocument>;
  apiKeys: Collection<Stored<ApiKey>>;
  sessions: Collection<SessionDocument>;
  auditLog: Collection<Stored<AuditEntry>>;
  ledger: Collection<LedgerDocument>;
  jobs: Collection<JobDocument>;
  deletedJobs: Collection<Stored<DeletedJob>>;
  batches: Collection<BatchDocument>;
  sequences: Collection<{ _id: string; value: number }>;
  submissions: Collection<SubmissionDocument>;
  origins: Collection<OriginDocument>;
  crawls: Collection<CrawlDocument>;
  drift: Collection<DriftDocument>;
  processes: Collection<Stored<ProcessReport>>;
  originMinutes: Collection<OriginMinuteDocument>;
  webhooks: Collection<WebhookDocument>;
  deliveries: Collection<Stored<Delivery>>;
  destinations: Collection<DestinationDocument>;
  schedules: Collection<ScheduleDocument>;
  scheduleRuns: Collection<Stored<ScheduleRun>>;
  trackingRuns: Collection<TrackingRunDocument>;
  trackedItems: Collection<Stored<TrackedItem>>;
  observations: Collection<ObservationDocument>;
  itemChanges: Collection<Stored<ItemChange>>;
  rules: Collection<Stored<Rule>>;
}

/** Returns the collections of a database. */
export function collectionsOf(database: Db): Collections {
  return {
    schema: database.collection('schema'),
    users: database.collection('users'),
    apiKeys: database.collection('apiKeys'),
    sessions: database.collection('sessions'),
    auditLog: database.collection('auditLog'),
    ledger: database.collection('ledger'),
    jobs: database.collection('jobs'),
    deletedJobs: database.collection('deletedJobs'),
    batches: database.collection('batches'),
    sequences: database.collection('sequences'),
    submissions: database.collection('submissions'),
    origins: database.collection('origins'),
    crawls: database.collection('crawls'),
    drift: database.collection('drift'),
    processes: database.collection('processes'),
    originMinutes: database.collection('originMinutes'),
    webhooks: database.collection('webhooks'),
    deliveries: database.collection('deliveries'),
    destinations: database.collection('destinations'),
    schedules: database.collection('schedules'),
    scheduleRuns: database.collection('scheduleRuns'),
    trackingRuns: database.collection('trackingRuns'),
    trackedItems: database.collection('trackedItems'),
    observations: database.collection('observations'),
    itemChanges: database.collection('itemChanges'),
    rules: database.collection('rules'),
  };
}

const indexes: Partial<Record<keyof Collections, IndexDescription[]>> = {
  users: [
    { key: { role: 1, createdAt: -1, _id: -1 } },
    { key: { deletedAt: 1, _id: 1 }, partialFilterExpression: { deletedAt: { $gt: 0 } } },
  ],
  crawls: [{ key: { at: 1 } }],
  apiKeys: [{ key: { hash: 1 }, unique: true }, { key: { userId: 1, createdAt: -1 } }],
  sessions: [{ key: { userId: 1, createdAt: -1, _id: -1 } }, { key: { expiresAt: 1 } }],
  auditLog: [
    { key: { createdAt: -1, _id: -1 } },
    { key: { actorId: 1, createdAt: -1, _id: -1 } },
    { key: { target: 1, createdAt: -1, _id: -1 } },
  ],
  ledger: [
    { key: { userId: 1, createdAt: -1, _id: -1 } },
    { key: { createdAt: -1, _id: -1 } },
    { key: { createdAt: 1 }, partialFilterExpression: { state: 'pending' } },
  ],
  jobs: [
    { key: { number: 1 }, unique: true, sparse: true },
    { key: { createdAt: -1, _id: -1 } },
    { key: { userId: 1, createdAt: -1, _id: -1 } },
    { key: { mode: 1, createdAt: -1, _id: -1 } },
    { key: { state: 1, stateSince: 1 } },
    { key: { state: 1, decideBy: 1 } },
    { key: { retryOf: 1 }, partialFilterExpression: { retryOf: { $gt: '' } } },
    { key: { noticeAt: 1, _id: 1 }, partialFilterExpression: { noticeAt: { $gt: 0 } } },
    { key: { finishedAt: 1, _id: 1 } },
    { key: { filesDeletedAt: 1, finishedAt: 1, _id: 1 } },
    { key: { mode: 1, filesDeletedAt: 1, finishedAt: 1, _id: 1 }, partialFilterExpression: { mode: 'test' } },
    { key: { fileDeletionDue: 1, _id: 1 }, partialFilterExpression: { fileDeletionDue: true } },
  ],
  deletedJobs: [{ key: { userId: 1, createdAt: -1, _id: -1 } }],
  batches: [
    { key: { jobId: 1, seq: 1 }, unique: true },
    { key: { jobId: 1, state: 1, seq: 1 } },
    { key: { jobId: 1, region: 1, seq: 1 }, partialFilterExpression: { state: 'waiting' } },
    { key: { jobId: 1, keys: 1 } },
    { key: { jobId: 1, 'wait.until': 1 }, partialFilterExpression: { 'wait.until': { $gt: 0 } } },
    { key: { state: 1, queuedAt: 1 } },
    { key: { state: 1, publishedAt: 1 } },
  ],
  processes: [{ key: { seenAt: 1 } }],
  originMinutes: [{ key: { minute: 1 } }],
  submissions: [{ key: { createdAt: 1 } }],
  deliveries: [
    { key: { key: 1 }, unique: true },
    { key: { nextAttemptAt: 1, _id: 1 }, partialFilterExpression: { nextAttemptAt: { $gt: 0 } } },
    { key: { userId: 1, createdAt: -1, _id: -1 } },
    { key: { createdAt: -1, _id: -1 } },
    { key: { jobId: 1 } },
  ],
  destinations: [{ key: { userId: 1, name: 1 }, unique: true }, { key: { secretsKey: 1 } }],
  schedules: [
    { key: { dueAt: 1, _id: 1 }, partialFilterExpression: { dueAt: { $gt: 0 } } },
    { key: { userId: 1, createdAt: -1, _id: -1 } },
    { key: { state: 1, createdAt: -1, _id: -1 } },
    { key: { noticeAt: 1, _id: 1 }, partialFilterExpression: { noticeAt: { $gt: 0 } } },
  ],
  scheduleRuns: [
    { key: { scheduleId: 1, createdAt: -1, _id: -1 } },
    { key: { createdAt: 1 } },
    { key: { userId: 1 } },
  ],
  trackingRuns: [
    { key: { dueAt: 1, _id: 1 }, partialFilterExpression: { dueAt: { $gt: 0 } } },
    { key: { userId: 1, series: 1, at: 1 } },
    { key: { doneAt: 1 }, partialFilterExpression: { doneAt: { $gt: 0 } } },
    { key: { userId: 1, at: 1 }, partialFilterExpression: { dueAt: { $gt: 0 } } },
    // One run of a user is active.
    { key: { activeUser: 1 }, unique: true, sparse: true },
  ],
  trackedItems: [
    { key: { userId: 1, series: 1, changedAt: -1, _id: -1 } },
    { key: { userId: 1, series: 1, source: 1 }, partialFilterExpression: { series: { $gt: '' } } },
  ],
  // Observations and changes are found by their ids.
  observations: [{ key: { endedAt: 1 }, partialFilterExpression: { endedAt: { $gt: 0 } } }],
  rules: [{ key: { userId: 1, createdAt: 1, _id: 1 } }],
};

/** Creates the missing indexes and their collections. */
export async function createIndexes(database: Db): Promise<void> {
  for (const [name, descriptions] of Object.entries(indexes))
    await database.collection(name).createIndexes(descriptions);
}
