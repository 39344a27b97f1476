import { setImmediate as nextTurn } from 'node:timers/promises';
import { readCursor, rowsToRead, toPage } from '../cursor.ts';
import type { LedgerStore } from '../store.ts';
import type { Engine } from './engine.ts';
import { olderThan } from './paging.ts';
import { post, settlePending } from './posting.ts';
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
      const entries = await engine.run(async ({ users, ledger }) => {
        const account = await users.findOne({ _id: userId });
        return ledger
          .find({ userId, $and: [olderThan(after), counting(account?.openKeys ?? [])] })
          .sort({ createdAt: -1, _id: -1 })
          .limit(rowsToRead(page))
          .toArray();
      });
      return toPage(entries.map(readEntry), page, ({ createdAt, key }) => ({ at: createdAt, id: key }));
    },

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
