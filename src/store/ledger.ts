import { Fault } from '../contract/fault.ts';
import type { Collection, UpdateOptions, Where } from './collection.ts';
import type { DeclarationOf } from './declaration.ts';
import type { LedgerEntry } from './documents.ts';

/** Credit ceiling of a key: `spent` is at most `max`. */
export interface SpentCeiling {
  keyId: string;
  max: number;
  spent: number;
}

/**
 * Result of posting a ledger entry. `posted: false`: nothing changed, because the balance is
 * insufficient or, with `ceiling`, because the entry's key would spend more than its credit
 * ceiling.
 */
export type PostingResult =
  | { posted: true; balance: number }
  | { posted: false; balance: number; ceiling?: SpentCeiling };

/** Sum of the entries of one UTC day and type. */
export interface LedgerSum {
  /** Start of the UTC day in milliseconds since the epoch. */
  day: number;
  type: LedgerEntry['type'];
  amount: number;
  entries: number;
}

/** Declaration of the ledger, whose table and indexes are in the schema of each engine. */
export const ledgerDeclaration: DeclarationOf<LedgerEntry> = {
  name: 'ledger',
  fields: {
    key: 'string',
    userId: 'string',
    type: 'string',
    jobId: 'string?',
    keyId: 'string?',
    note: 'string',
    amount: 'integer',
    createdAt: 'number',
  },
  id: ['key'],
  order: ['createdAt', 'key'],
};

/**
 * Balances and their ledger. A call finds the entries that are in the balance before it, and no
 * others that were never posted.
 */
export interface LedgerStore extends Pick<Collection<LedgerEntry>, 'get' | 'find' | 'list'> {
  /** Changes the note of an entry. */
  update(
    where: Where<LedgerEntry>,
    change: Pick<LedgerEntry, 'note'>,
    options?: UpdateOptions<LedgerEntry>,
  ): Promise<LedgerEntry | null>;
  /**
   * Posts an entry to the ledger and the balance exactly once per key, also across crashes: a
   * repeated call changes nothing and returns `posted: true`. Refuses a negative amount that
   * exceeds the balance or what is left of the credit ceiling of the entry's API key. The same
   * atomic step changes the credits that this key has spent, also for a refund, which names the key
   * of its charge. Throws `not_found` for an unknown user, `conflict` for a voided key.
   */
  post(entry: LedgerEntry): Promise<PostingResult>;
  /**
   * Returns the posted entry with this key, or voids the key and returns null. Neither a concurrent
   * nor a later call can post a voided key.
   */
  voidKey(key: string, userId: string, at: number): Promise<LedgerEntry | null>;
  /** Returns true if voidKey() voided the key. */
  isVoid(key: string): Promise<boolean>;
  /**
   * Returns the sums of a user's entries created at `since` or later, by UTC day and type, in any
   * order.
   */
  sum(userId: string, since: number): Promise<LedgerSum[]>;
  /**
   * Completes or deletes the entries that a crash before `before` left half-posted. Returns their
   * number.
   */
  repair(before: number): Promise<number>;
  /**
   * Yields each account with its balance and the sum of its entries. The two are equal unless the
   * data is corrupt. The sum is null for an account that changed during each of many attempts to
   * read it.
   */
  audit(): AsyncIterable<AuditedAccount>;
}

/** An account and the sum of its entries. Null if it was not audited. */
export interface AuditedAccount {
  userId: string;
  balance: number;
  sum: number | null;
  entries: number;
}

/** Creates the fault for posting an entry whose key is voided. */
export function voidedKeyFault(key: string): Fault {
  return new Fault('conflict', `ledger key ${key} is voided: its job or retry has ended`);
}
