import { expect, test } from 'vitest';
import { aKey, aTime, aUser } from '../store/conformance/samples.ts';
import { openSqliteStore } from '../store/sqlite/open.ts';
import { makeKeyRoom } from './keys.ts';

const hourMs = 3_600_000;

test('makeKeyRoom() keeps the usable keys, the last 100 that ended, and those that ended in the last 48 hours', async () => {
  const store = openSqliteStore({ path: ':memory:' });
  const user = aUser();
  await store.users.insert(user);
  const now = aTime + 1_000 * hourMs;
  const createEnded = async (count: number, ageMs: number, field: 'expiresAt' | 'revokedAt') => {
    for (let turn = 0; turn < count; turn++)
      await store.apiKeys.insert(aKey({ userId: user.id, [field]: now - ageMs - turn }));
  };
  const usable = aKey({ userId: user.id, expiresAt: now + 1 });
  await store.apiKeys.insert(usable);
  await createEnded(60, 49 * hourMs, 'expiresAt');
  await createEnded(60, 50 * hourMs, 'revokedAt');
  await makeKeyRoom(store, user.id, now);
  const left = await store.apiKeys.find({ userId: user.id }, { newestFirst: true });
  expect(left).toHaveLength(101);
  expect(left.filter(({ revokedAt }) => revokedAt !== null)).toHaveLength(40);
  await createEnded(120, hourMs, 'revokedAt');
  await makeKeyRoom(store, user.id, now);
  const ages = (await store.apiKeys.find({ userId: user.id }, { newestFirst: true })).map(
    ({ revokedAt, expiresAt }) => now - (revokedAt ?? expiresAt ?? 0),
  );
  expect(ages.filter((age) => age > 48 * hourMs)).toEqual([]);
  expect(ages).toHaveLength(121);
  await createEnded(10_000 - 121, hourMs, 'revokedAt');
  await expect(makeKeyRoom(store, user.id, now)).rejects.toMatchObject({
    code: 'conflict',
    message: expect.stringContaining('10000 keys'),
  });
  await makeKeyRoom(store, user.id, now + 48 * hourMs);
  expect(await store.apiKeys.find({ userId: user.id }, { newestFirst: true })).toHaveLength(100);
});
