import { expect, test } from 'vitest';
import { newId } from '../../base/id.ts';
import type { ApiKey, User } from '../documents.ts';
import { aKey, anEntry, aTime, aUser } from './samples.ts';
import { allPages, type OpenStores, runConcurrently, setUpStores } from './stores.ts';

/** Users and API keys. */
export function accountConformance(open: OpenStores): void {
  const stores = setUpStores(open);

  test('a user is returned as it was stored', async () => {
    const user = aUser({ name: 'Zoë $set "Ω" .\u0000 雪', balance: 0 });
    expect(await stores.store.createUser(user)).toBe(true);
    expect(await stores.other.getUser(user.id)).toEqual(user);
    expect(await stores.store.getUser(newId())).toBeNull();
  });

  test('inserting a second user with the same id changes nothing', async () => {
    const user = aUser();
    await stores.store.createUser(user);
    expect(await stores.store.createUser({ ...user, name: 'someone else' })).toBe(false);
    expect(await stores.store.getUser(user.id)).toEqual(user);
  });

  test('accepts one of concurrent inserts of the same user', async () => {
    const user = aUser();
    const results = await runConcurrently(20, stores, (store) => store.createUser(user));
    expect(results.filter((created) => created)).toHaveLength(1);
  });

  test('users are listed by role, newest first, across pages', async () => {
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

  test('a test account is stored but not listed', async () => {
    const user = aUser({ name: `Ana ${newId()}` });
    const test = aUser({ name: user.name, testOf: user.id });
    for (const one of [user, test]) await stores.store.createUser(one);
    const { items } = await stores.store.listUsers('user', { limit: 10 }, user.name);
    expect(items).toEqual([user]);
    expect(await stores.other.getUser(test.id)).toEqual(test);
    expect(await stores.store.getUsers([test.id])).toEqual([test]);
  });

  test('a page token that was not issued is rejected as invalid', async () => {
    const bad = { limit: 3, after: 'bm90IGEgdG9rZW4' };
    await expect(stores.store.listUsers('user', bad)).rejects.toMatchObject({ code: 'invalid' });
  });

  test('users are found by part of name, address, or id, ignoring case and wildcards', async () => {
    const operator = (fields: Partial<User>) => aUser({ role: 'operator', email: '', ...fields });
    const zoe = operator({ name: 'Zoë Österling (50% $^.*[x])', createdAt: aTime + 100 });
    const ann = operator({ email: 'Ann.Lee@Example.COM', createdAt: aTime + 101 });
    for (const user of [zoe, ann, aUser({ name: 'Zoë' })]) await stores.store.createUser(user);
    const found = async (search: string) =>
      (await stores.store.listUsers('operator', { limit: 50 }, search)).items;
    expect(await found('zoë ÖSTER')).toEqual([zoe]);
    expect(await found('(50% $^.*[X])')).toEqual([zoe]);
    expect(await found('ann.lee@example')).toEqual([ann]);
    expect(await found(ann.id.slice(0, 18).toUpperCase())).toEqual([ann]);
    for (const search of ['z.ë', 'ann%', '_nn', '.+', '$ne', 'zoe']) expect(await found(search)).toEqual([]);
    expect(await found('')).toEqual(expect.arrayContaining([zoe, ann]));
  });

  test('found users are listed newest first, across pages', async () => {
    const word = newId();
    const users = [2, 1, 3, 3].map((turn) =>
      aUser({
        name: `who is ${word}?`,
        createdAt: aTime + turn,
        ...(turn === 1 ? { id: `0${newId()}` } : {}),
      }),
    );
    for (const user of users) await stores.store.createUser(user);
    const listed = await allPages(2, (page) => stores.store.listUsers('user', page, word.toUpperCase()));
    expect(listed.map(({ createdAt }) => createdAt - aTime)).toEqual([3, 3, 2, 1]);
    expect(new Set(listed)).toEqual(new Set(users));
  });

  test('a suspension keeps its first time and can be ended', async () => {
    const user = aUser();
    await stores.store.createUser(user);
    const suspended = { ...user, suspendedAt: aTime + 10 };
    expect(await stores.store.suspendUser(user.id, aTime + 10)).toEqual(suspended);
    expect(await stores.other.suspendUser(user.id, aTime + 20)).toEqual(suspended);
    expect(await stores.store.getUser(user.id)).toEqual(suspended);
    expect(await stores.store.suspendUser(user.id, null)).toEqual(user);
    expect(await stores.store.suspendUser(user.id, null)).toEqual(user);
    expect(await stores.store.suspendUser(newId(), aTime)).toBeNull();
  });

  test('a key is found by its hash, with the current state of its user', async () => {
    const user = aUser();
    const key = aKey({ userId: user.id, expiresAt: aTime + 5 });
    await stores.store.createUser(user);
    expect(await stores.store.createApiKey(key)).toBe(true);
    expect(await stores.other.findApiKey(key.hash)).toEqual({ key, user });
    await stores.store.suspendUser(user.id, aTime + 7);
    expect(await stores.other.findApiKey(key.hash)).toEqual({
      key,
      user: { ...user, suspendedAt: aTime + 7 },
    });
    expect(await stores.store.findApiKey('no such hash')).toBeNull();
  });

  test('the last use of a key is the latest one, in whatever order uses are recorded', async () => {
    const key = aKey();
    await stores.store.createApiKey(key);
    const used = async () => (await stores.other.listApiKeys(key.userId))[0]?.lastUsedAt;
    await stores.store.touchApiKey(key.id, aTime + 100);
    expect(await used()).toBe(aTime + 100);
    await stores.other.touchApiKey(key.id, aTime + 90);
    expect(await used()).toBe(aTime + 100);
    await runConcurrently(10, stores, (store, turn) => store.touchApiKey(key.id, aTime + 100 + turn));
    expect(await used()).toBe(aTime + 109);
    await stores.store.touchApiKey(newId(), aTime);
  });

  test('inserting a second key with the same hash changes nothing', async () => {
    const key = aKey();
    await stores.store.createApiKey(key);
    const second = aKey({ hash: key.hash });
    expect(await stores.store.createApiKey(second)).toBe(false);
    expect(await stores.store.listApiKeys(key.userId)).toEqual([key]);
    expect(await stores.store.listApiKeys(second.userId)).toEqual([]);
  });

  test('a revocation, a suspension, and a new balance are visible to the next lookup in every process', async () => {
    const user = aUser();
    const key = aKey({ userId: user.id });
    await stores.store.createUser(user);
    await stores.store.createApiKey(key);
    const lookUp = async () => {
      const found = await stores.store.findApiKey(key.hash);
      expect(await stores.other.findApiKey(key.hash)).toEqual(found);
      return found;
    };
    expect(await lookUp()).toEqual({ key, user });
    await stores.other.postLedgerEntry(anEntry(user.id, 5));
    expect((await lookUp())?.user.balance).toBe(user.balance + 5);
    await stores.store.suspendUser(user.id, aTime + 5);
    expect((await lookUp())?.user.suspendedAt).toBe(aTime + 5);
    await stores.other.revokeApiKey(key.id, aTime + 10);
    expect((await lookUp())?.key.revokedAt).toBe(aTime + 10);
  });

  test('a revoked key shows when, and keeps that time when revoked again', async () => {
    const key = aKey();
    await stores.store.createApiKey(key);
    const revoked = { ...key, revokedAt: aTime + 10 };
    expect(await stores.store.revokeApiKey(key.id, aTime + 10)).toEqual(revoked);
    expect(await stores.store.revokeApiKey(key.id, aTime + 20)).toEqual(revoked);
    expect(await stores.other.listApiKeys(key.userId)).toEqual([revoked]);
  });

  test("a user cannot revoke another user's key", async () => {
    const key = aKey();
    await stores.store.createApiKey(key);
    expect(await stores.store.revokeApiKey(key.id, aTime, newId())).toBeNull();
    expect(await stores.store.listApiKeys(key.userId)).toEqual([key]);
    expect(await stores.store.revokeApiKey(key.id, aTime, key.userId)).toMatchObject({ revokedAt: aTime });
    expect(await stores.store.revokeApiKey(newId(), aTime)).toBeNull();
  });

  test('a deleted key is not found, and refunds of its jobs still count in the balance', async () => {
    const user = aUser();
    const [key, other] = [1, 2].map(() => aKey({ userId: user.id, creditCeiling: 50 })) as [ApiKey, ApiKey];
    await stores.store.createUser(user);
    for (const each of [key, other]) await stores.store.createApiKey(each);
    await stores.store.postLedgerEntry(anEntry(user.id, 100));
    const charge = anEntry(user.id, -30, { type: 'charge', keyId: key.id });
    await stores.store.postLedgerEntry(charge);
    await stores.store.deleteApiKey(key);
    await stores.other.deleteApiKey(key);
    expect(await stores.other.findApiKey(key.hash)).toBeNull();
    expect(await stores.other.getApiKey(key.id)).toBeNull();
    expect(await stores.other.listApiKeys(user.id)).toEqual([other]);
    const refund = anEntry(user.id, 30, { type: 'refund', keyId: key.id });
    expect(await stores.store.postLedgerEntry(refund)).toMatchObject({
      posted: true,
      balance: user.balance + 100,
    });
    expect(await stores.store.postLedgerEntry(charge)).toMatchObject({ balance: user.balance + 100 });
  });

  test("a user's keys are listed newest first", async () => {
    const userId = newId();
    const keys = [1, 3, 2].map((turn) => aKey({ userId, createdAt: aTime + turn }));
    for (const key of keys) await stores.store.createApiKey(key);
    expect(await stores.store.listApiKeys(userId)).toEqual([keys[1], keys[2], keys[0]]);
    expect(await stores.store.listApiKeys(newId())).toEqual([]);
  });

  test('getUsers() returns each requested user once', async () => {
    const [one, two] = [aUser(), aUser({ role: 'operator' })];
    for (const user of [one, two]) await stores.store.createUser(user);
    const found = await stores.store.getUsers([two.id, newId(), one.id, two.id]);
    expect(found.toSorted((a, b) => (a.id < b.id ? -1 : 1))).toEqual(
      [one, two].toSorted((a, b) => (a.id < b.id ? -1 : 1)),
    );
    expect(await stores.store.getUsers([])).toEqual([]);
  });
}
