import type { AuditEntry } from '../audit-log.ts';
import type { Destination } from '../destinations.ts';
import type {
  ApiKey,
  Batch,
  BatchSummary,
  DeletedJob,
  Delivery,
  Job,
  LedgerEntry,
  Submission,
  User,
} from '../documents.ts';
import type { ItemChange, Observation, Rule, TrackedItem, TrackingRun } from '../history.ts';
import type { OriginMinute, ProcessReport } from '../operations.ts';
import type { Schedule, ScheduleRun } from '../schedules.ts';
import type { BrowserSession } from '../sessions.ts';
import type { Value } from './connection.ts';

/** Mapping between a document and a table with one column per field. */
export interface RowMapping<T> {
  /** Column list for INSERT: `a, b`. */
  readonly columns: string;
  /** Placeholders for the columns: `?, ?`. */
  readonly marks: string;
  /** Column list for SELECT and RETURNING, with the fields' names: `a_b AS aB, c`. */
  readonly select: string;
  /** Returns the document's values in the order of `columns`. */
  values(document: T): Value[];
  /** Converts a row with the columns of `select` to a document. */
  read(row: readonly Value[]): T;
}

/** Returns the column of a field: `state_since` for `stateSince`. */
export function columnOf(field: string): string {
  return field.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

/** Converts a field's value to a column value. */
export function toColumn(value: unknown): Value {
  if (typeof value === 'boolean') return value ? 1 : 0;
  return typeof value === 'object' && value !== null ? JSON.stringify(value) : ((value ?? null) as Value);
}

/** Creates the mapping of a table. `json`: fields stored as JSON text; `flags`: booleans stored as 0 and 1. */
export function mapRows<T extends object>(
  fields: readonly (keyof T & string)[],
  json: readonly (keyof T & string)[] = [],
  flags: readonly (keyof T & string)[] = [],
): RowMapping<T> {
  return {
    columns: fields.map(columnOf).join(', '),
    marks: fields.map(() => '?').join(', '),
    select: fields.map((field) => `${columnOf(field)} AS ${field}`).join(', '),
    values: (document) => fields.map((field) => toColumn(document[field])),
    read: (row) => {
      const document: Record<string, unknown> = {};
      for (let index = 0; index < fields.length; index++) document[fields[index]!] = row[index];
      for (const field of json) {
        if (document[field] !== null) document[field] = JSON.parse(document[field] as string);
      }
      for (const field of flags) document[field] = document[field] === 1;
      return document as T;
    },
  };
}

/** Table `users`. */
export const users = mapRows<User>(
  ['id', 'name', 'email', 'role', 'balance', 'createdAt', 'suspendedAt', 'deletedAt', 'erased', 'testOf'],
  [],
  ['erased'],
);

/** Table `api_keys`. */
export const apiKeys = mapRows<ApiKey>(
  [
    'id',
    'userId',
    'role',
    'name',
    'hash',
    'prefix',
    'createdAt',
    'expiresAt',
    'revokedAt',
    'lastUsedAt',
    'scopes',
    'operatorRole',
    'creditCeiling',
    'creditsSpent',
  ],
  ['scopes'],
);

/** Table `sessions`. */
export const sessions = mapRows<BrowserSession>(['hash', 'userId', 'keyId', 'createdAt', 'expiresAt']);

/** Table `audit_log`. */
export const auditLog = mapRows<AuditEntry>([
  'id',
  'createdAt',
  'actorId',
  'role',
  'keyId',
  'action',
  'target',
  'source',
  'outcome',
  'detail',
]);

/** Table `ledger`. */
export const ledger = mapRows<LedgerEntry>([
  'key',
  'userId',
  'amount',
  'type',
  'jobId',
  'keyId',
  'note',
  'createdAt',
]);

/** Table `jobs`. */
export const jobs = mapRows<Job>(
  [
    'id',
    'number',
    'userId',
    'keyId',
    'mode',
    'market',
    'kind',
    'region',
    'lane',
    'state',
    'stateSince',
    'unitPrice',
    'reusedUnitPrice',
    'cost',
    'refunded',
    'totalUnits',
    'totalBatches',
    'createdAt',
    'resumable',
    'decideBy',
    'decidedBy',
    'reason',
    'startedAt',
    'finishedAt',
    'hold',
    'noticeDue',
    'noticeAt',
    'retryOf',
    'filesDeletedAt',
    'fileDeletionDue',
    'file',
    'counts',
    'options',
    'params',
  ],
  ['file', 'counts', 'hold', 'options', 'params'],
  ['resumable', 'fileDeletionDue'],
);

/** Table `deleted_jobs`. */
export const deletedJobs = mapRows<DeletedJob>([
  'id',
  'userId',
  'market',
  'kind',
  'state',
  'unitPrice',
  'cost',
  'refunded',
  'discount',
  'totalUnits',
  'success',
  'failed',
  'createdAt',
  'finishedAt',
  'deletedAt',
]);

/** A row of `batches`: a batch without its units, which are in `batch_units`. */
export type BatchRow = Omit<Batch, 'units'> & { total: number };

const summaryFields = [
  'id',
  'jobId',
  'seq',
  'market',
  'region',
  'lane',
  'total',
  'success',
  'failed',
  'storedBytes',
  'state',
  'attempt',
  'queuedAt',
  'publishedAt',
  'leaseUntil',
  'notBefore',
  'file',
  'endedAt',
] as const satisfies readonly (keyof BatchSummary)[];

/** Table `batches`. */
export const batches = mapRows<BatchRow>(
  [...summaryFields, 'wait', 'stalledClaims', 'solo', 'parts', 'outcomes'],
  ['file', 'wait', 'solo', 'parts', 'outcomes'],
);

/** Columns of `batches` for progress, without the outcomes. */
export const summaries = mapRows<BatchSummary>(summaryFields, ['file']);

/** Table `submissions`. */
export const submissions = mapRows<Submission>(
  ['userId', 'idempotencyKey', 'bodyHash', 'jobId', 'createdAt', 'interrupted', 'response'],
  [],
  ['interrupted'],
);

/** Table `deliveries`. */
export const deliveries = mapRows<Delivery>([
  'id',
  'key',
  'userId',
  'channel',
  'type',
  'jobId',
  'target',
  'state',
  'attempts',
  'attemptsBefore',
  'take',
  'createdAt',
  'nextAttemptAt',
  'endedAt',
  'responseStatus',
  'error',
  'body',
  'destinationId',
]);

/** Table `destinations`. */
export const destinations = mapRows<Destination>(
  [
    'id',
    'userId',
    'name',
    'type',
    'address',
    'secrets',
    'secretsKey',
    'format',
    'path',
    'createdAt',
    'updatedAt',
    'revision',
  ],
  ['address'],
);

/** Table `processes`. */
export const processes = mapRows<ProcessReport>([
  'id',
  'role',
  'host',
  'pid',
  'version',
  'startedAt',
  'seenAt',
  'memoryBytes',
  'batches',
  'unitsDone',
  'paused',
  'clockSkewMs',
  'workers',
]);

/** Table `origin_minutes`. */
export const originMinutes = mapRows<OriginMinute>([
  'minute',
  'origin',
  'market',
  'region',
  'requests',
  'refused',
  'failed',
  'milliseconds',
]);

/** Table `schedules`, without the request. */
export const schedules = mapRows<Schedule>(
  [
    'id',
    'userId',
    'keyId',
    'name',
    'market',
    'kind',
    'options',
    'units',
    'cron',
    'timeZone',
    'startAt',
    'endAt',
    'maxTotalCredits',
    'overlap',
    'missed',
    'state',
    'stateSince',
    'reason',
    'approvedBy',
    'decideBy',
    'nextRunAt',
    'dueAt',
    'pending',
    'openRuns',
    'creditsSpent',
    'failures',
    'notice',
    'noticeAt',
    'createdAt',
    'updatedAt',
    'revision',
  ],
  ['options', 'pending', 'openRuns'],
);

/** Table `schedule_runs`. */
export const scheduleRuns = mapRows<ScheduleRun>([
  'id',
  'scheduleId',
  'userId',
  'scheduledFor',
  'createdAt',
  'trigger',
  'state',
  'reason',
  'jobId',
  'cost',
  'refunded',
  'endedAt',
  'revision',
]);

/** Table `tracking_runs`. */
export const trackingRuns = mapRows<TrackingRun>(
  [
    'jobId',
    'userId',
    'market',
    'kind',
    'series',
    'at',
    'dueAt',
    'take',
    'turn',
    'stage',
    'nextBatch',
    'counts',
    'messages',
    'doneAt',
  ],
  ['counts'],
);

/** A document whose `values` are stored as `itemValues`, because VALUES is a keyword. */
type WithItemValues<T extends { values: unknown }> = Omit<T, 'values'> & { itemValues: T['values'] };

/** Maps documents with `values` to a table with the column `item_values`. */
function withItemValues<T extends { values: unknown }>(rows: RowMapping<WithItemValues<T>>): RowMapping<T> {
  return {
    ...rows,
    values: ({ values: itemValues, ...rest }) =>
      rows.values({ ...rest, itemValues } as unknown as WithItemValues<T>),
    read: (row) => {
      const { itemValues: values, ...rest } = rows.read(row);
      return { ...rest, values } as unknown as T;
    },
  };
}

/** Table `tracked_items`. */
export const trackedItems = withItemValues<TrackedItem>(
  mapRows(
    [
      'id',
      'userId',
      'series',
      'market',
      'region',
      'key',
      'source',
      'isPresent',
      'firstAt',
      'changedAt',
      'changedJob',
      'seenAt',
      'seenJob',
      'seenBatch',
      'itemValues',
      'rules',
    ],
    ['itemValues', 'rules'],
    ['isPresent'],
  ),
);

/** Table `observations`. */
export const observations = withItemValues<Observation>(
  mapRows(
    ['userId', 'market', 'region', 'key', 'at', 'jobId', 'endedAt', 'changed', 'itemValues'],
    ['changed', 'itemValues'],
  ),
);

/** Table `item_changes`. */
export const itemChanges = mapRows<ItemChange>(
  ['id', 'userId', 'jobId', 'market', 'region', 'key', 'type', 'at', 'title', 'before', 'after'],
  ['before', 'after'],
);

/** Table `rules`. */
export const rules = mapRows<Rule>(
  [
    'id',
    'userId',
    'name',
    'condition',
    'threshold',
    'field',
    'market',
    'region',
    'key',
    'series',
    'channel',
    'enabled',
    'createdAt',
    'updatedAt',
    'revision',
  ],
  [],
  ['enabled'],
);
