import { describe, expect, test } from 'vitest';
import { newId } from '../../base/id.ts';
import type { ApiKey, LedgerEntry } from '../documents.ts';
import { revokeApiKey } from '../keys.ts';
import { createSession, findSession } from '../sessions.ts';
import { aKey, anEntry, aUser } from './samples.ts';
import { allPages, type OpenStores, runConcurrently, setUpStores } from './stores.ts';

/** Permissions of API keys, and the credits that they may spend. */
export function keyLimitConformance(open: OpenStores): void {
  const stores = setUpStores(open);
  const keyOf = async (credits: number, fields: Partial<ApiKey> = {}): Promise<ApiKey> => {
    const user = aUser();
    await stores.store.users.insert(user);
    if (credits > 0) await stores.store.ledger.post(anEntry(user.id, credits));
    const key = aKey({ userId: user.id, ...fields });
    await stores.store.apiKeys.insert(key);
    return key;
  };
  const charge = (
    { userId, id }: ApiKey,
    amount: number,
    fields: Partial<LedgerEntry> = {},
  ): LedgerEntry =>
    anEntry(userId, -amount, {
      key: `charge:${newId()}`,
      type: 'charge',
      jobId: newId(),
      keyId: id,
      ...fields,
    });
  const refund = (key: ApiKey, amount: number): LedgerEntry =>
    charge(key, -amount, { key: `refund:${newId()}`, type: 'refund' });
  const spent = async ({ id }: ApiKey) => (await stores.other.apiKeys.get(id))!.creditsSpent;
  /** Returns the net amount of the listed entries that name the key. */
  const listed = async ({ userId, id }: ApiKey) =>
    (await allPages(50, (page) => stores.store.ledger.list({ userId }, page)))
      .filter(({ keyId }) => keyId === id)
      .reduce((sum, { amount }) => sum - amount, 0);

  test('every read of a key returns the credits that it has spent', async () => {
    const key = await keyOf(100, { creditCeiling: 50 });
    const hash = newId();
    const session = { hash, userId: key.userId, keyId: key.id, createdAt: 1, expiresAt: 2 };
    await createSession(stores.store, session, 5);
    await stores.store.ledger.post(charge(key, 30));
    const expected = { ...key, creditsSpent: 30 };
    expect(await stores.other.apiKeys.get(key.id)).toEqual(expected);
    expect((await stores.other.apiKeys.findByHash(key.hash))?.key).toEqual(expected);
    expect((await findSession(stores.other, hash))?.key).toEqual(expected);
    expect(await stores.other.apiKeys.find({ userId: key.userId }, { newestFirst: true })).toEqual([
      expected,
    ]);
    expect(await revokeApiKey(stores.other, key.id, 9)).toEqual({ ...expected, revokedAt: 9 });
  });

  test('a charge above the rest of the ceiling changes nothing; a smaller one is posted', async () => {
    const key = await keyOf(1_000, { creditCeiling: 100 });
    await stores.store.ledger.post(charge(key, 80));
    const above = charge(key, 21);
    const ceiling = { keyId: key.id, max: 100, spent: 80 };
    expect(await stores.other.ledger.post(above)).toEqual({ posted: false, balance: 920, ceiling });
    expect(await stores.store.ledger.get(above.key)).toBeNull();
    expect(await stores.store.ledger.post(charge(key, 20))).toEqual({ posted: true, balance: 900 });
    expect([await spent(key), await listed(key)]).toEqual([100, 100]);
  });

  test.each([0, 9])('a ceiling of %i refuses a first charge of 10', async (creditCeiling) => {
    const key = await keyOf(1_000, { creditCeiling });
    expect(await stores.store.ledger.post(charge(key, 10))).toMatchObject({
      posted: false,
      ceiling: { max: creditCeiling, spent: 0 },
    });
    expect(await spent(key)).toBe(0);
  });

  test('an insufficient balance is reported before the ceiling', async () => {
    const key = await keyOf(5, { creditCeiling: 1 });
    expect(await stores.store.ledger.post(charge(key, 10))).toEqual({ posted: false, balance: 5 });
  });

  test('a refund gives credits back to the ceiling', async () => {
    const key = await keyOf(1_000, { creditCeiling: 100 });
    await stores.store.ledger.post(charge(key, 100));
    await stores.store.ledger.post(refund(key, 60));
    expect(await spent(key)).toBe(40);
    expect(await stores.store.ledger.post(charge(key, 61))).toMatchObject({ posted: false });
    expect(await stores.store.ledger.post(charge(key, 60))).toMatchObject({ posted: true });
    expect([await spent(key), await listed(key)]).toEqual([100, 100]);
  });

  test('a repeated entry counts once', async () => {
    const key = await keyOf(1_000, { creditCeiling: 100 });
    const [paid, returned] = [charge(key, 70), refund(key, 20)];
    await runConcurrently(20, stores, (store, turn) =>
      store.ledger.post(turn % 2 ? paid : returned),
    );
    expect([await spent(key), await listed(key)]).toEqual([50, 50]);
  });

  test('entries of a key without a ceiling, and entries of no key, count against no ceiling', async () => {
    const limited = await keyOf(1_000, { creditCeiling: 10 });
    const free = aKey({ userId: limited.userId });
    await stores.store.apiKeys.insert(free);
    await stores.store.ledger.post(charge(free, 500));
    await stores.store.ledger.post(charge(limited, 100, { keyId: null }));
    await stores.store.ledger.post(charge(limited, 100, { keyId: newId() }));
    expect([await spent(limited), await spent(free)]).toEqual([0, 0]);
  });

  test('ceilings of keys of the same account are independent', async () => {
    const one = await keyOf(1_000, { creditCeiling: 100 });
    const other = aKey({ userId: one.userId, creditCeiling: 30 });
    await stores.store.apiKeys.insert(other);
    await stores.store.ledger.post(charge(one, 90));
    expect(await stores.store.ledger.post(charge(other, 30))).toMatchObject({ posted: true });
    expect([await spent(one), await spent(other)]).toEqual([90, 30]);
  });

  describe('concurrent charges', () => {
    test('never exceed the ceiling and use it up', async () => {
      const key = await keyOf(10_000, { creditCeiling: 100 });
      const results = await runConcurrently(50, stores, (store) =>
        store.ledger.post(charge(key, 10)),
      );
      expect(results.filter(({ posted }) => posted)).toHaveLength(10);
      expect([await spent(key), await listed(key)]).toEqual([100, 100]);
      expect((await stores.store.users.get(key.userId))?.balance).toBe(9_900);
    });

    test('keep the credits spent equal to the entries, together with refunds and repairs', async () => {
      const key = await keyOf(10_000, { creditCeiling: 200 });
      const entries = Array.from({ length: 60 }, (_, turn) =>
        turn % 3 ? charge(key, 9) : refund(key, 4),
      );
      const posting = runConcurrently(120, stores, (store, turn) =>
        store.ledger.post(entries[turn % 60]!),
      );
      const repairing = runConcurrently(8, stores, (store) =>
        store.ledger.repair(Number.MAX_SAFE_INTEGER),
      );
      await Promise.all([posting, repairing]);
      expect(await spent(key)).toBe(await listed(key));
      expect(await spent(key)).toBeLessThanOrEqual(200);
    });
  });
}
