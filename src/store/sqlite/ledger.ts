import { Fault } from '../../contract/fault.ts';
import type { LedgerEntry } from '../documents.ts';
import {
  type LedgerStore,
  type LedgerSum,
  ledgerDeclaration,
  type PostingResult,
  type SpentCeiling,
  voidedKeyFault,
} from '../ledger.ts';
import { createCollection } from './collection.ts';
import type { SqliteEngine } from './engine.ts';
import { mapRows } from './sql.ts';

const dayMs = 86_400_000;

export const ledger = mapRows<LedgerEntry>(ledgerDeclaration);

/** Accounts read per query of an audit. */
const auditChunk = 200;

/** Returns true if a charge exceeds what is left of a credit ceiling. A refund never does. */
const exceeds = ({ spent, max }: SpentCeiling, amount: number): boolean =>
  amount < 0 && spent - amount > max;

/**
 * Creates the SQLite implementation of LedgerStore. Entry, balance, and spent credits change in one
 * transaction.
 */
export function ledgerStore(engine: SqliteEngine): LedgerStore {
  const balanceOf = (userId: string) =>
    engine.get<{ balance: number }>('SELECT balance FROM users WHERE id = ?', userId)?.balance;
  const ceilingOf = ({ keyId }: LedgerEntry) =>
    keyId === null
      ? null
      : engine.get<SpentCeiling & Record<string, string | number>>(
          `SELECT id AS keyId, credit_ceiling AS max, credits_spent AS spent FROM api_keys
           WHERE id = ? AND credit_ceiling IS NOT NULL`,
          keyId,
        );
  const isVoid = (key: string) =>
    engine.get('SELECT 1 FROM void_ledger_keys WHERE key = ?', key) !== null;

  const insertEntry = (entry: LedgerEntry, ceiling: SpentCeiling | null) => {
    const { userId, amount } = entry;
    engine.run(
      `INSERT INTO ledger (${ledger.columns}) VALUES (${ledger.marks})`,
      ...ledger.values(entry),
    );
    engine.run('UPDATE users SET balance = balance + ? WHERE id = ?', amount, userId);
    if (ceiling === null) return;
    const sql = 'UPDATE api_keys SET credits_spent = credits_spent - ? WHERE id = ?';
    engine.run(sql, amount, ceiling.keyId);
  };

  const postEntry = (entry: LedgerEntry): PostingResult => {
    const { key, userId, amount } = entry;
    const balance = balanceOf(userId);
    if (balance === undefined) throw new Fault('not_found', `user ${userId} does not exist`);
    if (engine.get('SELECT 1 FROM ledger WHERE key = ?', key)) return { posted: true, balance };
    if (isVoid(key)) throw voidedKeyFault(key);
    if (amount < 0 && balance + amount < 0) return { posted: false, balance };
    const ceiling = ceilingOf(entry);
    if (ceiling !== null && exceeds(ceiling, amount)) return { posted: false, balance, ceiling };
    insertEntry(entry, ceiling);
    return { posted: true, balance: balance + amount };
  };

  const entries = createCollection<LedgerEntry>(engine, ledgerDeclaration);
  return {
    ...entries,

    post: async (entry) =>
      // The job's next transition makes its charge or refund durable, before either is
      // acknowledged.
      (entry.jobId === null ? engine : engine.relaxed).write(() => postEntry(entry)),

    voidKey: async (key, _userId, at) =>
      engine.write(() => {
        const entry = engine.document(
          ledger,
          `SELECT ${ledger.select} FROM ledger WHERE key = ?`,
          key,
        );
        if (entry === null)
          engine.run(
            'INSERT INTO void_ledger_keys (key, at) VALUES (?, ?) ON CONFLICT DO NOTHING',
            key,
            at,
          );
        return entry;
      }),

    isVoid: async (key) => isVoid(key),

    sum: async (userId, since) =>
      engine
        .all<LedgerSum>(
          `SELECT
             CAST(created_at / ${dayMs} AS INTEGER) * ${dayMs} AS day,
             type,
             sum(amount) AS amount,
             count(*) AS entries
           FROM ledger
           WHERE user_id = ? AND created_at >= ?
           GROUP BY 1, 2`,
          userId,
          since,
        )
        .map((sum) => ({ ...sum })),

    // Transactions leave no half-posted entries.
    repair: async () => 0,

    audit: async function* () {
      let after = '';
      for (;;) {
        const accounts = engine.all<{
          userId: string;
          balance: number;
          sum: number;
          entries: number;
        }>(
          `SELECT
             u.id AS userId,
             u.balance,
             coalesce(sum(l.amount), 0) AS sum,
             count(l.key) AS entries
           FROM (SELECT id, balance FROM users WHERE id > ? ORDER BY id LIMIT ${auditChunk}) AS u
           LEFT JOIN ledger AS l ON l.user_id = u.id
           GROUP BY u.id
           ORDER BY u.id`,
          after,
        );
        for (const account of accounts) yield { ...account };
        const last = accounts.at(-1);
        if (!last) return;
        after = last.userId;
      }
    },
  };
}
