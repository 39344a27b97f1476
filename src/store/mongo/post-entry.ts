import type { Filter } from 'mongodb';
import { newId } from '../../base/id.ts';
import { Fault } from '../../contract/fault.ts';
import type { LedgerEntry } from '../documents.ts';
import type { PostingResult, SpentCeiling } from '../ledger.ts';
import { voidedKeyFault } from '../ledger.ts';
import { unlessDuplicate } from './duplicates.ts';
import type { LedgerDocument, MongoCollections, UserDocument } from './schema.ts';

/*
 * Posts an entry to the ledger and the balance exactly once with updates of single documents. The
 * process may crash or be delayed between any two steps.
 *
 *   1  Read the account: its revision and its open keys.
 *   2  Insert the entry as pending, or put a new stamp on the existing pending one.
 *   3  If the key is open, the entry is in the balance: continue with 5.
 *   4  In one update of the account, if its revision is unchanged and the key is not open: change
 *      the balance and open the key. A charge also requires a sufficient balance, and that the
 *      credit ceiling of its API key covers it. The same update changes the credits that the key
 *      has spent, which are therefore in the account.
 *   5  Mark the entry as applied.
 *   6  If many keys are open, remove those of applied entries and increment the revision.
 *
 * An entry counts while it is applied or its key is open. Why this is correct:
 * - Never twice: a key leaves `openKeys` only after its entry was marked (6), together with an
 *   increment of the revision. A call that read the account before fails at 4. A call that reads it
 *   later finds the entry applied at 2, since 2 follows 1.
 * - Never half: a pending entry whose key is not open is not in the balance, and the repair deletes
 *   it. The repair first increments the revision if the key is not open, so that calls that read
 *   the account before fail at 4 and start over. Then it deletes the entry if it is still pending
 *   with the stamp that the repair read. A call that reads the account after the increment writes a
 *   new stamp at 2, before 4, which protects the entry. Without the stamp, the repair could delete
 *   an entry right after 4.
 *
 * A key is voided by a document in the state `void`, which no step changes. A pending entry becomes
 * void in the same way as the repair deletes it, so that no earlier post passes 4. See
 * docs/decisions/0003-ledger-protocol.md.
 */

/** Maximum open keys of an account before keys of applied entries are removed. */
const openKeyLimit = 64;

/** Posts an entry (LedgerStore.post). */
export async function post(
  collections: MongoCollections,
  entry: LedgerEntry,
): Promise<PostingResult> {
  const ceiling = await readCeiling(collections, entry.keyId);
  for (;;) {
    const result = await tryPost(collections, entry, ceiling);
    if (result !== null) return result;
  }
}

/** Makes one attempt at the steps. Returns null if another call interfered and they start over. */
async function tryPost(
  collections: MongoCollections,
  entry: LedgerEntry,
  ceiling: SpentCeiling | null,
): Promise<PostingResult | null> {
  const { users, ledger } = collections;
  const { key, userId } = entry;
  const account = await users.findOne({ _id: userId });
  if (!account) throw new Fault('not_found', `user ${userId} does not exist`);
  const pending = await writePending(ledger, entry);
  if (pending === 'void') throw voidedKeyFault(key);
  if (pending === 'deleted') return null;
  if (pending === 'applied') {
    const current = await users.findOne({ _id: userId });
    return { posted: true, balance: current!.balance };
  }
  if (!hasSameValues(pending, entry)) {
    // A rejected call with the same key and other values left it.
    await settlePending(collections, pending);
    return null;
  }
  if (account.openKeys.includes(key)) {
    await markApplied(ledger, key);
    return null;
  }
  const changed = await changeBalance(users, entry, account.revision, ceiling);
  if (changed === null) return explainRefusal(users, entry, account.revision, ceiling);
  await markApplied(ledger, key);
  if (changed.openKeys.length > openKeyLimit)
    await closeKeys(collections, userId, changed.openKeys);
  return { posted: true, balance: changed.balance };
}

/** Returns true if the fields that step 4 uses are the same. */
function hasSameValues(pending: LedgerDocument, { userId, amount, keyId }: LedgerEntry): boolean {
  return (
    pending.userId === userId && pending.amount === amount && (pending.keyId ?? null) === keyId
  );
}

/** Step 4. Returns null if the account has changed or does not cover a charge. */
function changeBalance(
  users: MongoCollections['users'],
  { key, userId, amount }: LedgerEntry,
  revision: number,
  ceiling: SpentCeiling | null,
) {
  const covered =
    amount < 0 ? { balance: { $gte: -amount }, ...coveredByCeiling(ceiling, amount) } : {};
  return users.findOneAndUpdate(
    {
      _id: userId,
      revision,
      openKeys: { $ne: key },
      ...covered,
    },
    {
      $inc: { balance: amount, ...(ceiling ? { [spentField(ceiling)]: -amount } : {}) },
      $push: { openKeys: key },
    },
    { returnDocument: 'after' },
  );
}

/**
 * Returns the result of a charge that the unchanged account does not cover. Null if it has changed.
 * The pending entry stays: it does not count, and a later call with its key reuses it.
 */
