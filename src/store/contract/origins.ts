import { expect, test } from 'vitest';
import { newId } from '../../base/id.ts';
import { aTime } from './samples.ts';
import { atOnce, type OpenStores, openedFor } from './stores.ts';

/** Politeness over all workers together. */
export function originContract(open: OpenStores): void {
  const stores = openedFor(open);
  const anOrigin = () => `https://${newId()}.example:8443`;

  test('slots follow one another, none before now', async () => {
    const origin = anOrigin();
    expect(await stores.store.reserveOrigin(origin, 3, 100, aTime)).toBe(aTime);
    expect(await stores.other.reserveOrigin(origin, 1, 100, aTime + 10)).toBe(aTime + 300);
    expect(await stores.store.reserveOrigin(origin, 1, 100, aTime + 5_000)).toBe(aTime + 5_000);
    expect(await stores.store.reserveOrigin(anOrigin(), 1, 100, aTime)).toBe(aTime);
  });

  test('slots of callers at once never overlap', async () => {
    const origin = anOrigin();
    const firsts = await atOnce(60, stores, (store) => store.reserveOrigin(origin, 2, 50, aTime));
    const expected = Array.from({ length: 60 }, (_, turn) => aTime + turn * 100);
    expect(firsts.toSorted((one, other) => one - other)).toEqual(expected);
  });

  test('a paused origin gives no slot before the end of the pause', async () => {
    const origin = anOrigin();
    await stores.store.pauseOrigin(origin, aTime + 1_000, 'it asked for it');
    expect(await stores.store.reserveOrigin(origin, 1, 10, aTime)).toBe(aTime + 1_000);
    await stores.store.pauseOrigin(origin, aTime + 4_000, 'blocked');
    await stores.other.pauseOrigin(origin, aTime + 2_000, 'shorter');
    const listed = await stores.store.listPauses(aTime);
    expect(listed).toContainEqual({ origin, until: aTime + 4_000, reason: 'blocked' });
    expect(await stores.store.reserveOrigin(origin, 1, 10, aTime)).toBe(aTime + 4_000);
  });

  test('pauses are listed with their reason until they end', async () => {
    const [one, other] = [anOrigin(), anOrigin()].toSorted() as [string, string];
    const until = aTime + 50_000;
    await stores.store.reserveOrigin(one, 1, 10, aTime);
    await stores.store.pauseOrigin(other, until + 5, 'a.$b ☃');
    await atOnce(20, stores, (store, turn) => store.pauseOrigin(one, until + turn, `reason ${turn}`));
    const listed = await stores.store.listPauses(until);
    expect(listed).toEqual([
      { origin: one, until: until + 19, reason: 'reason 19' },
      { origin: other, until: until + 5, reason: 'a.$b ☃' },
    ]);
    expect(await stores.store.listPauses(until + 19)).toEqual([]);
  });
}
