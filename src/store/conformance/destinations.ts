import { expect, test } from 'vitest';
import { newId } from '../../base/id.ts';
import { aDestination, aTime } from './samples.ts';
import { type OpenStores, runConcurrently, setUpStores } from './stores.ts';

/** Destinations of users. */
export function destinationConformance(open: OpenStores): void {
  changeConformance(open);
  keyConformance(open);
}

function changeConformance(open: OpenStores): void {
  const stores = setUpStores(open);

  test('a destination is stored once per name and user, and listed by name', async () => {
    const userId = newId();
    const first = aDestination({ userId, name: 'b' });
    expect(await stores.store.createDestination(first)).toBe(true);
    expect(await stores.other.createDestination(aDestination({ userId, name: 'b' }))).toBe(false);
    expect(await stores.other.createDestination({ ...first, name: 'c' })).toBe(false);
    const second = aDestination({ userId, name: 'a', type: 'https', address: { url: 'https://x.test' } });
    expect(await stores.other.createDestination(second)).toBe(true);
    expect(await stores.other.createDestination(aDestination({ name: 'b' }))).toBe(true);
    expect(await stores.store.listDestinations(userId)).toEqual([second, first]);
    expect(await stores.other.getDestination(first.id)).toEqual(first);
    expect(await stores.other.getDestination(newId())).toBeNull();
    const created = await runConcurrently(10, stores, (store) =>
      store.createDestination(aDestination({ userId, name: 'concurrent' })),
    );
    expect(created.filter(Boolean)).toHaveLength(1);
  });

  test('a destination is changed only by its current revision and to a free name, and deleted by its user', async () => {
    const userId = newId();
    const destination = aDestination({ userId });
    const other = aDestination({ userId, name: 'other' });
    for (const each of [destination, other]) await stores.store.createDestination(each);
    const changed = {
      ...destination,
      name: 'renamed',
      address: { url: 'https://other.example' },
      secrets: 'sealed again',
      secretsKey: 'k2',
      format: 'csv' as const,
      updatedAt: aTime + 5,
      revision: 2,
    };
    expect(await stores.other.putDestination({ ...changed, name: 'other' })).toBe(false);
    expect(await stores.other.putDestination(changed)).toBe(true);
    expect(await stores.store.putDestination({ ...changed, name: 'late' })).toBe(false);
    expect(await stores.store.getDestination(destination.id)).toEqual(changed);
    expect(await stores.store.deleteDestination(destination.id, newId())).toBe(false);
    expect(await stores.store.deleteDestination(destination.id, userId)).toBe(true);
    expect(await stores.other.deleteDestination(destination.id, userId)).toBe(false);
    expect(await stores.other.putDestination({ ...changed, revision: 3 })).toBe(false);
    expect(await stores.other.listDestinations(userId)).toEqual([other]);
  });
}

function keyConformance(open: OpenStores): void {
  const stores = setUpStores(open);

  test('finds the destinations whose secrets another key encrypted', async () => {
    const all = ['k1', 'k2', 'k3'].map((secretsKey) => aDestination({ secretsKey }));
    for (const destination of all) await stores.store.createDestination(destination);
    const found = await stores.other.findDestinationsByOtherKey('k2', 10);
    expect(new Set(found.map(({ id }) => id))).toEqual(new Set([all[0]!.id, all[2]!.id]));
    expect(await stores.other.findDestinationsByOtherKey('k2', 1)).toHaveLength(1);
    await stores.store.putDestination({ ...all[0]!, secretsKey: 'k2', revision: 2 });
    expect(await stores.other.findDestinationsByOtherKey('k2', 10)).toEqual([all[2]]);
  });
}
