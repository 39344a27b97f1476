import { Fault } from '../../base/fault.ts';
import { newId } from '../../base/id.ts';
import type { LedgerEntry } from '../documents.ts';
import { voided } from '../ledger-fault.ts';
import type { PostingResult } from '../store.ts';
import { unlessDuplicate } from './engine.ts';
import type { Collections, LedgerDocument } from './schema.ts';

/*
 * How an entry gets into the ledger and the balance exactly once, with updates of one document each.
 * Any step may be the last before a crash, or wait for any length of time before the next.
 *
 *   1  read the account: its epoch and its open keys
 *   2  write the entry as pending, or put a new stamp on the pending one that is there
 *   3  if the key is open, the entry is in the balance: go on with 5
 *   4  in one update of the account, if its epoch is as read and the key is not open: change the
 *      balance and open the key. A charge asks for a sufficient balance in the same update
 *   5  mark the entry applied
 *   6  when many keys are open, take out those of applied entries and raise the epoch
 *
 * An entry counts while it is applied or its key is open. Why this holds:
 * - Not twice: a key leaves `openKeys` only after its entry was marked (6), and the epoch rises with
 *   it. Who read the account before that fails at 4; who reads it after that finds the entry applied
 *   at 2, because 2 comes after 1.
 * - Not half: a pending entry whose key is not open is not in the balance, and repair removes it.
 *   It raises the epoch first, if the key is not open, so that who read the account before fails at
 *   4 and starts over; then it removes the entry, if that is pending under the stamp that repair
 *   saw. The stamp is for who reads the account after the epoch rose: they come by 2 before 4, and
 *   their new stamp keeps the entry. Without it, repair could remove an entry just after 4.
 *
 * A key is voided by a document of its own in the state `void`, which no step changes. A pending entry
 * becomes void in the way that repair removes it, so that no post that began earlier passes 4.
 */

/** Open keys that an account may have before those of applied entries are taken out. */
const openKeyLimit = 64;

/** Posts an entry (LedgerStore.postLedgerEntry). */
export async function post(collections: Collections, entry: LedgerEntry): Promise<PostingResult> {
  const { users, ledger } = collections;
  const { key, userId, amount } = entry;
  for (;;) {
    const account = await users.findOne({ _id: userId });
    if (!account) throw new Fault('not_found', `there is no user ${userId}`);
    const pending = await writePending(ledger, entry);
    if (pending === 'applied') {
      const now = await users.findOne({ _id: userId });
      return { posted: true, balance: now!.balance };
    }
    if (pending === 'void') throw voided(key);
    if (pending === 'gone') continue;
    if (pending.userId !== userId || pending.amount !== amount) {
      // Left by a refused call with the same key that wanted something else.
      await settlePending(collections, pending);
      continue;
    }
    if (account.openKeys.includes(key)) {
      await markApplied(ledger, key);
      continue;
    }
    const covered = amount < 0 ? { balance: { $gte: -amount } } : {};
    const changed = await users.findOneAndUpdate(
      { _id: userId, epoch: account.epoch, openKeys: { $ne: key }, ...covered },
      { $inc: { balance: amount }, $push: { openKeys: key } },
      { returnDocument: 'after' },
    );
    if (changed) {
      await markApplied(ledger, key);
      if (changed.openKeys.length > openKeyLimit) await closeKeys(collections, userId, changed.openKeys);
      return { posted: true, balance: changed.balance };
    }
    const now = await users.findOne({ _id: userId });
    const same = now && now.epoch === account.epoch && !now.openKeys.includes(key);
    // The pending entry stays: it does not count, and a later call with its key goes on with it.
    if (same && now.balance + amount < 0) return { posted: false, balance: now.balance };
  }
}

/** Step 2. `gone`: another call removed the entry meanwhile, so that the account is to be read again. */
async function writePending(
  ledger: Collections['ledger'],
  { key, ...entry }: LedgerEntry,
): Promise<LedgerDocument | 'applied' | 'void' | 'gone'> {
  const stamp = newId();
  const document: LedgerDocument = { _id: key, ...entry, state: 'pending', stamp };
  if (await unlessDuplicate(ledger.insertOne(document))) return document;
  // All but what step 4 takes: that must stay what every call with this key sees.
  const { userId: _, amount: __, ...fields } = entry;
  const stamped = await ledger.findOneAndUpdate(
    { _id: key, state: 'pending' },
    { $set: { ...fields, stamp } },
    { returnDocument: 'after' },
  );
  if (stamped) return stamped;
  const state = (await ledger.findOne({ _id: key }))?.state;
  return state === undefined || state === 'pending' ? 'gone' : state;
}

/** Step 5. Tells whether it was this call that marked it. */
async function markApplied(ledger: Collections['ledger'], key: string): Promise<boolean> {
  const { modifiedCount } = await ledger.updateOne(
    { _id: key, state: 'pending' },
    { $set: { state: 'applied' } },
  );
  return modifiedCount === 1;
}

/** Step 6. */
async function closeKeys({ users, ledger }: Collections, userId: string, open: string[]): Promise<void> {
  const applied = await ledger
    .find({ _id: { $in: open }, state: 'applied' }, { projection: { _id: 1 } })
    .toArray();
  const keys = applied.map(({ _id }) => _id);
  if (keys.length > 0)
    await users.updateOne({ _id: userId }, { $pullAll: { openKeys: keys }, $inc: { epoch: 1 } });
}

/**
 * Finishes a pending entry whose key is open, removes one whose key is not. `entry` is as it was
 * read, with its stamp. False when another call was faster or is posting it now.
 */
export async function settlePending(collections: Collections, entry: LedgerDocument): Promise<boolean> {
  const { ledger } = collections;
  if (!(await bar(collections, entry))) return markApplied(ledger, entry._id);
  const removed = await ledger.deleteOne({ _id: entry._id, state: 'pending', stamp: entry.stamp });
  return removed.deletedCount === 1;
}

/** Voids a key, unless its entry is in the balance: returns that entry then (LedgerStore.voidLedgerKey). */
export async function voidKey(
  collections: Collections,
  key: string,
  userId: string,
  at: number,
): Promise<LedgerDocument | null> {
  const { ledger } = collections;
  for (;;) {
    const entry = await ledger.findOne({ _id: key });
    if (entry === null) {
      const document: LedgerDocument = {
        _id: key,
        userId,
        amount: 0,
        type: 'charge',
        jobId: null,
        note: '',
        createdAt: at,
        state: 'void',
        stamp: newId(),
      };
      if (await unlessDuplicate(ledger.insertOne(document))) return null;
    } else if (entry.state === 'void') return null;
    else if (entry.state === 'applied') return entry;
    else if (await bar(collections, entry)) {
      await ledger.updateOne(
        { _id: key, state: 'pending', stamp: entry.stamp },
        { $set: { state: 'void', amount: 0 } },
      );
    } else await markApplied(ledger, key);
  }
}

/** Makes every post of the entry that began earlier start over; false when the entry is in the balance. */
async function bar({ users }: Collections, { _id, userId }: LedgerDocument): Promise<boolean> {
  const barred = await users.updateOne({ _id: userId, openKeys: { $ne: _id } }, { $inc: { epoch: 1 } });
  return barred.matchedCount === 1;
}
