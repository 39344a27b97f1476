import type { AuditEntry } from './audit-log.ts';
import type { PagePlace } from './batches.ts';
import { type Collection, declareAll } from './collection.ts';
import type { Destination } from './destinations.ts';
import type {
  ApiKey,
  DeletedJob,
  Delivery,
  DriftRecord,
  FileRemoval,
  Job,
  Submission,
  User,
  Webhook,
} from './documents.ts';
import type {
  ItemChange,
  ItemUnit,
  Observation,
  Rule,
  TrackedItem,
  TrackingRun,
} from './history.ts';
import type { OriginMinute, ProcessReport } from './operations.ts';
import type { Schedule, ScheduleRequest, ScheduleRun } from './schedules.ts';
import type { BrowserSession } from './sessions.ts';

/** Documents of the declared collections, with their lazy fields. */
export interface StoredDocuments {
  users: User;
  apiKeys: ApiKey;
  sessions: BrowserSession;
  auditLog: AuditEntry;
  jobs: Job;
  deletedJobs: DeletedJob;
  fileRemovals: FileRemoval;
  sequences: { name: string; value: number };
  submissions: Submission;
  crawls: { key: string; at: number; body: Uint8Array };
  pagePlaces: PagePlace;
  drift: DriftRecord;
  processes: ProcessReport;
  originMinutes: OriginMinute;
  webhooks: Webhook;
  deliveries: Delivery;
  destinations: Destination;
  schedules: Schedule & Pick<ScheduleRequest, 'request'>;
  scheduleRuns: ScheduleRun;
  /** `activeUser`: the user of an active run. */
  trackingRuns: TrackingRun & { activeUser: string | null };
  trackedItems: TrackedItem;
  itemUnits: ItemUnit;
  observations: Observation;
  itemChanges: ItemChange;
  rules: Rule;
}

/** Name of a declared collection. */
export type CollectionName = keyof StoredDocuments;

/** Documents as reads return them. */
type ReadDocuments = Omit<StoredDocuments, 'schedules' | 'trackingRuns'> & {
  schedules: Schedule;
  trackingRuns: TrackingRun;
};

/** The declared collections of a store. */
export type Collections = {
  readonly [K in CollectionName]: StoredDocuments[K] extends ReadDocuments[K]
    ? Collection<ReadDocuments[K], StoredDocuments[K]>
    : never;
};

/**
 * Collections with the same code for both engines. To add one, declare it here and write its
 * module. Keys of accounts, the creation and deletion of jobs, batches, the ledger, and origins
 * have queries of their own in each engine.
 */
