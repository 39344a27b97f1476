import type { Cutoffs, ExpiryStore } from '../expiry.ts';
import type { MongoEngine } from './engine.ts';
import { changesOf } from './history-ids.ts';
import type { Collections } from './schema.ts';

/** Functions that delete the records beyond a cutoff. */
const deletions: Record<
  keyof Cutoffs,
  (collections: Collections, cutoff: number) => Promise<{ deletedCount: number }>
> = {
  crawls: ({ crawls }, before) => crawls.deleteMany({ at: { $lt: before } }),
  maxCrawls: deleteExcessCrawls,
  origins: ({ origins }, before) =>
    origins.deleteMany({
      nextFree: { $lt: before },
      heldUntil: { $lt: before },
      'pause.until': { $lt: before },
      'pause.since': { $lt: before },
    }),
  waits: ({ waits }, before) => waits.deleteMany({ until: { $lt: before } }),
  processes: ({ processes }, before) => processes.deleteMany({ seenAt: { $lt: before } }),
  originMinutes: ({ originMinutes }, before) => originMinutes.deleteMany({ minute: { $lt: before } }),
  deliveries: ({ deliveries }, before) => deliveries.deleteMany({ createdAt: { $lt: before } }),
  sessions: ({ sessions }, before) => sessions.deleteMany({ expiresAt: { $lt: before } }),
  auditLog: ({ auditLog }, before) => auditLog.deleteMany({ createdAt: { $lt: before } }),
  scheduleRuns: ({ scheduleRuns }, before) => scheduleRuns.deleteMany({ createdAt: { $lt: before } }),
  // $gt: 0 is required for the partial indexes.
  observations: ({ observations }, before) => observations.deleteMany({ endedAt: { $gt: 0, $lt: before } }),
  changes: async ({ trackingRuns, itemChanges }, before) => {
    const expired = trackingRuns.find({ doneAt: { $gt: 0, $lt: before } }, { projection: { _id: 1 } });
    let deletedCount = 0;
    for await (const { _id } of expired)
      deletedCount += (await itemChanges.deleteMany(changesOf(_id))).deletedCount;
    return { deletedCount };
  },
  trackingRuns: ({ trackingRuns }, before) => trackingRuns.deleteMany({ doneAt: { $gt: 0, $lt: before } }),
};

/** Creates the MongoDB implementation of ExpiryStore. */
export function expiryStore(engine: MongoEngine): ExpiryStore {
  return {
    expire: (cutoffs) =>
      engine.run(async (collections) => {
        let deleted = 0;
        for (const [name, cutoff] of Object.entries(cutoffs)) {
          deleted += (await deletions[name as keyof Cutoffs](collections, cutoff)).deletedCount;
        }
        return deleted;
      }),
  };
}

async function deleteExcessCrawls({ crawls }: Collections, max: number): Promise<{ deletedCount: number }> {
  // Estimated counts of some engines are minutes old. Without `_id`, the index alone answers.
  const [newest] = await crawls
    .find({}, { projection: { _id: 0, at: 1 } })
    .sort({ at: -1 })
    .skip(max)
    .limit(1)
    .toArray();
  return newest ? crawls.deleteMany({ at: { $lte: newest.at } }) : { deletedCount: 0 };
}
