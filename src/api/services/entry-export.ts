import type { Message } from '@bufbuild/protobuf';
import { type CsvValue, csvLine } from '../../base/csv.ts';
import { type AuditEntry, type AuditFilter, listAuditEntries } from '../../store/audit-log.ts';
import { pagesOf } from '../../store/cursor.ts';
import type { LedgerEntry } from '../../store/documents.ts';
import type { Store } from '../../store/store.ts';
import { streamText } from './body-stream.ts';

/** Entries per page. */
const pageSize = 500;

const ledgerColumns = ['key', 'amount', 'type', 'job_id', 'note', 'created_at'] as const;

/** Streams the ledger of a user, newest first, as exportRows() does. */
export function exportLedger(store: Pick<Store, 'ledger'>, userId: string, format: string) {
  const pages = pagesOf((page) => store.ledger.list({ userId }, page), pageSize);
  return exportRows(ledgerColumns, pages, (items) => items.map(ledgerRow), format);
}

const ledgerRow = ({ key, amount, type, jobId, note, createdAt }: LedgerEntry) => ({
  key,
  amount,
  type,
  job_id: jobId ?? '',
  note,
  created_at: new Date(createdAt).toISOString(),
});

const auditColumns = [
  'time',
  'actor_id',
  'actor_name',
  'role',
  'key_id',
  'action',
  'target',
  'source',
  'outcome',
  'detail',
  'entry_id',
];

/** Streams the matching entries of the audit log, newest first, as exportRows() does. */
export function exportAuditLog(
  store: Pick<Store, 'auditLog' | 'users'>,
  filter: AuditFilter,
  format: string,
): AsyncGenerator<Message> {
  const pages = pagesOf((page) => listAuditEntries(store, filter, page), pageSize);
  const rowsOf = async (items: readonly AuditEntry[]) => {
    const names = await actorNames(store, items);
    return items.map((entry) => auditRow(entry, names));
  };
  return exportRows(auditColumns, pages, rowsOf, format);
}

function auditRow(entry: AuditEntry, names: ReadonlyMap<string, string>) {
  const { id, createdAt, actorId, role, keyId, action, target, source, outcome, detail } = entry;
  return {
    time: new Date(createdAt).toISOString(),
    actor_id: actorId,
    actor_name: names.get(actorId) ?? '',
    role,
    key_id: keyId,
    action,
    target,
    source,
    outcome,
    detail,
    entry_id: id,
  };
}

/** Returns the names of the operators and users who acted, by id. Deleted users are left out. */
export async function actorNames(
  store: Pick<Store, 'users'>,
  entries: readonly AuditEntry[],
): Promise<Map<string, string>> {
  const actors = await store.users.find({
    id: { in: [...new Set(entries.map(({ actorId }) => actorId))] },
  });
  return new Map(actors.map(({ id, name }) => [id, name]));
}

type Row = Readonly<Record<string, CsvValue>>;

/**
 * Streams pages of entries as "csv" (also for '') or "jsonl". In CSV, texts are escaped so that
 * spreadsheets do not evaluate them as formulas.
 */
function exportRows<Entry>(
  columns: readonly string[],
  pages: AsyncIterable<{ items: readonly Entry[] }>,
  rowsOf: (items: readonly Entry[]) => readonly Row[] | Promise<readonly Row[]>,
  format: string,
): AsyncGenerator<Message> {
  const isCsv = format !== 'jsonl';
  const cellOf = (row: Row, name: string) => (row[name] === '' ? null : row[name]!);
  const lineOf = (row: Row) => {
    if (!isCsv) return `${JSON.stringify(row)}\n`;
    return csvLine(columns.map((name) => cellOf(row, name)));
  };
  const lines = async function* () {
    let head = isCsv ? csvLine(columns) : '';
    for await (const { items } of pages) {
      yield head + (await rowsOf(items)).map(lineOf).join('');
      head = '';
    }
  };
  return streamText(isCsv ? 'text/csv; charset=utf-8' : 'application/x-ndjson', lines());
}