export const declarations = declareAll<StoredDocuments>()({
  users: {
    text: 'id name email role testOf?',
    integer: 'balance',
    real: 'createdAt suspendedAt? deletedAt?',
    flag: 'erased',
    id: ['id'],
    order: ['createdAt', 'id'],
    indexes: [
      { fields: ['role', 'createdAt', 'id'] },
      { fields: ['deletedAt', 'id'], set: 'deletedAt' },
    ],
  },
  apiKeys: {
    text: 'id userId role name hash prefix operatorRole?',
    real: 'createdAt expiresAt? revokedAt? lastUsedAt?',
    object: 'scopes?',
    integer: 'creditCeiling? creditsSpent',
    id: ['id'],
    order: ['createdAt', 'id'],
    indexes: [{ fields: ['hash'], unique: true }, { fields: ['userId', 'createdAt', 'id'] }],
    owner: 'userId',
  },
  sessions: {
    text: 'hash userId keyId',
    real: 'createdAt expiresAt',
    id: ['hash'],
    order: ['createdAt', 'hash'],
    expires: 'expiresAt',
    indexes: [{ fields: ['userId', 'createdAt', 'hash'] }, { fields: ['expiresAt'] }],
    owner: 'userId',
    clustered: true,
  },
  auditLog: {
    real: 'createdAt',
    text: 'id actorId role keyId action target source outcome detail',
    id: ['id'],
    order: ['createdAt', 'id'],
    expires: 'createdAt',
    reports: true,
    indexes: [
      { fields: ['createdAt', 'id'] },
      { fields: ['actorId', 'createdAt', 'id'] },
      { fields: ['target', 'createdAt', 'id'] },
    ],
  },
  jobs: {
    text: 'id userId keyId? mode market kind region lane state decidedBy? reason retryOf? rereadOf? noticeDue?',
    integer: 'number? unitPrice reusedUnitPrice? cost refunded totalUnits totalBatches',
    real: 'stateSince dueAt? createdAt decideBy? startedAt? finishedAt? noticeAt? filesDeletedAt? pagesUntil?',
    flag: 'resumable fileDeletionDue',
    // Large values are last, so that counting does not read them.
    object: 'schedule? hold? counts? options file?',
    json: 'params',
    id: ['id'],
    order: ['createdAt', 'id'],
    indexes: [
      { fields: ['number'], unique: true },
      { fields: ['createdAt', 'id'] },
      { fields: ['userId', 'createdAt', 'id'] },
      { fields: ['mode', 'createdAt', 'id'] },
      { fields: ['state', 'stateSince'] },
      { fields: ['dueAt', 'id'], set: 'dueAt' },
      { fields: ['noticeAt', 'id'], set: 'noticeAt' },
      { fields: ['retryOf'], set: 'retryOf' },
      { fields: ['rereadOf'], set: 'rereadOf' },
      { fields: ['pagesUntil', 'id'], set: 'pagesUntil' },
      { fields: ['userId'], set: 'pagesUntil' },
      { fields: ['finishedAt', 'id'] },
      { fields: ['filesDeletedAt', 'finishedAt', 'id'] },
      { fields: ['filesDeletedAt', 'mode', 'finishedAt', 'id'] },
      { fields: ['fileDeletionDue', 'id'], set: 'fileDeletionDue' },
    ],
    due: 'dueAt',
    // A job that is being written or removed.
    hidden: { field: 'state', values: ['writing', 'removing'] },
    cached: true,
  },
  deletedJobs: {
    text: 'id userId market kind state',
    integer: 'unitPrice cost refunded discount totalUnits success failed',
    real: 'createdAt finishedAt? deletedAt',
    id: ['id'],
    order: ['createdAt', 'id'],
    indexes: [{ fields: ['userId', 'createdAt', 'id'] }],
  },
  fileRemovals: {
    text: 'jobId',
    real: 'deletedAt dueAt',
    id: ['jobId'],
    order: ['dueAt', 'jobId'],
    indexes: [{ fields: ['dueAt', 'jobId'] }],
    upsert: { newer: ['deletedAt'] },
    clustered: true,
  },
  sequences: {
    text: 'name',
    integer: 'value',
    id: ['name'],
    order: ['name', 'value'],
    relaxed: true,
  },
  submissions: {
    real: 'createdAt',
    flag: 'interrupted',
    text: 'userId idempotencyKey bodyHash jobId response?',
    id: ['userId', 'idempotencyKey'],
    order: ['createdAt', 'idempotencyKey'],
    indexes: [{ fields: ['createdAt'] }],
    owner: 'userId',
    relaxed: true,
  },
  crawls: {
    text: 'key',
    real: 'at',
    bytes: 'body',
    id: ['key'],
    order: ['at', 'key'],
    expires: 'at',
    indexes: [{ fields: ['at'] }],
    upsert: { newer: ['at'] },
    relaxed: true,
  },
  pagePlaces: {
    text: 'id path',
    integer: 'offset length',
    // The id begins with the job's id.
    id: ['id'],
    order: ['id', 'offset'],
    relaxed: true,
    clustered: true,
  },
  drift: {
    text: 'market page state',
    integer: 'revision',
    id: ['market', 'page'],
    order: ['market', 'page'],
    relaxed: true,
  },
  processes: {
    text: 'id role host version paused',
    integer: 'pid memoryBytes batches unitsDone clockSkewMs workers',
    real: 'startedAt seenAt',
    id: ['id'],
    order: ['startedAt', 'id'],
    expires: 'seenAt',
    indexes: [{ fields: ['seenAt'] }],
    relaxed: true,
  },
  originMinutes: {
    real: 'minute milliseconds',
    text: 'origin market region',
    integer: 'requests refused failed',
    id: ['minute', 'origin', 'market', 'region'],
    order: ['minute', 'origin', 'market', 'region'],
    expires: 'minute',
    counters: ['requests', 'refused', 'failed', 'milliseconds'],
    relaxed: true,
    clustered: true,
  },
  webhooks: {
    text: 'userId url secret previousSecret?',
    flag: 'enabled',
    real: 'previousUntil? updatedAt',
    integer: 'revision',
    id: ['userId'],
    order: ['updatedAt', 'userId'],
    owner: 'userId',
  },
  deliveries: {
    integer: 'attempts attemptsBefore take responseStatus?',
    real: 'createdAt nextAttemptAt? endedAt?',
    text: 'id key userId? channel type jobId? target state error destinationId? body',
    id: ['id'],
    order: ['createdAt', 'id'],
    expires: 'createdAt',
    indexes: [
      { fields: ['key'], unique: true },
      { fields: ['nextAttemptAt', 'id'], set: 'nextAttemptAt' },
      { fields: ['userId', 'createdAt', 'id'] },
      { fields: ['createdAt', 'id'] },
      { fields: ['jobId'] },
    ],
    due: 'nextAttemptAt',
    claim: 'take',
    owner: 'userId',
  },
  destinations: {
    text: 'id userId name type secrets secretsKey format path',
    json: 'address',
    real: 'createdAt updatedAt',
    integer: 'revision',
    id: ['id'],
    order: ['name', 'id'],
    indexes: [{ fields: ['userId', 'name'], unique: true }, { fields: ['secretsKey', 'id'] }],
    owner: 'userId',
  },
  schedules: {
    json: 'options',
    integer: 'units maxTotalCredits? creditsSpent failures version revision',
    real: 'startAt? endAt? stateSince nextRunAt? dueAt? noticeAt? createdAt updatedAt',
    object: 'pending? openRuns approval?',
    text: 'id userId keyId name market kind cron timeZone overlap missed state reason notice? request',
    id: ['id'],
    order: ['createdAt', 'id'],
    indexes: [
      { fields: ['dueAt', 'id'], set: 'dueAt' },
      { fields: ['userId', 'createdAt', 'id'] },
      { fields: ['state', 'createdAt', 'id'] },
      { fields: ['createdAt', 'id'] },
      { fields: ['noticeAt', 'id'], set: 'noticeAt' },
    ],
    lazy: ['request'],
    due: 'dueAt',
    claim: 'revision',
    owner: 'userId',
  },
  scheduleRuns: {
    text: 'id scheduleId userId trigger state reason jobId?',
    real: 'scheduledFor createdAt endedAt?',
    integer: 'cost refunded revision',
    id: ['id'],
    order: ['createdAt', 'id'],
    expires: 'createdAt',
    indexes: [
      { fields: ['scheduleId', 'createdAt', 'id'] },
      { fields: ['createdAt'] },
      { fields: ['userId'] },
    ],
    upsert: { newer: ['revision'], strictly: true },
    owner: 'userId',
  },
  trackingRuns: {
    text: 'jobId userId market kind series turn? stage activeUser?',
    real: 'at dueAt? failedAt? doneAt?',
    flag: 'isSkipped',
    integer: 'take nextBatch messages',
    object: 'counts',
    id: ['jobId'],
    order: ['at', 'jobId'],
    expires: 'doneAt',
    indexes: [
      { fields: ['dueAt', 'jobId'], set: 'dueAt' },
      { fields: ['userId', 'series', 'at'] },
      { fields: ['doneAt'], set: 'doneAt' },
      { fields: ['userId', 'at', 'jobId'], set: 'dueAt' },
      { fields: ['activeUser'], unique: true },
    ],
    lazy: ['activeUser'],
    due: 'dueAt',
    claim: 'take',
    relaxed: true,
    clustered: true,
  },
  trackedItems: {
    text: 'id userId series market region key changedJob seenJob foundJob',
    flag: 'isPresent',
    real: 'readAt firstAt changedAt seenAt',
    integer: 'foundBatch revision',
    object: 'values units unreadUnits rules',
    id: ['id'],
    order: ['changedAt', 'id'],
    indexes: [
      { fields: ['userId', 'series', 'changedAt', 'id'] },
      { fields: ['userId', 'key', 'market'] },
    ],
    upsert: {
      newer: ['revision'],
      keep: ['userId', 'series', 'market', 'region', 'key', 'firstAt'],
    },
    owner: 'userId',
    relaxed: true,
    clustered: true,
  },
  itemUnits: {
    text: 'userId unit itemId',
    id: ['unit', 'itemId'],
    order: ['unit', 'itemId'],
    indexes: [{ fields: ['userId', 'unit', 'itemId'] }],
    owner: 'userId',
    relaxed: true,
    clustered: true,
  },
  observations: {
    text: 'userId market region key jobId',
    real: 'at endedAt?',
    object: 'changed values',
    id: ['userId', 'market', 'region', 'key', 'at', 'jobId'],
    order: ['at', 'jobId'],
    expires: 'endedAt',
    indexes: [{ fields: ['endedAt'], set: 'endedAt' }],
    owner: 'userId',
    relaxed: true,
    clustered: true,
  },
  itemChanges: {
    text: 'id userId jobId market region key type title?',
    real: 'at',
    object: 'before after',
    // The id begins with the job's id.
    id: ['id'],
    order: ['id', 'at'],
    relaxed: true,
    clustered: true,
  },
  rules: {
    text: 'id userId name condition field market region key series channel',
    real: 'threshold? createdAt updatedAt',
    flag: 'enabled',
    integer: 'revision',
    id: ['id'],
    order: ['createdAt', 'id'],
    indexes: [{ fields: ['userId', 'createdAt', 'id'] }],
    owner: 'userId',
  },
});

export const collectionNames = Object.keys(declarations) as CollectionName[];
