import { grant } from '../permits.ts';
import { noPause, type OriginPause, type OriginStore } from '../politeness.ts';
import { type Engine, unlessDuplicate } from './engine.ts';
import type { Collections, OriginDocument } from './schema.ts';

/** Politeness in MongoDB: a document per origin, changed by steps on that document alone. */
export function originStore(engine: Engine): OriginStore {
  return {
    reserveOrigin: (origin, slots, intervalMs, now) =>
      engine.run(async ({ origins }) => {
        // First past the idle time, then one step that no other caller shares: it alone hands out slots.
        const pastIdle = () => origins.updateOne({ _id: origin }, { $max: { nextFree: now } });
        if ((await pastIdle()).matchedCount === 0) {
          await ensureOrigin(origins, origin);
          await pastIdle();
        }
        const before = await origins.findOneAndUpdate(
          { _id: origin },
          { $inc: { nextFree: slots * intervalMs } },
        );
        return { first: before!.nextFree, pause: before!.pause };
      }),

    leaseOrigin: (origin, request) =>
      engine.run(async ({ origins }) => {
        for (;;) {
          const { holdings, leases, pause } = await readOrigin(origins, origin);
          const granted = grant(holdings, request);
          // Nobody else's lease came between, or the same is worked out anew from theirs.
          const { matchedCount } = await origins.updateOne(
            { _id: origin, leases },
            { $set: { holdings: granted.holdings, leases: leases + 1 }, $max: { heldUntil: request.until } },
          );
          if (matchedCount === 1) return { permits: granted.permits, pause };
        }
      }),

    findPause: (origin) =>
      engine.run(async ({ origins }) => (await origins.findOne({ _id: origin }))?.pause ?? noPause),

    pauseOrigin: (origin, pause) =>
      engine.run(async ({ origins }) => {
        if (pause.change === 1) await ensureOrigin(origins, origin);
        const { matchedCount } = await origins.updateOne(
          { _id: origin, 'pause.change': pause.change - 1 },
          { $set: { pause } },
        );
        if (matchedCount === 1) return { written: true, pause };
        return { written: false, pause: (await readOrigin(origins, origin)).pause };
      }),

    listPauses: () =>
      engine.run(async ({ origins }) => {
        const found = await origins
          .find({ 'pause.strikes': { $gt: 0 } })
          .sort({ _id: 1 })
          .toArray();
        return found.map(({ _id, pause }): OriginPause & { origin: string } => ({ origin: _id, ...pause }));
      }),

    forgetOrigins: (before) =>
      engine.run(async ({ origins }) => {
        const idle = {
          nextFree: { $lt: before },
          heldUntil: { $lt: before },
          'pause.until': { $lt: before },
          'pause.since': { $lt: before },
        };
        return (await origins.deleteMany(idle)).deletedCount;
      }),
  };
}

async function readOrigin(origins: Collections['origins'], origin: string): Promise<OriginDocument> {
  for (;;) {
    const found = await origins.findOne({ _id: origin });
    if (found) return found;
    await ensureOrigin(origins, origin);
  }
}

async function ensureOrigin(origins: Collections['origins'], origin: string): Promise<void> {
  const start = { nextFree: 0, pause: noPause, holdings: [], leases: 0, heldUntil: 0 };
  // Two upserts at once may both try to insert; the one that fails finds the other's document.
  await unlessDuplicate(origins.updateOne({ _id: origin }, { $setOnInsert: start }, { upsert: true }));
}
