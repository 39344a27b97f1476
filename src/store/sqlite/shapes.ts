import type {
  ApiKey,
  Batch,
  BatchSummary,
  Delivery,
  Job,
  LedgerEntry,
  Submission,
  User,
} from '../documents.ts';
import type { OriginMinute, ProcessReport } from '../operations.ts';
import type { Value } from './engine.ts';

/** How a table keeps a document: a column per field, in the order of `fields`. */
export interface Shape<T> {
  /** `a, b`: the columns, for INSERT. */
  readonly columns: string;
  /** `?, ?`: as many as columns. */
  readonly marks: string;
  /** `a_b AS aB, c`: the columns under the fields' names, for SELECT and RETURNING. */
  readonly select: string;
  /** The document's values in the order of `columns`. */
  values(document: T): Value[];
  /** The document in the columns that `select` gave. */
  read(row: readonly Value[]): T;
}

/** The column of a field: `stateSince` is kept in `state_since`. */
export function columnOf(field: string): string {
  return field.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

/** A field's value as a column holds it. */
export function toColumn(value: unknown): Value {
  if (typeof value === 'boolean') return value ? 1 : 0;
  return typeof value === 'object' && value !== null ? JSON.stringify(value) : ((value ?? null) as Value);
}

function shape<T extends object>(
  fields: readonly (keyof T & string)[],
  json: readonly (keyof T & string)[] = [],
  flags: readonly (keyof T & string)[] = [],
): Shape<T> {
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
export const users = shape<User>(['id', 'name', 'email', 'role', 'balance', 'createdAt', 'suspendedAt']);

/** Table `api_keys`. */
export const apiKeys = shape<ApiKey>([
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
]);

/** Table `ledger`. */
export const ledger = shape<LedgerEntry>(['key', 'userId', 'amount', 'type', 'jobId', 'note', 'createdAt']);

/** Table `jobs`. */
export const jobs = shape<Job>(
  [
    'id',
    'number',
    'userId',
    'market',
    'kind',
    'region',
    'lane',
    'state',
    'stateSince',
    'unitPrice',
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
    'noticeDue',
    'noticeAt',
    'retryOf',
    'file',
    'counts',
    'params',
  ],
  ['file', 'counts', 'params'],
  ['resumable'],
);

/** A row of `batches`: all of a batch but its units, which stand in `batch_units`. */
export type BatchRow = Omit<Batch, 'units'> & { total: number };

/** Table `batches`. */
export const batches = shape<BatchRow>(
  [
    'id',
    'jobId',
    'seq',
    'market',
    'region',
    'lane',
    'total',
    'success',
    'failed',
    'state',
    'attempt',
    'queuedAt',
    'leaseUntil',
    'notBefore',
    'file',
    'endedAt',
    'stalledClaims',
    'solo',
    'parts',
    'outcomes',
  ],
  ['file', 'solo', 'parts', 'outcomes'],
);

/** Table `batches` without outcomes: how progress is shown. */
export const summaries = shape<BatchSummary>(
  [
    'id',
    'jobId',
    'seq',
    'market',
    'region',
    'lane',
    'total',
    'success',
    'failed',
    'state',
    'attempt',
    'queuedAt',
    'leaseUntil',
    'notBefore',
    'file',
    'endedAt',
  ],
  ['file'],
);

/** Table `submissions`. */
export const submissions = shape<Submission>(
  ['userId', 'idempotencyKey', 'bodyHash', 'jobId', 'createdAt', 'interrupted', 'response'],
  [],
  ['interrupted'],
);

/** Table `deliveries`. */
export const deliveries = shape<Delivery>([
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
]);

/** Table `processes`. */
export const processes = shape<ProcessReport>([
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
export const originMinutes = shape<OriginMinute>([
  'minute',
  'origin',
  'market',
  'region',
  'requests',
  'refused',
  'failed',
  'milliseconds',
]);
