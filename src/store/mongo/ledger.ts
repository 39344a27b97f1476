import { setImmediate as nextTurn } from 'node:timers/promises';
import { readCursor, rowsToRead, toPage } from '../cursor.ts';
import type { LedgerStore, LedgerSum } from '../store.ts';
import type { Engine } from './engine.ts';
import { olderThan } from './paging.ts';
import { post, settlePending, voidKey } from './posting.ts';
import type { Collections } from './schema.ts';
import { readEntry } from './shapes.ts';

/** Pending entries that a repair reads at once, and accounts that an audit does. */
const chunkSize = 200;

/** Entries that count: those applied, and those whose key is open. */
const counting = (openKeys: string[]) => ({
  $or: [{ state: 'applied' as const }, { _id: { $in: openKeys } }],
});

/** Balances and their ledger in MongoDB. How an entry is posted is in posting.ts. */
export function ledgerStore(engine: Engine): LedgerStore {
  return {
    postLedgerEntry: (entry) => engine.run((collections) => post(collections, entry)),

    voidLedgerKey: (key, userId, at) =>
      engine.run(async (collections) => {
        const entry = await voidKey(collections, key, userId, at);
        return entry && readEntry(entry);
      }),

    isLedgerKeyVoid: (key) =>
      engine.run(async ({ ledger }) => (await ledger.findOne({ _id: key, state: 'void' })) !== null),

    getLedgerEntry: (key) =>
      engine.run(async ({ ledger, users }) => {
        const entry = await ledger.findOne({ _id: key });
        if (!entry || entry.state === 'applied') return entry && readEntry(entry);
        const account = await users.findOne({ _id: entry.userId });
        if (account?.openKeys.includes(key)) return readEntry(entry);
        // A key that left the account between the two readings did so after its entry was marked.
        const applied = await ledger.findOne({ _id: key, state: 'applied' });
        return applied && readEntry(applied);
      }),

    listLedgerEntries: async (userId, page) => {
      const after = readCursor(page);
      const entries = await engine.run(async (collections) => {
        const { users, ledger } = collections;
        const openKeys =
          userId === null
            ? await openKeysOfAll(collections)
            : ((await users.findOne({ _id: userId }))?.openKeys ?? []);
        return ledger
          .find({ ...(userId === null ? {} : { userId }), $and: [olderThan(after), counting(openKeys)] })
          .sort({ createdAt: -1, _id: -1 })
          .limit(rowsToRead(page))
          .toArray();
      });
      return toPage(entries.map(readEntry), page, ({ createdAt, key }) => ({ at: createdAt, id: key }));
    },

    sumLedger: (userId, since) =>
      engine.run(async ({ users, ledger }) => {
        const account = await users.findOne({ _id: userId });
        const sums = ledger.aggregate<LedgerSum>([
          { $match: { userId, createdAt: { $gte: since }, ...counting(account?.openKeys ?? []) } },
          {
            $group: {
              _id: {
                day: { $subtract: ['$createdAt', { $mod: ['$createdAt', 86_400_000] }] },
                type: '$type',
              },
              amount: { $sum: '$amount' },
              entries: { $sum: 1 },
            },
          },
          { $project: { _id: 0, day: '$_id.day', type: '$_id.type', amount: 1, entries: 1 } },
        ]);
        return sums.toArray();
      }),

    repairLedger: (before) =>
      engine.run(async (collections) => {
        let repaired = 0;
        for (;;) {
          const pending = await collections.ledger
            .find({ state: 'pending', createdAt: { $lt: before } })
            .limit(chunkSize)
            .toArray();
          let settled = 0;
          for (const entry of pending) if (await settlePending(collections, entry)) settled += 1;
          repaired += settled;
          // What stays pending then is being posted by others at this moment.
          if (pending.length < chunkSize || settled === 0) return repaired;
        }
      }),

    auditAccounts: async function* () {
      let after = '';
      for (;;) {
        const found = await engine.run(({ users }) =>
          users
            .find({ _id: { $gt: after } }, { projection: { _id: 1 } })
            .sort({ _id: 1 })
            .limit(chunkSize)
            .toArray(),
        );
        for (const { _id } of found) yield await engine.run((collections) => auditAccount(collections, _id));
        const last = found.at(-1);
        if (!last) return;
        after = last._id;
      }
    },
  };
}

/**
 * Keys of pending entries that are in balances. One that was pending at the first reading and whose key is
 * not open at the second was either never posted, or is marked applied by now.
 */
async function openKeysOfAll({ users, ledger }: Collections): Promise<string[]> {
  const pending = await ledger
    .find({ state: 'pending', createdAt: { $gte: 0 } }, { projection: { userId: 1 } })
    .toArray();
  const keys = new Set(pending.map(({ _id }) => _id));
  const owners = [...new Set(pending.map(({ userId }) => userId))];
  const accounts = await users.find({ _id: { $in: owners } }, { projection: { openKeys: 1 } }).toArray();
  return accounts.flatMap(({ openKeys }) => openKeys.filter((key) => keys.has(key)));
}

/** Adds up an account between two readings of it that are the same: nothing was posted meanwhile. */
async function auditAccount({ users, ledger }: Collections, userId: string) {
  for (;;) {
    const before = (await users.findOne({ _id: userId }))!;
    const [total] = await ledger
      .aggregate<{ sum: number; entries: number }>([
        { $match: { userId, ...counting(before.openKeys) } },
        { $group: { _id: null, sum: { $sum: '$amount' }, entries: { $sum: 1 } } },
      ])
      .toArray();
    // A key is only added, or taken out with the epoch raised: the two tell of any change.
    const after = (await users.findOne({ _id: userId }))!;
    if (after.epoch === before.epoch && after.openKeys.length === before.openKeys.length) {
      return { userId, balance: before.balance, sum: total?.sum ?? 0, entries: total?.entries ?? 0 };
    }
    await nextTurn();
  }
}
