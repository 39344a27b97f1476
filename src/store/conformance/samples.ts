import { newId } from '../../base/id.ts';
import { newBatch } from '../batch-store.ts';
import { type Batch, batchKey, type Outcome, type Segment, type Unit } from '../batches.ts';
import type { Collection } from '../collection.ts';
import { declarations } from '../collections.ts';
import { typeOf } from '../declaration.ts';
import type { Destination } from '../destinations.ts';
import type { ApiKey, DeletedJob, Delivery, Job, LedgerEntry, User } from '../documents.ts';
import { dueOnEntry } from '../job-states.ts';
import type { ProcessReport } from '../operations.ts';
import { summaryOf } from '../retention.ts';
import type { Store } from '../store.ts';
import type { CollectionName } from '../stored-documents.ts';

/** Default creation time of samples. */
export const aTime = 1_750_000_000_000;

/** A user without credits. */
export function aUser(fields: Partial<User> = {}): User {
  const id = newId();
  return {
    id,
    name: 'Ana',
    email: `${id}@example.org`,
    role: 'user',
    balance: 0,
    createdAt: aTime,
    suspendedAt: null,
    deletedAt: null,
    erased: false,
    testOf: null,
    ...fields,
  };
}

/** An API key. */
export function aKey(fields: Partial<ApiKey> = {}): ApiKey {
  return {
    id: newId(),
    userId: newId(),
    role: 'user',
    name: 'laptop',
    hash: newId(),
    prefix: 'gl_abc',
    createdAt: aTime,
    expiresAt: null,
    revokedAt: null,
    lastUsedAt: null,
    scopes: null,
    operatorRole: null,
    creditCeiling: null,
    creditsSpent: 0,
    ...fields,
  };
}

/** A grant, unless the fields override it. */
export function anEntry(
  userId: string,
  amount: number,
  fields: Partial<LedgerEntry> = {},
): LedgerEntry {
  return {
    key: `grant:${newId()}`,
    userId,
    amount,
    type: 'grant',
    jobId: null,
    keyId: null,
    note: '',
    createdAt: aTime,
    ...fields,
  };
}

/** A job that was just submitted. */
export function aJob(fields: Partial<Job> = {}): Job {
  const { state = 'submitted', stateSince = aTime, decideBy = null } = fields;
  return {
    id: newId(),
    number: null,
    userId: newId(),
    keyId: null,
    mode: 'live',
    market: 'mkta',
    kind: 'variant_sold',
    region: 'id',
    lane: 'bulk',
    state,
    stateSince,
    dueAt: dueOnEntry({ state, decideBy }, stateSince),
    params: {},
    options: {},
    unitPrice: 10,
    reusedUnitPrice: null,
    cost: 20,
    refunded: 0,
    totalUnits: 2,
    totalBatches: 1,
    createdAt: aTime,
    resumable: true,
    decideBy,
    decidedBy: null,
    reason: '',
    startedAt: null,
    finishedAt: null,
    file: null,
    retryOf: null,
    rereadOf: null,
    schedule: null,
    counts: null,
    noticeDue: null,
    noticeAt: null,
    filesDeletedAt: null,
    fileDeletionDue: false,
    pagesUntil: null,
    hold: null,
    ...fields,
  };
}

/** Units `<prefix>0` to `<prefix><count - 1>`. */
export function units(count: number, prefix = 'unit '): Unit[] {
  return Array.from({ length: count }, (_, index) => ({
    key: `${prefix}${index}`,
    input: { index },
  }));
}

/** A waiting batch. */
export function aBatch(
  job: Job,
  seq: number,
  its: Unit[] = units(2, `${seq}/`),
  fields: Partial<Batch> = {},
): Batch {
  const { market, region, lane } = job;
  return {
    ...newBatch({ id: newId(), jobId: job.id, seq, market, region, lane, units: its }),
    ...fields,
  };
}

/** Batches of two units each. */
export function someBatches(job: Job, count: number): Batch[] {
  return Array.from({ length: count }, (_, seq) => aBatch(job, seq));
}

/** Stores a job of `count` batches of two units each. */
export async function storeJob(
  store: Store,
  count: number,
  fields: Partial<Job> = {},
): Promise<{ job: Job; batches: Batch[] }> {
  const job = aJob({ totalBatches: count, totalUnits: 2 * count, ...fields });
  const batches = someBatches(job, count);
  await store.jobs.create(job, batches);
  return { job, batches };
}

