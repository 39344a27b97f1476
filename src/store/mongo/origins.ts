import type { OriginStore } from '../store.ts';
import { type Engine, unlessDuplicate } from './engine.ts';
import type { Collections } from './schema.ts';

/** Politeness in MongoDB: a document per origin with the time of its next free slot. */
export function originStore(engine: Engine): OriginStore {
  return {
    reserveOrigin: (origin, slots, intervalMs, now) =>
      engine.run(async ({ origins }) => {
        await ensureOrigin(origins, origin);
        // First past the idle time, then one step that no other caller shares: it alone hands out slots.
        await origins.updateOne({ _id: origin }, { $max: { nextFree: now } });
        const before = await origins.findOneAndUpdate(
          { _id: origin },
          { $inc: { nextFree: slots * intervalMs } },
        );
        return before!.nextFree;
      }),

    pauseOrigin: (origin, until, reason) =>
      engine.run(async ({ origins }) => {
        await ensureOrigin(origins, origin);
        await origins.updateOne(
          { _id: origin, pausedUntil: { $lt: until } },
          { $set: { pausedUntil: until, reason }, $max: { nextFree: until } },
        );
      }),

    listPauses: (now) =>
      engine.run(async ({ origins }) => {
        const documents = await origins
          .find({ pausedUntil: { $gt: now } })
          .sort({ _id: 1 })
          .toArray();
        return documents.map(({ _id, pausedUntil, reason }) => ({ origin: _id, until: pausedUntil, reason }));
      }),
  };
}

async function ensureOrigin(origins: Collections['origins'], origin: string): Promise<void> {
  const start = { nextFree: 0, pausedUntil: 0, reason: '' };
  // Two upserts at once may both try to insert; the one that fails finds the other's document.
  await unlessDuplicate(origins.updateOne({ _id: origin }, { $setOnInsert: start }, { upsert: true }));
}
