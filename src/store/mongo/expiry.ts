import type { Collection, Document, Filter } from 'mongodb';
import type { Cutoffs, ExpiryStore } from '../expiry.ts';
import type { MongoEngine } from './engine.ts';
import { changesOf } from './history-ids.ts';
import type { Collections } from './schema.ts';

/** Documents deleted per command, and most commands per collection and call. */
const chunkSize = 1_000;
const maxChunks = 100;

type Removal = (collections: Collections, cutoff: number) => Promise<number>;

/** Functions that delete documents beyond a cutoff, and return their number. */
const removals: Record<keyof Cutoffs, Removal> = {
  crawls: ({ crawls }, before) => remove(crawls, { at: { $lt: before } }),
  maxCrawls: removeExcessCrawls,
  origins: ({ origins }, before) =>
    remove(origins, {
      nextFree: { $lt: before },
      heldUntil: { $lt: before },
      'pause.until': { $lt: before },
      'pause.since': { $lt: before },
    }),
  processes: ({ processes }, before) => remove(processes, { seenAt: { $lt: before } }),
  originMinutes: ({ originMinutes }, before) => remove(originMinutes, { minute: { $lt: before } }),
  deliveries: ({ deliveries }, before) => remove(deliveries, { createdAt: { $lt: before } }),
  sessions: ({ sessions }, before) => remove(sessions, { expiresAt: { $lt: before } }),
  auditLog: ({ auditLog }, before) => remove(auditLog, { createdAt: { $lt: before } }),
  scheduleRuns: ({ scheduleRuns }, before) => remove(scheduleRuns, { createdAt: { $lt: before } }),
  // $gt: 0 is required for the partial indexes.
  observations: ({ observations }, before) => remove(observations, { endedAt: { $gt: 0, $lt: before } }),
  trackingRuns: removeRuns,
};

/** Creates the MongoDB implementation of ExpiryStore. */
export function expiryStore(engine: MongoEngine): ExpiryStore {
  return {
    expire: (cutoffs) =>
      engine.run(async (collections) => {
        let removed = 0;
        for (const [name, cutoff] of Object.entries(cutoffs))
          removed += await removals[name as keyof Cutoffs](collections, cutoff);
        return removed;
      }),
  };
}

/** Deletes a bounded number of documents in bounded commands, and returns the number. */
async function remove<T extends Document>(collection: Collection<T>, which: Filter<T>): Promise<number> {
  let removed = 0;
  for (let chunk = 0; chunk < maxChunks; chunk++) {
    const found = await collection
      .find(which, { projection: { _id: 1 } })
      .limit(chunkSize)
      .toArray();
    if (found.length === 0) break;
    const ids = found.map(({ _id }) => _id);
    // A document that was written again meanwhile stays.
    removed += (await collection.deleteMany({ ...which, _id: { $in: ids } } as Filter<T>)).deletedCount;
    if (found.length < chunkSize) break;
  }
  return removed;
}

async function removeExcessCrawls({ crawls }: Collections, max: number): Promise<number> {
  // Estimated counts of some engines are minutes old. Without `_id`, the index alone answers.
  const [newest] = await crawls
    .find({}, { projection: { _id: 0, at: 1 } })
    .sort({ at: -1 })
    .skip(max)
    .limit(1)
    .toArray();
  return newest ? remove(crawls, { at: { $lte: newest.at } }) : 0;
}

/** Deletes runs, each after its changes, which are found by it. */
async function removeRuns({ trackingRuns, itemChanges }: Collections, before: number): Promise<number> {
  const expired = trackingRuns.find({ doneAt: { $gt: 0, $lt: before } }, { projection: { _id: 1 } });
  let removed = 0;
  for await (const { _id } of expired.limit(chunkSize)) {
    removed += (await itemChanges.deleteMany(changesOf(_id))).deletedCount;
    removed += (await trackingRuns.deleteOne({ _id })).deletedCount;
  }
  return removed;
}
