import { describe, expect, test } from 'vitest';
import { newId } from '../../base/id.ts';
import { expire } from '../expiry.ts';
import { noPause, type OriginPause } from '../origin-state.ts';
import type { Store } from '../store.ts';
import { aTime } from './samples.ts';
import { type OpenStores, runConcurrently, setUpStores } from './stores.ts';

/** Origin policy shared by all workers. */
export function originConformance(open: OpenStores): void {
  const stores = setUpStores(open);
  const anOrigin = () => `https://${newId()}.example:8443`;
  const first = async (
    store: Store,
    origin: string,
    slots: number,
    intervalMs: number,
    now: number,
  ) => (await store.origins.reserve(origin, slots, intervalMs, now)).first;
  const pause = (revision: number, fields: Partial<OriginPause> = {}): OriginPause => ({
    revision,
    until: aTime + 1_000,
    reason: 'page_blocked',
    failures: 1,
    since: aTime,
    probing: false,
    ...fields,
  });

  describe('slots', () => {
    test('follow one another and never lie in the past', async () => {
      const origin = anOrigin();
      expect(await first(stores.store, origin, 3, 100, aTime)).toBe(aTime);
      expect(await first(stores.other, origin, 1, 100, aTime + 10)).toBe(aTime + 300);
      expect(await first(stores.store, origin, 1, 100, aTime + 5_000)).toBe(aTime + 5_000);
      expect(await first(stores.store, anOrigin(), 1, 100, aTime)).toBe(aTime);
    });

    test('never overlap for concurrent callers', async () => {
      const origin = anOrigin();
      const firsts = await runConcurrently(60, stores, (store) =>
        first(store, origin, 2, 50, aTime),
      );
      const expected = Array.from({ length: 60 }, (_, turn) => aTime + turn * 100);
      expect(firsts.toSorted((one, other) => one - other)).toEqual(expected);
    });

    test('never overlap for concurrent callers after idle time and without it', async () => {
      const origin = anOrigin();
      for (const store of [stores.store, stores.other]) await first(store, origin, 1, 50, aTime);
      const now = aTime + 5_000;
      for (const round of [0, 1]) {
        const firsts = await runConcurrently(40, stores, (store) =>
          first(store, origin, 2, 50, now),
        );
        const expected = Array.from({ length: 40 }, (_, turn) => now + round * 4_000 + turn * 100);
        expect(firsts.toSorted((one, other) => one - other)).toEqual(expected);
      }
    });

    test('are returned with the state of the origin', async () => {
      const origin = anOrigin();
      expect(await stores.store.origins.reserve(origin, 1, 10, aTime)).toEqual({
        first: aTime,
        pause: noPause,
      });
      await stores.store.origins.putPause(origin, pause(1));
      expect(await stores.other.origins.reserve(origin, 1, 10, aTime)).toEqual({
        first: aTime + 10,
        pause: pause(1),
      });
      for (const [turn, later] of [pause(2), { ...noPause, revision: 3 }].entries()) {
        await stores.other.origins.putPause(origin, later);
        const now = aTime + 1_000 * (turn + 1);
        expect(await stores.store.origins.reserve(origin, 1, 10, now)).toEqual({
          first: now,
          pause: later,
        });
      }
    });
  });

  describe('pauses', () => {
    test('replace only the pause that their writer read', async () => {
      const origin = anOrigin();
      expect(await stores.store.origins.getPause(origin)).toEqual(noPause);
      expect(await stores.store.origins.putPause(origin, pause(2))).toEqual({
        written: false,
        pause: noPause,
      });
      expect(await stores.store.origins.putPause(origin, pause(1))).toEqual({
        written: true,
        pause: pause(1),
      });
      const second = pause(2, {
        until: aTime + 60_000.5,
        failures: 2,
        reason: 'a.$b ☃',
        probing: true,
      });
      expect(await stores.other.origins.putPause(origin, second)).toEqual({
        written: true,
        pause: second,
      });
      expect(await stores.store.origins.putPause(origin, pause(2))).toEqual({
        written: false,
        pause: second,
      });
      expect(await stores.store.origins.getPause(origin)).toEqual(second);
    });

    test('are written by one of several concurrent writers', async () => {
      const origin = anOrigin();
      for (const revision of [1, 2]) {
        const tries = await runConcurrently(20, stores, (store, turn) =>
          store.origins.putPause(origin, pause(revision, { until: aTime + turn })),
        );
        const written = tries.filter((one) => one.written);
        expect(written).toHaveLength(1);
        expect(await stores.store.origins.getPause(origin)).toEqual(written[0]!.pause);
      }
    });

    test('are listed while there are failures', async () => {
      const [one, other] = [anOrigin(), anOrigin()].toSorted() as [string, string];
      const listed = async () =>
        (await stores.store.origins.listPauses()).filter(({ origin }) =>
          [one, other].includes(origin),
        );
      await stores.store.origins.putPause(other, pause(1));
      await stores.store.origins.putPause(one, pause(1, { failures: 4 }));
      expect(await listed()).toEqual([
        { origin: one, ...pause(1, { failures: 4 }) },
        { origin: other, ...pause(1) },
      ]);
      await stores.other.origins.putPause(one, { ...noPause, revision: 2 });
      expect(await listed()).toEqual([{ origin: other, ...pause(1) }]);
    });
  });

  describe('permits', () => {
    const lease = async (
      store: Store,
      origin: string,
      holder: string,
      requested: number,
      more: object = {},
    ) => {
      const request = {
        holder,
        busy: 0,
        requested,
        limit: 6,
        now: aTime,
        until: aTime + 1_000,
        ...more,
      };
      return (await store.origins.lease(origin, request)).permits;
    };

    test('never exceed the limit, for any number of processes', async () => {
      const origin = anOrigin();
      expect(await lease(stores.store, origin, 'a', 4)).toBe(4);
      expect(await lease(stores.other, origin, 'b', 4)).toBe(2);
      expect(await lease(stores.store, origin, 'c', 1)).toBe(0);
      expect(await lease(stores.store, anOrigin(), 'c', 1)).toBe(1);
    });

    test('add up to the limit over concurrent processes', async () => {
      const origin = anOrigin();
      const given = await runConcurrently(20, stores, (store, turn) =>
        lease(store, origin, `process ${turn}`, 2),
      );
      expect(given.reduce((sum, permits) => sum + permits, 0)).toBe(6);
    });

    describe('of several origins requested at once', () => {
      const leaseAll = (store: Store, origins: readonly string[], requested: number) =>
        Promise.all(origins.map((origin) => lease(store, origin, 'a', requested)));

      test('are those of each origin', async () => {
        const origins = [anOrigin(), anOrigin(), anOrigin(), anOrigin()];
        expect(await leaseAll(stores.store, origins, 4)).toEqual([4, 4, 4, 4]);
        expect(await lease(stores.other, origins[1]!, 'b', 6)).toBe(2);
        // The store knows nothing of the lease that another process has written.
        expect(await leaseAll(stores.store, origins, 6)).toEqual([6, 3, 6, 6]);
        expect(await leaseAll(stores.store, origins, 6)).toEqual([6, 3, 6, 6]);
        expect(await lease(stores.other, origins[3]!, 'b', 6)).toBe(0);
        expect(await leaseAll(stores.store, origins, 3)).toEqual([3, 3, 3, 3]);
        expect(await lease(stores.other, origins[3]!, 'b', 6)).toBe(3);
      });

      test('come with the pause of each origin', async () => {
        const origins = [anOrigin(), anOrigin(), anOrigin()];
        await leaseAll(stores.store, origins, 1);
        await stores.other.origins.putPause(origins[1]!, pause(1));
        const request = {
          holder: 'a',
          busy: 0,
          requested: 1,
          limit: 6,
          now: aTime,
          until: aTime + 1_000,
        };
        const leases = await Promise.all(
          origins.map((origin) => stores.store.origins.lease(origin, request)),
        );
        expect(leases.map((each) => each.pause)).toEqual([noPause, pause(1), noPause]);
      });
    });

    test('become available when released and when they expire', async () => {
      const origin = anOrigin();
      await lease(stores.store, origin, 'a', 6);
      expect(await lease(stores.other, origin, 'a', 0)).toBe(0);
      expect(await lease(stores.other, origin, 'b', 6)).toBe(6);
      expect(await lease(stores.store, origin, 'a', 6, { now: aTime + 999 })).toBe(0);
      expect(await lease(stores.store, origin, 'a', 6, { now: aTime + 1_000 })).toBe(6);
    });

    test('are released at every origin when their process ends, and other processes keep theirs', async () => {
      const [one, other, untouched] = [anOrigin(), anOrigin(), anOrigin()];
      await lease(stores.store, one, 'a', 4);
      await lease(stores.store, one, 'b', 1);
      await lease(stores.store, other, 'a', 6);
      await lease(stores.store, untouched, 'b', 6);
      await stores.other.origins.release('a');
      expect(await lease(stores.store, one, 'c', 6)).toBe(5);
      expect(await lease(stores.store, other, 'c', 6)).toBe(6);
      expect(await lease(stores.store, untouched, 'c', 6)).toBe(0);
      await stores.other.origins.release('unknown');
    });

    test('converge to fair shares as they are requested again', async () => {
      const origin = anOrigin();
      await lease(stores.store, origin, 'a', 6);
      expect(await lease(stores.other, origin, 'b', 6)).toBe(0);
      expect(await lease(stores.store, origin, 'a', 6, { busy: 5 })).toBe(3);
      expect(await lease(stores.other, origin, 'b', 6)).toBe(1);
      expect(await lease(stores.store, origin, 'a', 6, { busy: 2 })).toBe(3);
      expect(await lease(stores.other, origin, 'b', 6)).toBe(3);
    });

    test('are returned with the state of the origin', async () => {
      const origin = anOrigin();
      await stores.store.origins.putPause(origin, pause(1));
      const request = {
        holder: 'a',
        busy: 0,
        requested: 1,
        limit: 1,
        now: aTime,
        until: aTime + 1,
      };
      expect(await stores.other.origins.lease(origin, request)).toEqual({
        permits: 1,
        isAlone: true,
        pause: pause(1),
      });
      expect(await stores.store.origins.lease(origin, { ...request, holder: 'b' })).toMatchObject({
        permits: 0,
        isAlone: false,
      });
    });
  });

  test('origins expire after a long time without reservations, permits, or pauses', async () => {
    const [idle, asked, held, paused] = [anOrigin(), anOrigin(), anOrigin(), anOrigin()];
    const before = aTime - 1_000_000;
    await stores.store.origins.reserve(idle, 1, 10, before - 20);
    await stores.store.origins.reserve(asked, 1, 10, before);
    const request = {
      holder: 'a',
      busy: 0,
      requested: 1,
      limit: 1,
      now: before - 20,
      until: before,
    };
    await stores.store.origins.lease(held, request);
    await stores.store.origins.putPause(paused, pause(1, { until: before, since: before - 10 }));
    expect(await expire(stores.store, { origins: before })).toBeGreaterThanOrEqual(1);
    expect(await first(stores.store, idle, 1, 10, 0)).toBe(0);
    expect(await first(stores.store, asked, 1, 10, 0)).toBe(before + 10);
    expect(await stores.store.origins.getPause(paused)).toMatchObject({ revision: 1 });
    expect(await stores.store.origins.lease(held, { ...request, holder: 'b' })).toMatchObject({
      permits: 0,
    });
  });
}
