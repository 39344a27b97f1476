import type { Filter } from 'mongodb';
import { newId } from '../../base/id.ts';
import type { BatchStore } from '../batch-store.ts';
import {
  type BatchCollection,
  batchDeclaration,
  type QueuedBatch,
  type StoredBatch,
} from '../batches.ts';
import type { Declaration } from '../declaration.ts';
import { createCollection } from './collection.ts';
import type { MongoEngine } from './engine.ts';
import { claimedBatch, createWrittenBatches, failBatches, writeOutcomes } from './outcomes.ts';
import { progressStore } from './progress.ts';
import type { BatchDocument, MongoCollections } from './schema.ts';
import { internalFields, readBatch } from './shapes.ts';

/** Declaration that leaves out the fields which only this engine has, and the units. */
const stored: Declaration = {
  ...batchDeclaration,
  lazyFields: [...batchDeclaration.lazyFields!, ...internalFields],
};

/**
 * Creates the MongoDB implementation of BatchStore. The reads are in progress.ts, writes of
 * outcomes in outcomes.ts.
 */
export function batchStore(engine: MongoEngine): BatchStore {
  const written = createWrittenBatches();
  return {
    ...(createCollection<StoredBatch>(engine, stored) as unknown as BatchCollection),
    ...progressStore(engine),

    queue: (jobId, limit, now, region) =>
      engine.run(({ batches }) => {
        const which: Filter<BatchDocument> = {
          jobId,
          state: 'waiting',
          notBefore: { $not: { $gt: now } },
          ...(region === undefined ? {} : { region }),
        };
        return moveBatches(batches, which, 'seq', limit, queuedAs(now));
      }),

    claim: ({ id, jobId }, attempt, now, leaseUntil) =>
      engine.run(async ({ batches }) => {
        const before = await batches.findOneAndUpdate(
          {
            _id: id,
            jobId,
            $or: [
              { state: { $in: ['waiting', 'queued'] }, attempt },
              { state: 'claimed', leaseUntil: { $lt: now } },
            ],
          },
          // Also set for a batch that was waiting, so that requeueStalled() finds it after its
          // release.
          {
            $set: {
              state: 'claimed',
              queuedAt: now,
              publishedAt: now,
              leaseUntil,
              notBefore: null,
            },
            $inc: { attempt: 1, stalledClaims: 1 },
          },
          { returnDocument: 'before' },
        );
        if (before === null) return null;
        const batch = readBatch(before);
        const { queuedAt, notBefore } = batch;
        written.set(id, claimedBatch(before));
        const dueAt = queuedAt === null ? null : Math.max(queuedAt, notBefore ?? 0);
        return {
          ...batch,
          state: 'claimed',
          queuedAt: now,
          publishedAt: now,
          leaseUntil,
          notBefore: null,
          attempt: batch.attempt + 1,
          stalledClaims: batch.stalledClaims + 1,
          dueAt,
          isInterrupted: batch.attempt > 0 && notBefore === null,
        };
      }),

    recordOutcomes: (batch, attempt, write) =>
      engine.run(({ batches }) => writeOutcomes(batches, written, batch, attempt, write)),

    fail: (jobId, states, outcome, now) =>
      engine.run(({ batches }) => failBatches(batches, jobId, states, outcome, now)),

    requeueStalled: (now, publishedBefore, limit, jobIds = {}) =>
      engine.run(async ({ batches }) => {
        const ofJobs = inRange(jobIds);
        const expired: Filter<BatchDocument> = {
          ...ofJobs,
          state: 'claimed',
          leaseUntil: { $lt: now },
        };
        const change = { ...queuedAs(now), leaseUntil: null };
        const requeued = await moveBatches(batches, expired, 'leaseUntil', limit, change);
        // Marked batches must not match again.
        const lost: Filter<BatchDocument> = {
          ...ofJobs,
          state: 'queued',
          publishedAt: { $not: { $gte: Math.min(publishedBefore, now) } },
          notBefore: { $not: { $gt: now } },
        };
        const rest = limit - requeued.length;
        return [
          ...requeued,
          ...(await moveBatches(batches, lost, 'publishedAt', rest, { publishedAt: now })),
        ];
      }),
  };
}

/** Returns the filter of batches whose job's id is in a range. */
function inRange({ atLeast, below }: { atLeast?: string; below?: string }): Filter<BatchDocument> {
  const range: { $gte?: string; $lt?: string } = {};
  if (atLeast !== undefined) range.$gte = atLeast;
  if (below !== undefined) range.$lt = below;
  return Object.keys(range).length === 0 ? {} : { jobId: range };
}

/** Returns the fields of a batch whose message is published at `now`. */
const queuedAs = (now: number) =>
  ({
    state: 'queued',
    queuedAt: now,
    publishedAt: now,
    notBefore: null,
  }) as const;

/** Fields of a queued batch, and the key of its first unit. */
const queuedFields = {
  jobId: 1,
  market: 1,
  region: 1,
  lane: 1,
  total: 1,
  attempt: 1,
  keys: { $slice: 1 },
} as const;

type QueuedDocument = Pick<BatchDocument, '_id' | keyof typeof queuedFields>;

const readQueued = (found: QueuedDocument): QueuedBatch => {
  const { _id: batchId, jobId, market, region, lane, total: units, attempt, keys } = found;
  return {
    jobId,
    batchId,
    market,
    region,
    lane,
    units,
    attempt,
    unitKey: units === 1 ? keys[0]! : null,
  };
};

/**
 * Updates up to `limit` batches that match a condition, lowest `order` first, each for one caller:
 * every update checks the condition again and writes the caller's mark, by which the caller finds
 * its batches if others took some of them.
 */
async function moveBatches(
  batches: MongoCollections['batches'],
  condition: Filter<BatchDocument>,
  order: 'seq' | 'leaseUntil' | 'publishedAt',
  limit: number,
  fields: Partial<BatchDocument>,
): Promise<QueuedBatch[]> {
  const taken: QueuedBatch[] = [];
  while (taken.length < limit) {
    const candidates = await batches
      .find(condition, { projection: queuedFields })
      .sort({ [order]: 1 })
      .limit(limit - taken.length)
      .toArray();
    if (candidates.length === 0) break;
    const moveId = newId();
    // Batches of one attempt at a time: those that still have it are as they were read.
    const { attempt } = candidates[0]!;
    const same = candidates.filter((batch) => batch.attempt === attempt);
    const jobIds = [...new Set(same.map(({ jobId }) => jobId))];
    const among = { _id: { $in: same.map(({ _id }) => _id) }, jobId: { $in: jobIds }, attempt };
    const { matchedCount } = await batches.updateMany(
      { ...condition, ...among },
      { $set: { ...fields, moveId } },
    );
    const mine =
      matchedCount === same.length
        ? same
        : await batches
            .find({ ...among, moveId, state: 'queued' }, { projection: queuedFields })
            .sort({ seq: 1 })
            .toArray();
    taken.push(...mine.map(readQueued));
  }
  return taken;
}
