import type { WithId } from 'mongodb';
import type { Batch, Unit } from '../batches.ts';
import { declarations } from '../collections.ts';
import type { Job, LedgerEntry, User } from '../documents.ts';
import { writeDocument } from './documents.ts';
import type { BatchDocument, JobDocument, LedgerDocument, UserDocument } from './schema.ts';

/** Renames `_id` to `id`. */
function withId<T extends { _id: string }>({ _id, ...rest }: T): Omit<T, '_id'> & { id: string } {
  return { id: _id, ...rest };
}

/** Converts a stored user, without the fields of the ledger protocol. */
export function readUser({
  openKeys: _,
  revision: __,
  spentByKey: ___,
  ...user
}: WithId<UserDocument>): User {
  return withId(user);
}

/** Converts a stored ledger entry. */
export function readEntry({ _id, state: _, stamp: __, ...entry }: LedgerDocument): LedgerEntry {
  return { key: _id, ...entry };
}

/** Converts a job for storage. `draft` is the id of its writing. */
export function writeJob(
  job: Job,
  draft: string,
  state: JobDocument['state'] = job.state,
): JobDocument {
  const dueAt = state === 'writing' ? null : job.dueAt;
  return {
    ...writeDocument(declarations.jobs, { ...job, dueAt, state }),
    draft,
  } as unknown as JobDocument;
}

/** Converts a batch for storage. */
export function writeBatch(batch: Batch, draft: string): BatchDocument {
  const { id, units, ...rest } = batch;
  const keys = [...new Set(units.map(({ key }) => key))];
  return {
    _id: id,
    ...rest,
    total: units.length,
    keys,
    draft,
    moveId: '',
    units: JSON.stringify(units),
  };
}

/** Converts a stored batch with its units. */
export function readBatch(document: BatchDocument): Batch {
  const { _id, units, keys: _, draft: __, moveId: ___, total: ____, ...rest } = document;
  return {
    id: _id,
    ...rest,
    units: JSON.parse(units) as Unit[],
  };
}

/** Fields of a batch that only this engine has, and its units. */
export const internalFields = ['units', 'keys', 'draft', 'moveId'];
