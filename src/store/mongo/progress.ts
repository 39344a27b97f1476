import type { Filter } from 'mongodb';
import {
  type Backlog,
  type CountRow,
  type InFlightCount,
  inFlightByJob,
  type ProgressStore,
  readCounts,
} from '../batch-store.ts';
import type { Batch, BatchState } from '../batches.ts';
import { inChunks, readInOrder } from '../collection.ts';
import type { Counts } from '../documents.ts';
import type { MongoEngine } from './engine.ts';
import type { BatchDocument, MongoCollections } from './schema.ts';
import { readBatch } from './shapes.ts';

/** Maximum complete batches in memory. */
const readChunk = 20;

const inFlight: BatchState[] = ['queued', 'claimed'];

interface InFlightRow extends Pick<InFlightCount, 'batches' | 'deferred'> {
  _id: Pick<InFlightCount, 'jobId' | 'region'>;
}

/** Returns the rows of a grouping with the members of their keys. */
const withKeys = <Key extends object, Row extends object>(rows: readonly (Row & { _id: Key })[]) =>
  rows.map(({ _id, ...row }) => ({ ..._id, ...row }));

/** Creates the reading methods of BatchStore for MongoDB. */
export function progressStore(engine: MongoEngine): ProgressStore {
  return {
    countInFlight: (jobIds, now) =>
      engine.run(async ({ batches }) => {
        // Null is less than any time.
        const isDeferred = { $and: [{ $eq: ['$state', 'queued'] }, { $gt: ['$notBefore', now] }] };
        const rows = batches.aggregate<InFlightRow>([
          { $match: { jobId: { $in: jobIds }, state: { $in: inFlight } } },
          {
            $group: {
              _id: { jobId: '$jobId', region: '$region' },
              batches: { $sum: { $cond: [isDeferred, 0, 1] } },
              deferred: { $sum: { $cond: [isDeferred, 1, 0] } },
            },
          },
        ]);
        return inFlightByJob(withKeys(await rows.toArray()));
      }),

    countJobs: (jobIds) => engine.run(({ batches }) => countJobs(batches, jobIds)),

    read: (jobId, among) => {
      if (among === undefined)
        return readInOrder(readChunk, batchesAfter(engine, { jobId }, readChunk));
      if ('seqs' in among) return readSeqs(engine, jobId, among.seqs);
      return readInOrder(1, batchesAfter(engine, { jobId, keys: among.key }, 1));
    },

    countBacklog: (now) =>
      engine.run(async ({ batches }) => {
        const isQueued = { $eq: ['$state', 'queued'] };
        // Null counts as earlier.
        const isDue = {
          $and: [isQueued, { $lte: ['$queuedAt', now] }, { $lte: ['$notBefore', now] }],
        };
        const rows = batches.aggregate<
          Omit<Backlog, 'market' | 'lane'> & { _id: Pick<Backlog, 'market' | 'lane'> }
        >([
          { $match: { state: { $in: inFlight } } },
          {
            $group: {
              _id: { market: '$market', lane: '$lane' },
              queued: { $sum: { $cond: [isQueued, 1, 0] } },
              claimed: { $sum: { $cond: [isQueued, 0, 1] } },
              dueAt: { $min: { $cond: [isDue, { $max: ['$queuedAt', '$notBefore'] }, null] } },
            },
          },
          { $sort: { '_id.market': 1, '_id.lane': 1 } },
        ]);
        return withKeys(await rows.toArray());
      }),
  };
}

/** Reads up to `limit` batches that match, by `seq`. */
const readBatches = (engine: MongoEngine, which: Filter<BatchDocument>, limit: number) =>
  engine.run(async ({ batches }) => {
    const found = await batches.find(which).sort({ seq: 1 }).limit(limit).toArray();
    return found.map(readBatch);
  });

/** Returns a function that reads up to `limit` of the next batches that match. */
const batchesAfter =
  (engine: MongoEngine, which: Filter<BatchDocument>, limit: number) => (seq: number) =>
    readBatches(engine, { ...which, seq: { $gt: seq } }, limit);

/** Yields the batches of a job in these positions. */
async function* readSeqs(
  engine: MongoEngine,
  jobId: string,
  seqs: readonly number[],
): AsyncGenerator<Batch> {
  for (const chunk of inChunks(seqs, readChunk))
    yield* await readBatches(engine, { jobId, seq: { $in: chunk } }, readChunk);
}

async function countJobs(
  batches: MongoCollections['batches'],
  jobIds: readonly string[],
): Promise<Map<string, Counts>> {
  const done = { $eq: ['$state', 'done'] };
  const counted = (condition: object) => ({ $sum: { $cond: [{ $and: [done, condition] }, 1, 0] } });
  const rows = await batches
    .aggregate<CountRow & { _id: string }>([
      { $match: { jobId: { $in: [...jobIds] } } },
      {
        $group: {
          _id: '$jobId',
          units: { $sum: '$total' },
          success: { $sum: '$success' },
          failed: { $sum: '$failed' },
          batches: { $sum: 1 },
          good: counted({ $gt: ['$success', 0] }),
          bad: counted({ $eq: ['$success', 0] }),
        },
      },
    ])
    .toArray();
  return new Map(rows.map(({ _id: jobId, ...row }) => [jobId, readCounts(row)]));
}
