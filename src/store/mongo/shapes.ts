import type { WithId } from 'mongodb';
import type { JsonObject } from '../../base/json.ts';
import type { Destination } from '../destinations.ts';
import type {
  ApiKey,
  Batch,
  BatchSummary,
  DeletedJob,
  Delivery,
  Job,
  JobState,
  LedgerEntry,
  Unit,
  User,
} from '../documents.ts';
import type {
  BatchDocument,
  DestinationDocument,
  JobDocument,
  LedgerDocument,
  Stored,
  UserDocument,
} from './schema.ts';

/** Renames `_id` to `id`. */
export function withId<T extends { _id: string }>({ _id, ...rest }: T): Omit<T, '_id'> & { id: string } {
  return { id: _id, ...rest };
}

/** Renames `id` to `_id`. */
export function withUnderscore<T extends { id: string }>({
  id,
  ...rest
}: T): Omit<T, 'id'> & { _id: string } {
  return { _id: id, ...rest };
}

/** Converts a stored user, without the fields of the ledger protocol. */
export function readUser({ openKeys: _, epoch: __, spentByKey: ___, ...user }: WithId<UserDocument>): User {
  return {
    ...withId(user),
    // Earlier versions did not write these fields.
    suspendedAt: user.suspendedAt ?? null,
    deletedAt: user.deletedAt ?? null,
    erased: user.erased ?? false,
    testOf: user.testOf ?? null,
  };
}

/** Converts a stored API key of `user`, in whose document the credits that the key spent are. */
export function readKey(key: WithId<Stored<ApiKey>>, user: Pick<UserDocument, 'spentByKey'> | null): ApiKey {
  return {
    ...withId(key),
    // Earlier versions did not write these fields.
    lastUsedAt: key.lastUsedAt ?? null,
    scopes: key.scopes ?? null,
    operatorRole: key.operatorRole ?? null,
    creditCeiling: key.creditCeiling ?? null,
    creditsSpent: (key.creditsSpent ?? 0) + (user?.spentByKey?.[key._id] ?? 0),
  };
}

/** Converts a stored ledger entry. */
export function readEntry({ _id, state: _, stamp: __, ...entry }: LedgerDocument): LedgerEntry {
  // Earlier versions did not write this field.
  return { key: _id, ...entry, keyId: entry.keyId ?? null };
}

/** Converts a job for storage. `draft` is the id of its writing. */
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

/** Converts a stored job in a visible state. */
export function readJob({ _id, draft: _, number, params, state, ...rest }: JobDocument): Job {
  return {
    id: _id,
    ...rest,
    number: number ?? null,
    params: JSON.parse(params),
    state: state as JobState,
    // Earlier versions did not write these fields.
    keyId: rest.keyId ?? null,
    options: rest.options ?? {},
    reusedUnitPrice: rest.reusedUnitPrice ?? null,
    mode: rest.mode ?? 'live',
    resumable: rest.resumable ?? true,
    hold: rest.hold ?? null,
    noticeDue: rest.noticeDue ?? null,
    noticeAt: rest.noticeAt ?? null,
    retryOf: rest.retryOf ?? null,
    counts: rest.counts ?? null,
    filesDeletedAt: rest.filesDeletedAt ?? null,
    fileDeletionDue: rest.fileDeletionDue ?? false,
  };
}

/** Converts a stored delivery. */
export function readDelivery(delivery: WithId<Stored<Delivery>>): Delivery {
  return {
    ...withId(delivery),
    // Earlier versions did not write these fields.
    destinationId: delivery.destinationId ?? null,
    upload: delivery.upload ?? null,
  };
}

/** Converts a destination for storage. */
export function writeDestination({ address, ...rest }: Destination): DestinationDocument {
  return { ...withUnderscore(rest), address: JSON.stringify(address) };
}

/** Converts a stored destination. */
export function readDestination({ address, ...rest }: DestinationDocument): Destination {
  return { ...withId(rest), address: JSON.parse(address) as JsonObject };
}

/** Converts the stored summary of a deleted job. */
export function readDeletedJob(document: Stored<DeletedJob>): DeletedJob {
  // Earlier versions did not write this field.
  return { ...withId(document), discount: document.discount ?? 0 };
}

/** Converts a batch for storage. */
export function writeBatch(batch: Batch, draft: string): BatchDocument {
  const { id, units, ...rest } = batch;
  const keys = [...new Set(units.map(({ key }) => key))];
  return { _id: id, ...rest, total: units.length, keys, draft, taker: '', units: JSON.stringify(units) };
}

/** Converts a stored batch with its units. */
export function readBatch(document: BatchDocument): Batch {
  const { _id, units, keys: _, draft: __, taker: ___, total: ____, ...rest } = document;
  return {
    id: _id,
    ...rest,
    units: JSON.parse(units) as Unit[],
    // Earlier versions did not write these fields.
    parts: rest.parts ?? [],
    publishedAt: rest.publishedAt ?? null,
    endedAt: rest.endedAt ?? null,
    stalledClaims: rest.stalledClaims ?? 0,
    solo: rest.solo ?? null,
  };
}

/** Projection that excludes the large and internal fields of a batch. */
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

/** Converts a document read with `summaryFields`. */
export function readSummary(document: Omit<BatchDocument, keyof typeof summaryFields>): BatchSummary {
  return { ...withId(document), endedAt: document.endedAt ?? null };
}