async function explainRefusal(
  users: MongoCollections['users'],
  { key, userId, amount, keyId }: LedgerEntry,
  revision: number,
  ceiling: SpentCeiling | null,
): Promise<PostingResult | null> {
  const current = await users.findOne({ _id: userId });
  const isUnchanged = current?.revision === revision && !current.openKeys.includes(key);
  if (!isUnchanged || amount > 0) return null;
  const { balance } = current;
  if (balance + amount < 0) return { posted: false, balance };
  if (ceiling === null) return null;
  const spent = ceiling.spent + (current.spentByKey?.[keyId ?? ''] ?? 0);
  return spent - amount > ceiling.max
    ? { posted: false, balance, ceiling: { ...ceiling, spent } }
    : null;
}

/**
 * Returns the credit ceiling of a key, with the credits that it had spent when its document was
 * written, or null if there is none. Neither ever changes.
 */
async function readCeiling(
  { apiKeys }: MongoCollections,
  keyId: string | null,
): Promise<SpentCeiling | null> {
  if (keyId === null) return null;
  const key = await apiKeys.findOne({ _id: keyId });
  if (key?.creditCeiling == null) return null;
  return { keyId, max: key.creditCeiling, spent: key.creditsSpent };
}

/** Returns the field of an account with the credits that a key has spent since. */
const spentField = ({ keyId }: SpentCeiling) => `spentByKey.${keyId}` as const;

/** Returns the filter for accounts in which a key's ceiling covers a charge. */
function coveredByCeiling(ceiling: SpentCeiling | null, amount: number): Filter<UserDocument> {
  if (ceiling === null) return {};
  const left = ceiling.max - ceiling.spent + amount;
  // An absent field counts as 0.
  if (left < 0) return { _id: { $in: [] } };
  return { [spentField(ceiling)]: { $not: { $gt: left } } };
}

/**
 * Step 2. Returns `deleted` if another call deleted the entry meanwhile and the account must be
 * read again.
 */
async function writePending(
  ledger: MongoCollections['ledger'],
  { key, ...entry }: LedgerEntry,
): Promise<LedgerDocument | 'applied' | 'void' | 'deleted'> {
  const stamp = newId();
  const document: LedgerDocument = {
    _id: key,
    ...entry,
    state: 'pending',
    stamp,
  };
  if (await unlessDuplicate(() => ledger.insertOne(document))) return document;
  // Not the fields that step 4 uses: they must be the same for every call with this key.
  const { userId: _, amount: __, keyId: ___, ...fields } = entry;
  const stamped = await ledger.findOneAndUpdate(
    { _id: key, state: 'pending' },
    { $set: { ...fields, stamp } },
    { returnDocument: 'after' },
  );
  if (stamped) return stamped;
  const state = (await ledger.findOne({ _id: key }))?.state;
  return state === undefined || state === 'pending' ? 'deleted' : state;
}

/** Step 5. Returns true if this call marked the entry. */
async function markApplied(ledger: MongoCollections['ledger'], key: string): Promise<boolean> {
  const { modifiedCount } = await ledger.updateOne(
    { _id: key, state: 'pending' },
    { $set: { state: 'applied' } },
  );
  return modifiedCount === 1;
}

/** Step 6. */
async function closeKeys(
  { users, ledger }: MongoCollections,
  userId: string,
  open: string[],
): Promise<void> {
  const applied = await ledger
    .find({ _id: { $in: open }, state: 'applied' }, { projection: { _id: 1 } })
    .toArray();
  const keys = applied.map(({ _id }) => _id);
  if (keys.length > 0)
    await users.updateOne({ _id: userId }, { $pullAll: { openKeys: keys }, $inc: { revision: 1 } });
}

/**
 * Marks a pending entry as applied if its key is open, otherwise deletes it. `entry` includes the
 * stamp that was read. Returns false if another call was faster or is posting the entry.
 */
export async function settlePending(
  collections: MongoCollections,
  entry: LedgerDocument,
): Promise<boolean> {
  const { ledger } = collections;
  if (!(await fence(collections, entry))) return markApplied(ledger, entry._id);
  const removed = await ledger.deleteOne({ _id: entry._id, state: 'pending', stamp: entry.stamp });
  return removed.deletedCount === 1;
}

/** Voids a key, or returns its entry if it is in the balance (LedgerStore.voidKey). */
export async function voidKey(
  collections: MongoCollections,
  key: string,
  userId: string,
  at: number,
): Promise<LedgerDocument | null> {
  const { ledger } = collections;
  for (;;) {
    const entry = await ledger.findOne({ _id: key });
    if (entry === null) {
      if (await unlessDuplicate(() => ledger.insertOne(voidDocument(key, userId, at)))) return null;
    } else if (entry.state === 'void') return null;
    else if (entry.state === 'applied') return entry;
    else if (await fence(collections, entry)) {
      await ledger.updateOne(
        { _id: key, state: 'pending', stamp: entry.stamp },
        { $set: { state: 'void', amount: 0 } },
      );
    } else await markApplied(ledger, key);
  }
}

/** Creates the document of a voided key. */
export function voidDocument(key: string, userId: string, at: number): LedgerDocument {
  return {
    _id: key,
    userId,
    amount: 0,
    type: 'charge',
    jobId: null,
    keyId: null,
    note: '',
    createdAt: at,
    state: 'void',
    stamp: newId(),
  };
}

/** Makes earlier posts of the entry start over. Returns false if the entry is in the balance. */
async function fence(
  { users }: MongoCollections,
  { _id, userId }: LedgerDocument,
): Promise<boolean> {
  const barred = await users.updateOne(
    { _id: userId, openKeys: { $ne: _id } },
    { $inc: { revision: 1 } },
  );
  return barred.matchedCount === 1;
}
