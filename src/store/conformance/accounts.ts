import { expect, test } from 'vitest';
import { newId } from '../../base/id.ts';
import type { ApiKey, User } from '../documents.ts';
import { revokeApiKey } from '../keys.ts';
import { listUsers, markUserDeleted, suspendUser } from '../users.ts';
import { aKey, anEntry, aTime, aUser } from './samples.ts';
import { type OpenStores, setUpStores } from './stores.ts';

/** Users and API keys. */
export function accountConformance(open: OpenStores): void {
  userConformance(open);
  keyConformance(open);
}

function userConformance(open: OpenStores): void {
  const stores = setUpStores(open);
  const listed = async (role: User['role'], search?: string) =>
    (await listUsers(stores.other, role, { limit: 100 }, search)).items;

  test('users are listed by role, newest first, without test accounts and erased users', async () => {
    const user = aUser();
    const newer = aUser({ createdAt: aTime + 1 });
    const others = [
      aUser({ testOf: user.id }),
      aUser({ erased: true, deletedAt: aTime }),
      aUser({ role: 'operator' }),
    ];
    for (const each of [user, newer, ...others]) await stores.store.users.insert(each);
    expect(await listed('user')).toEqual([newer, user]);
    expect(await listed('operator')).toEqual([others[2]]);
  });

  test('users are found by part of name, address, or id', async () => {
    const operator = (fields: Partial<User>) => aUser({ role: 'operator', email: '', ...fields });
    const zoe = operator({ name: 'Zoë Österling', createdAt: aTime + 100 });
    const ann = operator({ email: 'Ann.Lee@Example.COM', createdAt: aTime + 101 });
    for (const user of [zoe, ann, aUser({ name: 'Zoë' })]) await stores.store.users.insert(user);
    expect(await listed('operator', 'zoë ÖSTER')).toEqual([zoe]);
    expect(await listed('operator', 'ann.lee@example')).toEqual([ann]);
    expect(await listed('operator', ann.id.slice(0, 18).toUpperCase())).toEqual([ann]);
    expect(await listed('operator', '')).toEqual(expect.arrayContaining([zoe, ann]));
  });

  test('a suspension keeps its first time and can be ended', async () => {
    const user = aUser();
    await stores.store.users.insert(user);
    const suspended = { ...user, suspendedAt: aTime + 10 };
    expect(await suspendUser(stores.store, user.id, aTime + 10)).toEqual(suspended);
    expect(await suspendUser(stores.other, user.id, aTime + 20)).toEqual(suspended);
    expect(await suspendUser(stores.store, user.id, null)).toEqual(user);
    expect(await suspendUser(stores.store, user.id, null)).toEqual(user);
    expect(await suspendUser(stores.store, newId(), aTime)).toBeNull();
  });

  test('the deletion of a user removes name and address, and suspends for good', async () => {
    const user = aUser();
    await stores.store.users.insert(user);
    const marked = {
      ...user,
      name: 'Deleted user',
      email: '',
      deletedAt: aTime + 5,
      suspendedAt: aTime + 5,
    };
    expect(await markUserDeleted(stores.store, user.id, aTime + 5)).toEqual(marked);
    expect(await markUserDeleted(stores.other, user.id, aTime + 9)).toEqual(marked);
    expect(await suspendUser(stores.other, user.id, null)).toEqual(marked);
    expect(await markUserDeleted(stores.other, newId(), aTime)).toBeNull();
  });
}

function keyConformance(open: OpenStores): void {
  const stores = setUpStores(open);

  test('a key is found by its hash, with the current state of its user in every process', async () => {
    const user = aUser();
    const key = aKey({ userId: user.id, expiresAt: aTime + 5 });
    await stores.store.users.insert(user);
    expect(await stores.store.apiKeys.insert(key)).toBe(true);
    expect(await stores.store.apiKeys.insert(aKey({ hash: key.hash }))).toBe(false);
    expect(await stores.store.apiKeys.findByHash('no such hash')).toBeNull();
    const lookUp = async () => {
      const found = await stores.store.apiKeys.findByHash(key.hash);
      expect(await stores.other.apiKeys.findByHash(key.hash)).toEqual(found);
      return found;
    };
    expect(await lookUp()).toEqual({ key, user });
    await stores.other.ledger.post(anEntry(user.id, 5));
    expect((await lookUp())?.user.balance).toBe(user.balance + 5);
    await suspendUser(stores.store, user.id, aTime + 5);
    expect((await lookUp())?.user.suspendedAt).toBe(aTime + 5);
    await revokeApiKey(stores.other, key.id, aTime + 10);
    expect((await lookUp())?.key.revokedAt).toBe(aTime + 10);
  });

  test('a revoked key shows when, and keeps that time when revoked again', async () => {
    const key = aKey();
    await stores.store.apiKeys.insert(key);
    const revoked = { ...key, revokedAt: aTime + 10 };
    expect(await revokeApiKey(stores.store, key.id, aTime + 10)).toEqual(revoked);
    expect(await revokeApiKey(stores.store, key.id, aTime + 20)).toEqual(revoked);
    expect(await stores.other.apiKeys.find({ userId: key.userId }, { newestFirst: true })).toEqual([
      revoked,
    ]);
  });

  test("a user cannot revoke another user's key", async () => {
    const key = aKey();
    await stores.store.apiKeys.insert(key);
    expect(await revokeApiKey(stores.store, key.id, aTime, newId())).toBeNull();
    expect(await stores.store.apiKeys.find({ userId: key.userId }, { newestFirst: true })).toEqual([
      key,
    ]);
    expect(await revokeApiKey(stores.store, key.id, aTime, key.userId)).toMatchObject({
      revokedAt: aTime,
    });
    expect(await revokeApiKey(stores.store, newId(), aTime)).toBeNull();
  });

  test('a deleted key is not found, and refunds of its jobs still count in the balance', async () => {
    const user = aUser();
    const keys = [1, 2].map((turn) =>
      aKey({ userId: user.id, creditCeiling: 50, createdAt: aTime + turn }),
    );
    const [key, other] = keys as [ApiKey, ApiKey];
    await stores.store.users.insert(user);
    for (const each of keys) await stores.store.apiKeys.insert(each);
    expect(await stores.other.apiKeys.find({ userId: user.id }, { newestFirst: true })).toEqual([
      other,
      key,
    ]);
    await stores.store.ledger.post(anEntry(user.id, 100));
    const charge = anEntry(user.id, -30, { type: 'charge', keyId: key.id });
    await stores.store.ledger.post(charge);
    await stores.store.apiKeys.remove({ id: key.id });
    await stores.other.apiKeys.remove({ id: key.id });
    expect(await stores.other.apiKeys.findByHash(key.hash)).toBeNull();
    expect(await stores.other.apiKeys.get(key.id)).toBeNull();
    expect(await stores.other.apiKeys.find({ userId: user.id }, { newestFirst: true })).toEqual([
      other,
    ]);
    const refund = anEntry(user.id, 30, { type: 'refund', keyId: key.id });
    expect(await stores.store.ledger.post(refund)).toMatchObject({
      posted: true,
      balance: user.balance + 100,
    });
    expect(await stores.store.ledger.post(charge)).toMatchObject({ balance: user.balance + 100 });
  });
}
