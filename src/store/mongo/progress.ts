import type { Backlog, BatchState, ProgressStore } from '../batches.ts';
import { type CountRow, readCounts } from '../counts.ts';
import type { Counts } from '../documents.ts';
import type { MongoEngine } from './engine.ts';
import type { MongoCollections } from './schema.ts';
import { readBatch } from './shapes.ts';

/** Maximum complete batches in memory. */
const readChunk = 20;

const inFlight: BatchState[] = ['queued', 'claimed'];

const countRegions = (found: readonly { region: string }[]): Map<string, number> =>
  new Map(
    Map.groupBy(found, ({ region }) => region)
      .entries()
      .map(([region, its]) => [region, its.length]),
  );

/** Creates the reading methods of BatchStore for MongoDB. */
export function progressStore(engine: MongoEngine): ProgressStore {
  return {
    countInFlight: (jobId, now) =>
      engine.run(async ({ batches }) => {
        const found = await batches
          .find({ jobId, state: { $in: inFlight } }, { projection: { region: 1, state: 1, notBefore: 1 } })
          .toArray();
        const off = found.filter(({ state, notBefore }) => state === 'queued' && (notBefore ?? now) > now);
        const all = countRegions(found);
        const deferred = countRegions(off);
        return {
          batches: found.length - off.length,
          byRegion: new Map(
            all.entries().map(([region, count]) => [region, count - (deferred.get(region) ?? 0)]),
          ),
          deferred,
        };
      }),

    countJobs: (jobIds) => engine.run(({ batches }) => countJobs(batches, jobIds)),

    read: async function* (jobId, among) {
      const places = among && 'seqs' in among ? among.seqs.values() : undefined;
      const which = among && 'key' in among ? { keys: among.key } : {};
      let after = -1;
      for (;;) {
        const wanted = places && [...places.take(readChunk)];
        if (wanted?.length === 0) return;
        const chunk = await engine.run(({ batches }) =>
          batches
            .find({ jobId, ...which, seq: wanted ? { $in: wanted } : { $gt: after } })
            .sort({ seq: 1 })
            .limit('keys' in which ? 1 : readChunk)
            .toArray(),
        );
        yield* chunk.map(readBatch);
        if (wanted) continue;
        const last = chunk.at(-1);
        if (!last) return;
        after = last.seq;
      }
    },

    countBacklog: (now) =>
      engine.run(async ({ batches }) => {
        const isQueued = { $eq: ['$state', 'queued'] };
        // Null counts as earlier.
        const isDue = { $and: [isQueued, { $lte: ['$queuedAt', now] }, { $lte: ['$notBefore', now] }] };
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
        return (await rows.toArray()).map(({ _id, ...row }) => ({ ..._id, ...row }));
      }),
  };
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
