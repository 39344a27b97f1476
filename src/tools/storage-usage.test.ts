import { expect, test } from 'vitest';
import { aBatch, aJob, aSuccess, aUser, units } from '../store/conformance/samples.ts';
import { openSqliteStore } from '../store/sqlite/open.ts';
import { readUserUsage } from './storage-usage.ts';

test('readUserUsage() returns the users with files, the largest first', async () => {
  const store = openSqliteStore({ path: ':memory:' });
  const [small, large, empty] = [aUser(), aUser(), aUser()];
  for (const user of [small, large, empty]) await store.users.insert(user);
  for (const [user, storedBytes, pages] of [
    [small, 40, 0],
    [large, 100, 700],
    [large, 1, 0],
  ] as const) {
    const job = aJob({ userId: user.id, totalBatches: 1, totalUnits: 1, pagesUntil: 9e12 });
    const kept = { files: [], bytes: pages, units: {}, kept: 1, missed: 0 };
    const outcomes = { 0: aSuccess() };
    const batch = aBatch(job, 0, units(1), { outcomes, success: 1, storedBytes, pages: kept });
    await store.jobs.create(job, [batch]);
  }
  const named = ({ id, name }: typeof small) => ({ id, name, mode: 'live' });
  expect(await readUserUsage(store)).toEqual([
    { ...named(large), resultBytes: 101, pageBytes: 700 },
    { ...named(small), resultBytes: 40, pageBytes: 0 },
  ]);
  await store.close();
});
