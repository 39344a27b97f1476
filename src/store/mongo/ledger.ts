import { setImmediate as nextTurn } from 'node:timers/promises';
import { type PageOptions, readCursor, rowsToRead, toPage } from '../cursor.ts';
import type { AuditedAccount, LedgerStore, LedgerSum } from '../ledger.ts';
import type { MongoEngine } from './engine.ts';
import { post, settlePending, voidKey } from './post-entry.ts';
import type { MongoCollections } from './schema.ts';
import { readEntry } from './shapes.ts';

/** Pending entries per query of a repair, and accounts per query of an audit. */
const chunkSize = 200;

/** Attempts to read an account that is posted to meanwhile. */
const maxAuditAttempts = 100;

/** Filter for entries that count in the balance: applied ones, and those with an open key. */
const counting = (openKeys: string[]) => ({
  $or: [{ state: 'applied' as const }, { _id: { $in: openKeys } }],
});

/** Filter for the entries of a page and the following ones in a list that is newest first. */
function olderThan(page: PageOptions) {
  const { at, id } = readCursor(page);
  return { $or: [{ createdAt: { $lt: at } }, { createdAt: at, _id: { $lt: id } }] };
}

/** Creates the MongoDB implementation of LedgerStore. The posting protocol is in posting.ts. */
export function ledgerStore(engine: MongoEngine): LedgerStore {
  return {
    post: (entry) => engine.run((collections) => post(collections, entry)),

    // MongoDB updates document by document, so that no other call waits.
    emptyNotes: (userId) =>
      engine.run(
        async ({ ledger }) =>
          (await ledger.updateMany({ userId, note: { $ne: '' } }, { $set: { note: '' } })).modifiedCount,
      ),

    voidKey: (key, userId, at) =>
      engine.run(async (collections) => {
        const entry = await voidKey(collections, key, userId, at);
        return entry && readEntry(entry);
      }),

    isVoid: (key) =>
      engine.run(async ({ ledger }) => (await ledger.findOne({ _id: key, state: 'void' })) !== null),

    get: (key) =>
      engine.run(async ({ ledger, users }) => {
        const entry = await ledger.findOne({ _id: key });
        if (!entry || entry.state === 'applied') return entry && readEntry(entry);
        const account = await users.findOne({ _id: entry.userId });
        if (account?.openKeys.includes(key)) return readEntry(entry);
        // A key is removed from the account only after its entry was marked as applied.
        const applied = await ledger.findOne({ _id: key, state: 'applied' });
        return applied && readEntry(applied);
      }),

    list: async ({ userId }, page) => {
      const entries = await engine.run(async (collections) => {
        const { users, ledger } = collections;
        const openKeys =
          userId === undefined
            ? await openKeysOfAll(collections)
            : ((await users.findOne({ _id: userId }))?.openKeys ?? []);
        return ledger
          .find({ ...(userId === undefined ? {} : { userId }), $and: [olderThan(page), counting(openKeys)] })
          .sort({ createdAt: -1, _id: -1 })
          .limit(rowsToRead(page))
          .toArray();
      });
      return toPage(entries.map(readEntry), page, ({ createdAt, key }) => ({ at: createdAt, id: key }));
    },

    sum: (userId, since) =>
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

    repair: (before) =>
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
          // Concurrent calls are posting the remaining ones.
          if (pending.length < chunkSize || settled === 0) return repaired;
        }
      }),

    audit: async function* () {
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
 * Returns the keys of pending entries that are in balances. An entry that was pending in the first query and
 * whose key is not open in the second was either never posted or has been marked as applied since.
 */
async function openKeysOfAll({ users, ledger }: MongoCollections): Promise<string[]> {
  const pending = await ledger
    .find({ state: 'pending', createdAt: { $gte: 0 } }, { projection: { userId: 1 } })
    .toArray();
  const keys = new Set(pending.map(({ _id }) => _id));
  const owners = [...new Set(pending.map(({ userId }) => userId))];
  const accounts = await users.find({ _id: { $in: owners } }, { projection: { openKeys: 1 } }).toArray();
  return accounts.flatMap(({ openKeys }) => openKeys.filter((key) => keys.has(key)));
}

/**
 * Sums up an account between two identical reads of it, which prove that nothing was posted meanwhile. Gives
 * up after `maxAuditAttempts`.
 */
async function auditAccount({ users, ledger }: MongoCollections, userId: string): Promise<AuditedAccount> {
  for (let attempt = 1; ; attempt += 1) {
    const before = (await users.findOne({ _id: userId }))!;
    const [total] = await ledger
      .aggregate<{ sum: number; entries: number }>([
        { $match: { userId, ...counting(before.openKeys) } },
        { $group: { _id: null, sum: { $sum: '$amount' }, entries: { $sum: 1 } } },
      ])
      .toArray();
    // Keys are added, or removed with a new epoch, so these two detect any change.
    const after = (await users.findOne({ _id: userId }))!;
    if (after.epoch === before.epoch && after.openKeys.length === before.openKeys.length) {
      return { userId, balance: before.balance, sum: total?.sum ?? 0, entries: total?.entries ?? 0 };
    }
    if (attempt === maxAuditAttempts) return { userId, balance: after.balance, sum: null, entries: 0 };
    await nextTurn();
  }
}
