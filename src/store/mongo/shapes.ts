import type { WithId } from 'mongodb';
import type { ApiKey, Batch, BatchSummary, Job, JobState, LedgerEntry, Unit, User } from '../documents.ts';
import type { BatchDocument, JobDocument, LedgerDocument, Stored, UserDocument } from './schema.ts';

/** A document under `id` again. */
export function withId<T extends { _id: string }>({ _id, ...rest }: T): Omit<T, '_id'> & { id: string } {
  return { id: _id, ...rest };
}

/** A document under `_id`. */
export function withUnderscore<T extends { id: string }>({
  id,
  ...rest
}: T): Omit<T, 'id'> & { _id: string } {
  return { _id: id, ...rest };
}

/** Fields that a user has for the ledger alone. */
export function readUser({ openKeys: _, epoch: __, ...user }: WithId<UserDocument>): User {
  // Users of earlier versions have no such field.
  return { ...withId(user), suspendedAt: user.suspendedAt ?? null };
}

/** A key. */
export function readKey(key: WithId<Stored<ApiKey>>): ApiKey {
  // Nor have keys.
  return { ...withId(key), lastUsedAt: key.lastUsedAt ?? null };
}

/** An entry as it was posted. */
export function readEntry({ _id, state: _, stamp: __, ...entry }: LedgerDocument): LedgerEntry {
  return { key: _id, ...entry };
}

/** A job as it is kept. `draft` names its writing. */
export function writeJob(job: Job, draft: string, state: JobDocument['state'] = job.state): JobDocument {
  const { id, number, params, ...rest } = job;
  return {
    _id: id,
    ...rest,
    ...(number === null ? {} : { number }),
    params: JSON.stringify(params),
    draft,
    state,
  };
}

/** A job that readers may see. */
export function readJob({ _id, draft: _, number, params, state, ...rest }: JobDocument): Job {
  return {
    id: _id,
    ...rest,
    number: number ?? null,
    params: JSON.parse(params),
    state: state as JobState,
    // Jobs of earlier versions have none of these.
    resumable: rest.resumable ?? true,
    noticeDue: rest.noticeDue ?? null,
    noticeAt: rest.noticeAt ?? null,
    retryOf: rest.retryOf ?? null,
    counts: rest.counts ?? null,
  };
}

/** A batch as it is kept. */
export function writeBatch(batch: Batch, draft: string): BatchDocument {
  const { id, units, ...rest } = batch;
  const keys = [...new Set(units.map(({ key }) => key))];
  return { _id: id, ...rest, total: units.length, keys, draft, taker: '', units: JSON.stringify(units) };
}

/** A batch, whole. */
export function readBatch(document: BatchDocument): Batch {
  const { _id, units, keys: _, draft: __, taker: ___, total: ____, ...rest } = document;
  return {
    id: _id,
    ...rest,
    units: JSON.parse(units) as Unit[],
    // Batches of earlier versions have none of these.
    parts: rest.parts ?? [],
    endedAt: rest.endedAt ?? null,
    stalledClaims: rest.stalledClaims ?? 0,
    solo: rest.solo ?? null,
  };
}

/** Leaves out what is large in a batch, and what is nobody's business. */
export const summaryFields = {
  units: 0,
  keys: 0,
  outcomes: 0,
  parts: 0,
  stalledClaims: 0,
  solo: 0,
  draft: 0,
  taker: 0,
} as const;

/** A batch without units, from a document that was read with `summaryFields`. */
export function readSummary(document: Omit<BatchDocument, keyof typeof summaryFields>): BatchSummary {
  return { ...withId(document), endedAt: document.endedAt ?? null };
}
