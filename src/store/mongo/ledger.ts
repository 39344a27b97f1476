import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Where } from '../collection.ts';
import type { Declaration } from '../declaration.ts';
import type { LedgerEntry } from '../documents.ts';
import {
  type AuditedAccount,
  type LedgerStore,
  type LedgerSum,
  ledgerDeclaration,
} from '../ledger.ts';
import { createCollection } from './collection.ts';
import type { MongoEngine } from './engine.ts';
import { post, settlePending, voidKey } from './post-entry.ts';
import type { MongoCollections } from './schema.ts';
import { readEntry } from './shapes.ts';

/** Pending entries per query of a repair, and accounts per query of an audit. */
const chunkSize = 200;

/** Maximum attempts to read an account to which entries are posted concurrently. */
const maxAuditAttempts = 100;

/** Filter for entries that count in the balance: applied ones, and those with an open key. */
const counting = (openKeys: string[]) => ({
  $or: [{ state: 'applied' as const }, { _id: { $in: openKeys } }],
});

/** Declaration that hides the entries which do not count, or are not marked yet. */
const visible = { ...ledgerDeclaration, hidden: { field: 'state', values: ['pending', 'void'] } };

/** Creates the MongoDB implementation of LedgerStore. The posting protocol is in posting.ts. */
export function ledgerStore(engine: MongoEngine): LedgerStore {
  const entries = createCollection<LedgerEntry>(engine, visible as Declaration);
  return {
    update: entries.update,

    get: async (key) => {
      await engine.run((collections) => markPosted(collections, { key: String(key) }));
      return entries.get(key);
    },

    find: async (where, options) => {
      await engine.run((collections) => markPosted(collections, where));
      return entries.find(where, options);
    },

    list: async (where, page, search) => {
      await engine.run((collections) => markPosted(collections, where));
      return entries.list(where, page, search);
    },

    post: (entry) => engine.run((collections) => post(collections, entry)),

    voidKey: (key, userId, at) =>
      engine.run(async (collections) => {
        const entry = await voidKey(collections, key, userId, at);
        return entry && readEntry(entry);
      }),

    isVoid: (key) =>
      engine.run(
        async ({ ledger }) => (await ledger.findOne({ _id: key, state: 'void' })) !== null,
      ),

    sum: (userId, since) =>
      engine.run(async (collections) => {
        await markPosted(collections, { userId });
        const sums = collections.ledger.aggregate<LedgerSum>([
          { $match: { userId, createdAt: { $gte: since }, state: 'applied' } },
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
          {
            $project: {
              _id: 0,
              day: '$_id.day',
              type: '$_id.type',
              amount: 1,
              entries: 1,
            },
          },
        ]);
        return sums.toArray();
      }),

    repair: (before) => engine.run((collections) => repairEntries(collections, before)),

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
        for (const { _id } of found)
          yield await engine.run((collections) => auditAccount(collections, _id));
        const last = found.at(-1);
        if (!last) return;
        after = last._id;
      }
    },
  };
}

/** Settles the entries from before a time that are pending. Returns their number. */
async function repairEntries(collections: MongoCollections, before: number): Promise<number> {
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
}

/**
 * Marks entries that are in balances as applied, as their posts will, so that they are found: those
 * with `key`, those of a user, or all. A key is open from the time at which its entry is in the
 * balance until the entry is marked, so that every entry which is in a balance before this call is
 * marked after it.
 */
async function markPosted(
  { users, ledger }: MongoCollections,
  { key, userId }: Pick<Where<LedgerEntry>, 'key' | 'userId'>,
): Promise<void> {
  const pending = { state: 'pending' as const, createdAt: { $gte: 0 } };
  const which = typeof key === 'string' ? { _id: key, ...pending } : pending;
  const owners =
    typeof userId === 'string'
      ? [userId]
      : (await ledger.find(which, { projection: { userId: 1 } }).toArray()).map(
          (entry) => entry.userId,
        );
  if (owners.length === 0) return;
  const accounts = await users
    .find({ _id: { $in: owners } }, { projection: { openKeys: 1 } })
    .toArray();
  const open = { _id: { $in: accounts.flatMap(({ openKeys }) => openKeys) }, ...pending };
  if ((await ledger.findOne(open, { projection: { _id: 1 } })) !== null)
    await ledger.updateMany(open, { $set: { state: 'applied' } });
}

/**
 * Sums up an account between two identical reads of it, which prove that nothing was posted
 * meanwhile. Gives up after `maxAuditAttempts`.
 */
async function auditAccount(
  { users, ledger }: MongoCollections,
  userId: string,
): Promise<AuditedAccount> {
  for (let attempt = 1; ; attempt += 1) {
    const before = (await users.findOne({ _id: userId }))!;
    const [total] = await ledger
      .aggregate<{ sum: number; entries: number }>([
        { $match: { userId, ...counting(before.openKeys) } },
        { $group: { _id: null, sum: { $sum: '$amount' }, entries: { $sum: 1 } } },
      ])
      .toArray();
    // Keys are added, or removed with a new revision, so these two detect any change.
    const after = (await users.findOne({ _id: userId }))!;
    if (after.revision === before.revision && after.openKeys.length === before.openKeys.length) {
      return {
        userId,
        balance: before.balance,
        sum: total?.sum ?? 0,
        entries: total?.entries ?? 0,
      };
    }
    if (attempt === maxAuditAttempts)
      return {
        userId,
        balance: after.balance,
        sum: null,
        entries: 0,
      };
    await nextTurn();
  }
}
