import { create, type Message } from '@bufbuild/protobuf';
import { HttpBodySchema } from '../../../gen/google/api/httpbody_pb.ts';
import { csvLine } from '../../base/csv.ts';
import { type AuditEntry, type AuditFilter, listAuditEntries } from '../../store/audit-log.ts';
import { pagesOf } from '../../store/cursor.ts';
import type { Store } from '../../store/store.ts';

/** Entries per page. */
const pageSize = 500;

/** Columns of an export, in order. */
const columns = [
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
] as const;

type Line = Record<(typeof columns)[number], string>;

/** Format of an exported log. */
interface Format {
  contentType: string;
  head: string;
  line(line: Line): string;
}

const formats: Record<string, Format> = {
  csv: {
    contentType: 'text/csv; charset=utf-8',
    head: csvLine(columns),
    line: (line) => csvLine(columns.map((name) => line[name] || null)),
  },
  jsonl: {
    contentType: 'application/x-ndjson',
    head: '',
    line: (line) => `${JSON.stringify(line)}\n`,
  },
};

/** Returns the names of the operators and users who acted, by id. Deleted users are left out. */
export async function actorNames(
  store: Pick<Store, 'users'>,
  entries: readonly AuditEntry[],
): Promise<Map<string, string>> {
  const actors = await store.users.find({ id: { in: [...new Set(entries.map(({ actorId }) => actorId))] } });
  return new Map(actors.map(({ id, name }) => [id, name]));
}

/**
 * Yields the matching entries, newest first, as google.api.HttpBody messages of one page each. `format` is
 * "csv" (also for '') or "jsonl". In CSV, values are escaped so that spreadsheets do not evaluate them as
 * formulas.
 */
export async function* exportAuditLog(
  store: Pick<Store, 'auditLog' | 'users'>,
  filter: AuditFilter,
  format: string,
): AsyncGenerator<Message> {
  const { contentType, head, line } = formats[format || 'csv']!;
  let before = head;
  let first = true;
  for await (const { items } of pagesOf((page) => listAuditEntries(store, filter, page), pageSize)) {
    const names = await actorNames(store, items);
    const lines = items.map((entry) => line(lineOf(entry, names)));
    const data = Buffer.from(before + lines.join(''));
    yield create(HttpBodySchema, first ? { contentType, data } : { data });
    first = false;
    before = '';
  }
}

function lineOf(entry: AuditEntry, names: ReadonlyMap<string, string>): Line {
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
