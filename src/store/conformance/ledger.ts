import { expect, test } from 'vitest';
import { newId } from '../../base/id.ts';
import type { LedgerEntry } from '../documents.ts';
import type { Store } from '../store.ts';
import { anEntry, aTime, aUser } from './samples.ts';
import { allPages, collect, type OpenStores, runConcurrently, setUpStores } from './stores.ts';

/** Balances and their ledger. */
export function ledgerConformance(open: OpenStores): void {
  const stores = setUpStores(open);
  const userWith = async (credits: number): Promise<string> => {
    const user = aUser();
    await stores.store.users.insert(user);
    if (credits > 0) await stores.store.ledger.post(anEntry(user.id, credits));
    return user.id;
  };
  const charge = (userId: string, amount: number, fields: Partial<LedgerEntry> = {}) =>
    anEntry(userId, -amount, {
      key: `charge:${newId()}`,
      type: 'charge',
      jobId: newId(),
      ...fields,
    });

  test('an entry changes the balance by its amount and is listed', async () => {
    const userId = await userWith(0);
    const grant = anEntry(userId, 100, { note: 'wel$come. ☃' });
    expect(await stores.store.ledger.post(grant)).toEqual({ posted: true, balance: 100 });
    const paid = charge(userId, 30, { createdAt: aTime + 1 });
    expect(await stores.other.ledger.post(paid)).toEqual({ posted: true, balance: 70 });
    expect((await stores.store.users.get(userId))?.balance).toBe(70);
    expect(await stores.store.ledger.get(paid.key)).toEqual(paid);
    expect((await stores.store.ledger.list({ userId }, { limit: 10 })).items).toEqual([
      paid,
      grant,
    ]);
  });

  test('a second post with the same key changes nothing and returns posted', async () => {
    const userId = await userWith(10);
    const paid = charge(userId, 10);
    await stores.store.ledger.post(paid);
    expect(await stores.other.ledger.post(paid)).toEqual({ posted: true, balance: 0 });
    expect(await stores.store.ledger.post({ ...paid, amount: -500 })).toEqual({
      posted: true,
      balance: 0,
    });
    expect(await stores.store.ledger.get(paid.key)).toEqual(paid);
  });

  test('a charge that exceeds the balance changes nothing, and can be posted once it is covered', async () => {
    const userId = await userWith(9);
    const short = charge(userId, 10);
    expect(await stores.store.ledger.post(short)).toEqual({ posted: false, balance: 9 });
    expect(await stores.store.ledger.get(short.key)).toBeNull();
    expect((await stores.store.ledger.list({ userId }, { limit: 10 })).items).toHaveLength(1);
    await stores.store.ledger.post(anEntry(userId, 1, { createdAt: aTime + 5 }));
    const again = { ...short, createdAt: aTime + 10 };
    expect(await stores.store.ledger.post(again)).toEqual({ posted: true, balance: 0 });
    expect((await stores.store.ledger.list({ userId }, { limit: 1 })).items).toEqual([again]);
  });

  test('a refused charge does not reserve its key for its amount', async () => {
    const userId = await userWith(9);
    const short = charge(userId, 10);
    await stores.store.ledger.post(short);
    const less = { ...short, amount: -4 };
    expect(await stores.store.ledger.post(less)).toEqual({ posted: true, balance: 5 });
    expect(await stores.store.ledger.get(short.key)).toEqual(less);
  });

  test('voidLedgerKey() blocks every later post of the key', async () => {
    const userId = await userWith(10);
    const paid = charge(userId, 10);
    expect(await stores.store.ledger.isVoid(paid.key)).toBe(false);
    expect(await stores.store.ledger.voidKey(paid.key, userId, aTime)).toBeNull();
    expect(await stores.other.ledger.voidKey(paid.key, userId, aTime)).toBeNull();
    expect(await stores.other.ledger.isVoid(paid.key)).toBe(true);
    await expect(stores.other.ledger.post(paid)).rejects.toMatchObject({ code: 'conflict' });
    expect(await stores.store.ledger.repair(aTime + 1_000_000)).toBe(0);
    await expect(stores.store.ledger.post(paid)).rejects.toMatchObject({ code: 'conflict' });
    expect(await stores.store.ledger.get(paid.key)).toBeNull();
    expect((await stores.store.ledger.list({ userId }, { limit: 9 })).items).toHaveLength(1);
    expect((await stores.store.users.get(userId))?.balance).toBe(10);
    await expectBalanced(stores.store, userId);
  });

  test('voidLedgerKey() returns a posted entry unchanged', async () => {
    const userId = await userWith(10);
    const paid = charge(userId, 4);
    await stores.store.ledger.post(paid);
    expect(await stores.other.ledger.voidKey(paid.key, userId, aTime)).toEqual(paid);
    expect(await stores.store.ledger.isVoid(paid.key)).toBe(false);
    expect(await stores.store.ledger.post(paid)).toEqual({ posted: true, balance: 6 });
    await expectBalanced(stores.store, userId);
  });

  test('voidLedgerKey() blocks a refused charge from being posted once it is covered', async () => {
    const userId = await userWith(3);
    const short = charge(userId, 10);
    await stores.store.ledger.post(short);
    expect(await stores.store.ledger.voidKey(short.key, userId, aTime)).toBeNull();
    await stores.store.ledger.post(anEntry(userId, 100));
    await expect(stores.store.ledger.post(short)).rejects.toMatchObject({ code: 'conflict' });
    await expectBalanced(stores.store, userId);
  });

  test('voidLedgerKey() and concurrent posts agree on each key', async () => {
    const userId = await userWith(1_000);
    const charges = Array.from({ length: 20 }, () => charge(userId, 10));
    const posting = Promise.allSettled(charges.map((entry) => stores.store.ledger.post(entry)));
    const voiding = Promise.all(
      charges.map(({ key }) => stores.other.ledger.voidKey(key, userId, aTime)),
    );
    const [posted, kept] = await Promise.all([posting, voiding]);
    for (const [at, entry] of charges.entries()) {
      expect(kept[at]).toEqual(posted[at]!.status === 'fulfilled' ? entry : null);
      expect(await stores.store.ledger.get(entry.key)).toEqual(kept[at]);
    }
    await expectBalanced(stores.store, userId);
  });

  test('posting for an unknown user returns not_found', async () => {
    const entry = anEntry(newId(), 5);
    await expect(stores.store.ledger.post(entry)).rejects.toMatchObject({ code: 'not_found' });
    expect(await stores.store.ledger.get(entry.key)).toBeNull();
  });

  test('200 concurrent posts of the same key count once', async () => {
    const userId = await userWith(0);
    const grant = anEntry(userId, 7);
    const results = await runConcurrently(200, stores, (store) => store.ledger.post(grant));
    expect(new Set(results.map(({ posted, balance }) => `${posted} ${balance}`))).toEqual(
      new Set(['true 7']),
    );
    expect((await stores.store.users.get(userId))?.balance).toBe(7);
  });

  test('200 concurrent posts of different keys all count', async () => {
    const userId = await userWith(0);
    await runConcurrently(200, stores, (store, turn) =>
      store.ledger.post(anEntry(userId, turn + 1)),
    );
    expect((await stores.store.users.get(userId))?.balance).toBe(20_100);
    expect(await allPages(64, (page) => stores.store.ledger.list({ userId }, page))).toHaveLength(
      200,
    );
    await expectBalanced(stores.store, userId);
  });

  test('concurrent charges never exceed the balance', async () => {
    const userId = await userWith(100);
    const results = await runConcurrently(50, stores, (store) =>
      store.ledger.post(charge(userId, 10)),
    );
    expect(results.filter(({ posted }) => posted)).toHaveLength(10);
    expect((await stores.store.users.get(userId))?.balance).toBe(0);
    await expectBalanced(stores.store, userId);
  });

  test('keys posted long ago are still known', async () => {
    const userId = await userWith(0);
    const entries = Array.from({ length: 150 }, () => anEntry(userId, 1));
    for (const entry of entries) await stores.store.ledger.post(entry);
    for (const entry of entries.slice(0, 20)) await stores.other.ledger.post(entry);
    expect((await stores.store.users.get(userId))?.balance).toBe(150);
    await expectBalanced(stores.store, userId);
  });

  test('repair concurrent with posts loses nothing and counts nothing twice', async () => {
    const userId = await userWith(50);
    const entries = Array.from({ length: 60 }, (_, turn) =>
      turn % 3 === 0 ? charge(userId, 9) : anEntry(userId, 2),
    );
    const posting = runConcurrently(180, stores, (store, turn) =>
      store.ledger.post(entries[turn % 60]!),
    );
    const repairing = runConcurrently(12, stores, (store) => store.ledger.repair(aTime + 1));
    const [results] = await Promise.all([posting, repairing]);
    await stores.store.ledger.repair(aTime + 1);
    const posted = entries.filter((_, turn) =>
      results.some((result, at) => at % 60 === turn && result.posted),
    );
    const listed = await allPages(25, (page) => stores.store.ledger.list({ userId }, page));
    expect(listed.map(({ key }) => key)).toEqual(
      expect.arrayContaining(posted.map(({ key }) => key)),
    );
    expect(listed).toHaveLength(posted.length + 1);
    await expectBalanced(stores.store, userId);
  });

  test('entries are listed newest first, then by key, across pages', async () => {
    const userId = await userWith(0);
    const entries = Array.from({ length: 9 }, (_, turn) =>
      anEntry(userId, turn + 1, {
        key: `grant:${userId}:${turn}`,
        createdAt: aTime + Math.floor(turn / 4),
      }),
    );
    for (const entry of entries) await stores.store.ledger.post(entry);
    const listed = await allPages(2, (page) => stores.store.ledger.list({ userId }, page));
    expect(listed).toEqual(entries.toReversed());
  });

  test('posted entries of all users are listed together', async () => {
    const [one, other] = [await userWith(0), await userWith(0)];
    const later = aTime + 1_000_000;
    const entries = Array.from({ length: 7 }, (_, turn) =>
      anEntry(turn % 2 === 0 ? one : other, turn + 1, {
        key: `grant:all:${turn}`,
        createdAt: later + Math.floor(turn / 3),
      }),
    );
    for (const entry of entries) await stores.store.ledger.post(entry);
    await stores.store.ledger.post(charge(one, 1_000, { createdAt: later }));
    const all = await allPages(3, (page) => stores.other.ledger.list({}, page));
    expect(all.filter(({ createdAt }) => createdAt >= later)).toEqual(entries.toReversed());
    expect(new Set(all.map(({ key }) => key)).size).toBe(all.length);
    expect(all.map(({ createdAt }) => createdAt)).toEqual(
      all.map(({ createdAt }) => createdAt).toSorted((first, second) => second - first),
    );
  });

  test('entries are summed by UTC day and type', async () => {
    const userId = await userWith(0);
    const day = Date.UTC(2030, 0, 7);
    const dayMs = 86_400_000;
    const post = (entry: LedgerEntry) => stores.store.ledger.post(entry);
    await post(anEntry(userId, 500, { createdAt: day - 1 }));
    await post(anEntry(userId, 70, { createdAt: day }));
    await post(anEntry(userId, -20, { createdAt: day + 1.5 }));
    await post(charge(userId, 30, { createdAt: day + dayMs - 1 }));
    await post(charge(userId, 10, { createdAt: day + dayMs - 1 }));
    await post(anEntry(userId, 15, { type: 'refund', createdAt: day + dayMs }));
    await post(charge(userId, 9_999, { createdAt: day + dayMs }));
    await post(anEntry(await userWith(0), 12, { createdAt: day }));
    const sums = (await stores.other.ledger.sum(userId, day)).toSorted(
      (one, other) => one.day - other.day || (one.type < other.type ? -1 : 1),
    );
    expect(sums).toEqual([
      { day, type: 'charge', amount: -40, entries: 2 },
      { day, type: 'grant', amount: 50, entries: 2 },
      { day: day + dayMs, type: 'refund', amount: 15, entries: 1 },
    ]);
    expect(await stores.store.ledger.sum(userId, day + dayMs + 1)).toEqual([]);
  });

  test('the audit yields every account once, with and without entries', async () => {
    const userId = await userWith(0);
    const audited = await collect(stores.store.ledger.audit());
    expect(new Set(audited.map((account) => account.userId)).size).toBe(audited.length);
    expect(audited.filter(({ balance, sum }) => balance !== sum)).toEqual([]);
    expect(audited.find((account) => account.userId === userId)).toEqual({
      userId,
      balance: 0,
      sum: 0,
      entries: 0,
    });
  });

  test('the audit detects a balance that differs from the sum of entries', async () => {
    const user = aUser({ balance: 5 });
    await stores.store.users.insert(user);
    const audited = await collect(stores.store.ledger.audit());
    const found = audited.find(({ userId }) => userId === user.id);
    expect(found).toEqual({ userId: user.id, balance: 5, sum: 0, entries: 0 });
  });

  test('the audit yields every account once, even across its internal pages', async () => {
    const userIds = new Set<string>();
    for (let count = 0; count < 201; count += 1) userIds.add(await userWith(1));
    const audited = (await collect(stores.store.ledger.audit())).map(({ userId }) => userId);
    expect(audited.filter((userId) => userIds.has(userId)).toSorted()).toEqual(
      [...userIds].toSorted(),
    );
  });
}

async function expectBalanced(store: Store, userId: string): Promise<void> {
  const entries = await allPages(100, (page) => store.ledger.list({ userId }, page));
  const account = (await collect(store.ledger.audit())).find(
    (audited) => audited.userId === userId,
  );
  const sum = entries.reduce((total, { amount }) => total + amount, 0);
  expect(account).toEqual({ userId, balance: sum, sum, entries: entries.length });
}
