import { expect, test } from 'vitest';
import { newId } from '../../base/id.ts';
import { aKey, aTime, aUser } from './samples.ts';
import { allPages, atOnce, type OpenStores, openedFor } from './stores.ts';

/** Users and API keys. */
export function accountContract(open: OpenStores): void {
  const stores = openedFor(open);

  test('a user comes back as it was kept', async () => {
    const user = aUser({ name: 'Zoë $set "Ω" .\u0000 雪', balance: 0 });
    expect(await stores.store.createUser(user)).toBe(true);
    expect(await stores.other.getUser(user.id)).toEqual(user);
    expect(await stores.store.getUser(newId())).toBeNull();
  });

  test('a second user with the same id changes nothing', async () => {
    const user = aUser();
    await stores.store.createUser(user);
    expect(await stores.store.createUser({ ...user, name: 'someone else' })).toBe(false);
    expect(await stores.store.getUser(user.id)).toEqual(user);
  });

  test('of many that create the same user at once one succeeds', async () => {
    const user = aUser();
    const results = await atOnce(20, stores, (store) => store.createUser(user));
    expect(results.filter((created) => created)).toHaveLength(1);
  });

  test('users are listed by role, newest first, page after page', async () => {
    const operators = Array.from({ length: 7 }, (_, turn) =>
      aUser({ role: 'operator', createdAt: aTime + Math.floor(turn / 2) }),
    );
    for (const user of operators) await stores.store.createUser(user);
    const listed = await allPages(3, (page) => stores.store.listUsers('operator', page));
    const expected = operators.toSorted((one, other) =>
      one.createdAt === other.createdAt ? (one.id < other.id ? 1 : -1) : other.createdAt - one.createdAt,
    );
    expect(listed).toEqual(expected);
    const last = await stores.store.listUsers('operator', { limit: 7 });
    expect(last.items).toHaveLength(7);
    expect(last.next).toBeNull();
  });

  test('a page token that no list gave is refused as invalid', async () => {
    const bad = { limit: 3, after: 'bm90IGEgdG9rZW4' };
    await expect(stores.store.listUsers('user', bad)).rejects.toMatchObject({ code: 'invalid' });
  });

  test('a key is found by its hash', async () => {
    const key = aKey({ expiresAt: aTime + 5 });
    expect(await stores.store.createApiKey(key)).toBe(true);
    expect(await stores.other.findApiKey(key.hash)).toEqual(key);
    expect(await stores.store.findApiKey('no such hash')).toBeNull();
  });

  test('a second key with the same hash changes nothing', async () => {
    const key = aKey();
    await stores.store.createApiKey(key);
    expect(await stores.store.createApiKey(aKey({ hash: key.hash }))).toBe(false);
    expect(await stores.store.findApiKey(key.hash)).toEqual(key);
  });

  test('a revoked key says when, and stays as it was at a second revocation', async () => {
    const key = aKey();
    await stores.store.createApiKey(key);
    const revoked = { ...key, revokedAt: aTime + 10 };
    expect(await stores.store.revokeApiKey(key.id, aTime + 10)).toEqual(revoked);
    expect(await stores.store.revokeApiKey(key.id, aTime + 20)).toEqual(revoked);
    expect(await stores.other.findApiKey(key.hash)).toEqual(revoked);
  });

  test("a user revokes no other user's key", async () => {
    const key = aKey();
    await stores.store.createApiKey(key);
    expect(await stores.store.revokeApiKey(key.id, aTime, newId())).toBeNull();
    expect(await stores.store.findApiKey(key.hash)).toEqual(key);
    expect(await stores.store.revokeApiKey(key.id, aTime, key.userId)).toMatchObject({ revokedAt: aTime });
    expect(await stores.store.revokeApiKey(newId(), aTime)).toBeNull();
  });

  test("a user's keys are listed newest first", async () => {
    const userId = newId();
    const keys = [1, 3, 2].map((turn) => aKey({ userId, createdAt: aTime + turn }));
    for (const key of keys) await stores.store.createApiKey(key);
    expect(await stores.store.listApiKeys(userId)).toEqual([keys[1], keys[2], keys[0]]);
    expect(await stores.store.listApiKeys(newId())).toEqual([]);
  });

  test('several users are found at once, each once', async () => {
    const [one, two] = [aUser(), aUser({ role: 'operator' })];
    for (const user of [one, two]) await stores.store.createUser(user);
    const found = await stores.store.getUsers([two.id, newId(), one.id, two.id]);
    expect(found.toSorted((a, b) => (a.id < b.id ? -1 : 1))).toEqual(
      [one, two].toSorted((a, b) => (a.id < b.id ? -1 : 1)),
    );
    expect(await stores.store.getUsers([])).toEqual([]);
  });
}