/**
 * Stores a job of one batch of `count` units, queued and claimed under attempt 1 until
 * `aTime + 60 s`.
 */
export async function storeClaimedBatch(store: Store, count: number): Promise<Batch> {
  const job = aJob({ totalBatches: 1, totalUnits: count });
  await store.jobs.create(job, [aBatch(job, 0, units(count))]);
  const [reference] = await store.batches.queue(job.id, 1, aTime);
  const claimed = await store.batches.claim(batchKey(reference!), 0, aTime, aTime + 60_000);
  const { dueAt: _, isInterrupted: __, ...batch } = claimed!;
  return batch;
}

/** A success outcome written under an attempt. */
export function aSuccess(attempt = 1): Outcome {
  return { status: 'SUCCESS', attempt, readAt: aTime };
}

/** A failure outcome. */
export const aFailure: Outcome = {
  status: 'FAILED',
  code: 'page_not_found',
  message: 'the item is gone: “$x.y” ☃',
};

/** A segment with records of these units. */
export function aSegment(path: string, ...indexes: number[]): Segment {
  const records: Segment['records'] = {};
  for (const index of indexes) records[index] = [index * 10, 10, 0];
  return { path, bytes: 7, sha256: '0a', encoding: 'plain', records, body: null };
}

/** The summary of a deleted job of two successful units. */
export function aDeletedJob(job: Job, fields: Partial<DeletedJob> = {}): DeletedJob {
  return { ...summaryOf(job), success: 2, failed: 0, deletedAt: aTime + 1_000, ...fields };
}

/** A pending delivery to operators. */
export const aDelivery = (fields: Partial<Delivery> = {}): Delivery => ({
  id: newId(),
  key: newId(),
  userId: null,
  channel: 'webhook',
  type: 'job.ended',
  jobId: null,
  target: 'https://receiver.example',
  body: '{}',
  destinationId: null,
  state: 'pending',
  attempts: 0,
  attemptsBefore: 0,
  revision: 0,
  createdAt: aTime,
  nextAttemptAt: aTime,
  endedAt: null,
  responseStatus: null,
  error: '',
  ...fields,
});

/** A bucket of a user. */
export const aDestination = (fields: Partial<Destination> = {}): Destination => ({
  id: newId(),
  userId: newId(),
  name: 'warehouse',
  type: 's3',
  address: { url: 'https://storage.example', bucket: 'results', 'a.$b': ['☃'] },
  secrets: 'sealed',
  secretsKey: 'k1',
  format: 'json',
  path: '{job_id}.{ext}',
  createdAt: aTime,
  updatedAt: aTime,
  revision: 1,
  ...fields,
});

/** Returns the heartbeat of a process. */
export const aProcess = (fields: Partial<ProcessReport> = {}): ProcessReport => ({
  id: newId(),
  role: 'worker',
  host: 'machine.example',
  pid: 4_321,
  version: '1.2.3',
  startedAt: aTime,
  seenAt: aTime,
  memoryBytes: 5_000_000_000,
  workers: 2,
  batches: 3,
  unitsDone: 70,
  paused: 'disk almost full',
  clockSkewMs: -20_000,
  ...fields,
});

/** A document of a declared collection. */
export type Fields = Record<string, unknown>;

const oddText = 'Zoë $set "Ω" .\u0000 雪';
const samples: Readonly<Record<string, (turn: number) => unknown>> = {
  string: (turn) => `${oddText} ${turn} ${newId()}`,
  integer: (turn) => 5_000_000_000 + turn,
  number: (turn) => aTime + turn + 0.25,
  boolean: (turn) => turn % 2 === 0,
  json: (turn) => ({ 'a.$b': ['☃', null, turn] }),
  object: (turn) => ({ a: [{ b: oddText }, null, 1.5], turn }),
  bytes: (turn) => new Uint8Array([0, 255, turn]),
};

/** A document with a value in each field, or null where that is possible. */
export function sampleOf(name: CollectionName, turn = 0, isSet = true): Fields {
  const declaration = declarations[name];
  return Object.fromEntries(
    Object.keys(declaration.fields).map((field) => {
      const { type, isNullable } = typeOf(declaration, field);
      if (field === 'id') return [field, newId()];
      return [field, isNullable && !isSet ? null : samples[type]!(turn)];
    }),
  );
}

/** Returns a collection of a store without the types of its documents. */
export const collectionOf = (store: Store, name: CollectionName) =>
  store[name as 'rules'] as unknown as Collection<Fields>;
