import { createBoundedMap } from '../../base/bounded-map.ts';
import { noPause, type OriginPause, type OriginStore } from '../origin-state.ts';
import type { MongoEngine } from './engine.ts';
import { createPermitLeases, ensureOrigin, readOrigin } from './permit-leases.ts';
import type { MongoCollections, OriginDocument } from './schema.ts';

/** Expected first free slot of an origin. */
interface NextSlot {
  at: number;
  isShared: boolean;
}

/** Creates the MongoDB implementation of OriginStore. */
export function originStore(engine: MongoEngine): OriginStore {
  /**
   * First free slots of origins after the last reservation here, and whether another process had
   * reserved slots before it, which it then mostly does again.
   */
  const nextSlots = createBoundedMap<NextSlot>({ maxBytes: 1024 ** 2, sizeOf: () => 16 });
  return {
    reserve: (origin, slots, intervalMs, now) =>
      engine.run(async ({ origins }) => {
        const expected = nextSlots.get(origin);
        const isIdle = expected && !expected.isShared && expected.at <= now;
        const ms = slots * intervalMs;
        const { nextFree, pause } = await reserveSlots(origins, origin, ms, now, isIdle);
        const first = Math.max(nextFree, now);
        const isShared = expected !== undefined && nextFree > expected.at;
        nextSlots.set(origin, { at: first + ms, isShared });
        return { first, pause };
      }),

    lease: createPermitLeases(engine),

    release: (holder) =>
      engine.run(async ({ origins }) => {
        await origins.updateMany(
          { 'holdings.holder': holder },
          { $pull: { holdings: { holder } }, $inc: { holdingsRevision: 1 } },
        );
      }),

    expire: (before, limit) =>
      engine.run(async ({ origins }) => {
        const which = {
          nextFree: { $lt: before },
          heldUntil: { $lt: before },
          'pause.until': { $lt: before },
          'pause.since': { $lt: before },
        };
        const found = await origins
          .find(which, { projection: { _id: 1 } })
          .limit(limit)
          .toArray();
        const ids = { _id: { $in: found.map(({ _id }) => _id) } };
        return (await origins.deleteMany({ ...which, ...ids })).deletedCount;
      }),

    getPause: (origin) =>
      engine.run(async ({ origins }) => {
        const found = await origins.findOne({ _id: origin });
        return found?.pause ?? noPause;
      }),

    putPause: (origin, pause) =>
      engine.run(async ({ origins }) => {
        if (pause.revision === 1) await ensureOrigin(origins, origin);
        const { matchedCount } = await origins.updateOne(
          { _id: origin, 'pause.revision': pause.revision - 1 },
          { $set: { pause } },
        );
        if (matchedCount === 1) return { written: true, pause };
        return { written: false, pause: (await readOrigin(origins, origin)).pause };
      }),

    discardTimes: (origin, latest, now) =>
      engine.run(async ({ origins }) => {
        await origins.updateOne(
          { _id: origin, nextFree: { $gt: latest.slot } },
          { $set: { nextFree: now } },
        );
        await origins.updateOne(
          { _id: origin, 'pause.until': { $gt: latest.pause } },
          { $set: { 'pause.until': now }, $inc: { 'pause.revision': 1 } },
        );
      }),

    listPauses: () =>
      engine.run(async ({ origins }) => {
        const found = await origins
          .find({ 'pause.failures': { $gt: 0 } })
          .sort({ _id: 1 })
          .toArray();
        return found.map(({ _id, pause }): OriginPause & { origin: string } => ({
          origin: _id,
          ...pause,
        }));
      }),
  };
}

/**
 * Moves the first free slot of an origin by `ms`, past idle time. Returns the origin as it was
 * before. If `idle` says correctly whether the slot is in the past, one command is enough.
 */
async function reserveSlots(
  origins: MongoCollections['origins'],
  origin: string,
  ms: number,
  now: number,
  idle: boolean | undefined,
): Promise<OriginDocument> {
  if (idle !== undefined) {
    const before = idle
      ? await origins.findOneAndUpdate(
          { _id: origin, nextFree: { $lte: now } },
          { $set: { nextFree: now + ms } },
        )
      : await origins.findOneAndUpdate(
          { _id: origin, nextFree: { $gte: now } },
          { $inc: { nextFree: ms } },
        );
    if (before) return before;
  }
  // The first update skips idle time; the second, atomic one alone reserves slots.
  const pastIdle = () => origins.updateOne({ _id: origin }, { $max: { nextFree: now } });
  if ((await pastIdle()).matchedCount === 0) {
    await ensureOrigin(origins, origin);
    await pastIdle();
  }
  return (await origins.findOneAndUpdate({ _id: origin }, { $inc: { nextFree: ms } }))!;
}
