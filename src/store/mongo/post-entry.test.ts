import { MongoClient } from 'mongodb';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { findMongo } from '../../../test/engines/mongo.ts';
import { haltBefore } from '../../../test/support/faults/halting.ts';
import { newId } from '../../base/id.ts';
import { aKey, anEntry, aTime, aUser } from '../conformance/samples.ts';
import { collect } from '../conformance/stores.ts';
import type { ApiKey, LedgerEntry } from '../documents.ts';
import type { Store } from '../store.ts';
import { openMongoStore } from './open.ts';
import { post, settlePending, voidKey } from './post-entry.ts';
import { collectionsOf } from './schema.ts';

const mongo = await findMongo();
const always = Number.MAX_SAFE_INTEGER;

/**
 * Steps of an uncontended post: read the account, write the entry, change the balance, mark the
 * entry.
 */
const postSteps = [1, 2, 3, 4];
/** Steps that settle an entry whose key is not open: raise the revision, delete the entry. */
const settleSteps = [1, 2];

describe.skipIf('missing' in mongo)(
  `posting in MongoDB${'missing' in mongo ? ` (${mongo.missing})` : ''}`,
  () => {
    if ('missing' in mongo) return;
    const client = new MongoClient(mongo.uri);
    const collections = collectionsOf(client.db());
    let store: Store;
    beforeAll(() => {
      store = openMongoStore({ uri: mongo.uri });
    });
    afterAll(async () => {
      // Invariant after every test: each account equals the sum of its entries.
      const audited = await collect(store.ledger.audit());
      expect(audited.filter(({ balance, sum }) => balance !== sum)).toEqual([]);
      expect(audited.length).toBeGreaterThan(20);
      await client.close();
      await store.close();
      await mongo.stop();
    });

    const userWith = async (credits: number): Promise<string> => {
      const user = aUser();
      await store.users.insert(user);
      if (credits > 0) await store.ledger.post(anEntry(user.id, credits));
      return user.id;
    };
    /** Balance and sum of the entries, including the initial grant. */
    const state = async (userId: string) => {
      const { items } = await store.ledger.list({ userId }, { limit: 500 });
      return {
        balance: (await store.users.get(userId))!.balance,
        sum: items.reduce((sum, { amount }) => sum + amount, 0),
      };
    };
    const expectBalance = async (userId: string, balance: number) => {
      expect(await state(userId)).toEqual({ balance, sum: balance });
    };

    describe.each(postSteps)('a post that ends before its step %i', (step) => {
      test.each([5, -5])(
        'of %i is applied or not at all, and a second call completes it',
        async (amount) => {
          const userId = await userWith(20);
          const entry = anEntry(userId, amount);
          await haltBefore(step, collections, (halting) => post(halting, entry)).reached;
          await expectBalance(userId, step === 4 ? 20 + amount : 20);
          expect((await store.ledger.get(entry.key)) !== null).toBe(step === 4);
          expect(await store.ledger.post(entry)).toEqual({ posted: true, balance: 20 + amount });
          await expectBalance(userId, 20 + amount);
          expect(await store.ledger.post(entry)).toEqual({ posted: true, balance: 20 + amount });
        },
      );

      test('is completed or removed by a repair, and can be repeated after it', async () => {
        const userId = await userWith(20);
        const entry = anEntry(userId, 5);
        await haltBefore(step, collections, (halting) => post(halting, entry)).reached;
        expect(await store.ledger.repair(aTime)).toBe(0);
        expect(await store.ledger.repair(always)).toBe(step <= 2 ? 0 : 1);
        expect(await collections.ledger.countDocuments({ state: 'pending' })).toBe(0);
        await expectBalance(userId, step === 4 ? 25 : 20);
        await store.ledger.post(entry);
        await expectBalance(userId, 25);
      });
    });

    describe.each(postSteps)('a post that pauses before its step %i', (step) => {
      const others: [string, (entry: LedgerEntry) => Promise<unknown>][] = [
        ['a repair', () => store.ledger.repair(always)],
        ['the same post', (entry) => store.ledger.post(entry)],
        [
          'the same post and a repair',
          (entry) => store.ledger.post(entry).then(() => store.ledger.repair(always)),
        ],
        [
          'a repair and the same post',
          (entry) => store.ledger.repair(always).then(() => store.ledger.post(entry)),
        ],
        [
          'the same post and so many others that its key is closed',
          async (entry) => {
            await store.ledger.post(entry);
            for (let turn = 0; turn < 70; turn += 1)
              await store.ledger.post(anEntry(entry.userId, 1));
            expect(
              (await collections.users.findOne({ _id: entry.userId }))!.openKeys,
            ).not.toContain(entry.key);
          },
        ],
      ];
      test.each(others)('during %s counts once', async (_, act) => {
        const userId = await userWith(20);
        const entry = anEntry(userId, -7);
        const paused = haltBefore(step, collections, (halting) => post(halting, entry));
        await paused.reached;
        await act(entry);
        const between = await state(userId);
        expect(between.balance).toBe(between.sum);
        paused.resume();
        expect(await paused.result).toMatchObject({ posted: true });
        const { items } = await store.ledger.list({ userId }, { limit: 500 });
        expect(items.filter(({ key }) => key === entry.key)).toEqual([entry]);
        const after = await state(userId);
        expect(after.balance).toBe(after.sum);
        expect((await collections.users.findOne({ _id: userId }))!.balance).toBe(after.balance);
      });
    });

    const pairs = settleSteps.flatMap((settling) =>
      postSteps.map((posting) => ({ settling, posting })),
    );
    test.each(pairs)(
      'a repair suspended before its step $settling while a post ends before its step $posting leaves both consistent',
      async ({ settling, posting }) => {
        const userId = await userWith(20);
        const entry = anEntry(userId, -5);
        await haltBefore(3, collections, (halting) => post(halting, entry)).reached;
        const pending = (await collections.ledger.findOne({ _id: entry.key }))!;
        const repair = haltBefore(settling, collections, (halting) =>
          settlePending(halting, pending),
        );
        await repair.reached;
        // Its step 2 changes only the stamp, so it takes one more step than an uncontended post.
        await haltBefore(posting === 1 ? 1 : posting + 1, collections, (halting) =>
          post(halting, entry),
        ).reached;
        const between = await state(userId);
        expect(between.balance).toBe(between.sum);
        repair.resume();
        await repair.result;
        const after = await state(userId);
        expect(after).toEqual(between);
        await store.ledger.repair(always);
        expect(await state(userId)).toEqual(between);
        expect(await store.ledger.post(entry)).toEqual({ posted: true, balance: 15 });
        await expectBalance(userId, 15);
      },
    );

    describe.each(postSteps)('a post that pauses before its step %i', (step) => {
      test('during voidKey() is posted or refused, consistent with the result of voidKey()', async () => {
        const userId = await userWith(20);
        const entry = anEntry(userId, -5);
        const paused = haltBefore(step, collections, (halting) => post(halting, entry));
        await paused.reached;
        const kept = await voidKey(collections, entry.key, userId, aTime);
        expect(kept !== null).toBe(step === 4);
        paused.resume();
        if (kept === null) await expect(paused.result).rejects.toMatchObject({ code: 'conflict' });
        else expect(await paused.result).toEqual({ posted: true, balance: 15 });
        await expectBalance(userId, kept === null ? 20 : 15);
      });
    });

    test.each([2, 3].flatMap((voiding) => postSteps.map((posting) => ({ voiding, posting }))))(
      'voidKey() that pauses before its step $voiding while a post ends before its step $posting says what holds',
      async ({ voiding, posting }) => {
        const userId = await userWith(20);
        const entry = anEntry(userId, -5);
        await haltBefore(3, collections, (halting) => post(halting, entry)).reached;
        // Reads the entry, raises the revision, and voids the entry.
        const paused = haltBefore(voiding, collections, (halting) =>
          voidKey(halting, entry.key, userId, aTime),
        );
        await paused.reached;
        await haltBefore(posting === 1 ? 1 : posting + 1, collections, (halting) =>
          post(halting, entry),
        ).reached;
        paused.resume();
        const kept = await paused.result;
        await expectBalance(userId, kept === null ? 20 : 15);
        const again = await Promise.allSettled([store.ledger.post(entry)]);
        expect(again[0]!.status).toBe(kept === null ? 'rejected' : 'fulfilled');
        await expectBalance(userId, kept === null ? 20 : 15);
      },
    );

    test('a refused charge leaves a pending entry that does not count until a repair removes it', async () => {
      const userId = await userWith(3);
      const entry = anEntry(userId, -5);
      expect(await store.ledger.post(entry)).toEqual({ posted: false, balance: 3 });
      expect(await collections.ledger.findOne({ _id: entry.key })).toMatchObject({
        state: 'pending',
      });
      await expectBalance(userId, 3);
      expect(await store.ledger.repair(always)).toBe(1);
      expect(await collections.ledger.findOne({ _id: entry.key })).toBeNull();
      await expectBalance(userId, 3);
    });

    describe('an entry of a key with a credit ceiling', () => {
      /** Steps of a post that reads the key first. */
      const keyedSteps = [1, ...postSteps.map((step) => step + 1)];
      const limited = async (creditCeiling: number) => {
        const key = aKey({ userId: await userWith(100), creditCeiling });
        await store.apiKeys.insert(key);
        return key;
      };
      const charge = ({ userId, id }: ApiKey, amount: number) =>
        anEntry(userId, -amount, { key: `charge:${newId()}`, type: 'charge', keyId: id });
      const spent = async ({ id }: ApiKey) => (await store.apiKeys.get(id))!.creditsSpent;

      test.each(keyedSteps)(
        'whose post ends before its step %i counts against both or neither',
        async (step) => {
          const key = await limited(10);
          const entry = charge(key, 7);
          await haltBefore(step, collections, (halting) => post(halting, entry)).reached;
          const counts = step === 5;
          expect(await spent(key)).toBe(counts ? 7 : 0);
          await expectBalance(key.userId, counts ? 93 : 100);
          await store.ledger.repair(always);
          expect(await spent(key)).toBe(counts ? 7 : 0);
          expect(await store.ledger.post(entry)).toEqual({ posted: true, balance: 93 });
          expect(await spent(key)).toBe(7);
          expect(await store.ledger.post(charge(key, 4))).toMatchObject({ posted: false });
        },
      );

      test.each(keyedSteps)(
        'whose post pauses before its step %i while another uses the ceiling up is refused',
        async (step) => {
          const key = await limited(10);
          const [entry, other] = [charge(key, 7), charge(key, 8)];
          const paused = haltBefore(step, collections, (halting) => post(halting, entry));
          await paused.reached;
          const first = step === 5 ? 7 : 8;
          expect(await store.ledger.post(other)).toMatchObject({ posted: step !== 5 });
          paused.resume();
          expect(await paused.result).toMatchObject({ posted: step === 5 });
          expect(await spent(key)).toBe(first);
          await expectBalance(key.userId, 100 - first);
        },
      );

      test('counts credits that the key had spent when its document was written', async () => {
        const key = {
          ...aKey({ userId: await userWith(100), creditCeiling: 10 }),
          creditsSpent: 6,
        };
        await store.apiKeys.insert(key);
        expect(await store.ledger.post(charge(key, 5))).toMatchObject({
          ceiling: { max: 10, spent: 6 },
        });
        expect(await store.ledger.post(charge(key, 4))).toMatchObject({ posted: true });
        expect(await spent(key)).toBe(10);
      });
    });

    test('open keys of an account stay few', async () => {
      const userId = await userWith(0);
      for (let turn = 0; turn < 200; turn += 1) await store.ledger.post(anEntry(userId, 1));
      expect(
        (await collections.users.findOne({ _id: userId }))!.openKeys.length,
      ).toBeLessThanOrEqual(64);
      await expectBalance(userId, 200);
    });
  },
);
