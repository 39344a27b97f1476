import { create, type Message } from '@bufbuild/protobuf';
import { HttpBodySchema } from '../../../gen/google/api/httpbody_pb.ts';
import { csvLine } from '../../base/csv.ts';
import { pagesOf } from '../../store/cursor.ts';
import type { LedgerEntry } from '../../store/documents.ts';
import type { Store } from '../../store/store.ts';

/** Entries per page. */
const pageSize = 500;

/** Format of an exported ledger. */
interface Format {
  contentType: string;
  head: string;
  line(entry: LedgerEntry): string;
}

const parseFields = ({ key, amount, type, jobId, note, createdAt }: LedgerEntry) => ({
  key,
  amount,
  type,
  job_id: jobId ?? '',
  note,
  created_at: new Date(createdAt).toISOString(),
});

const columns = ['key', 'amount', 'type', 'job_id', 'note', 'created_at'] as const;

const formats: Record<string, Format> = {
  csv: {
    contentType: 'text/csv; charset=utf-8',
    head: csvLine(columns),
    line: (entry) => {
      const fields = parseFields(entry);
      return csvLine(columns.map((name) => (fields[name] === '' ? null : fields[name])));
    },
  },
  jsonl: {
    contentType: 'application/x-ndjson',
    head: '',
    line: (entry) => `${JSON.stringify(parseFields(entry))}\n`,
  },
};

/**
 * Yields the ledger of a user, newest first, as google.api.HttpBody messages of one page each. `format` is
 * "csv" (also for '') or "jsonl". In CSV, notes are escaped so that spreadsheets do not evaluate them as
 * formulas.
 */
export async function* exportLedger(
  store: Pick<Store, 'ledger'>,
  userId: string,
  format: string,
): AsyncGenerator<Message> {
  const { contentType, head, line } = formats[format || 'csv']!;
  let before = head;
  let first = true;
  for await (const { items } of pagesOf((page) => store.ledger.list({ userId }, page), pageSize)) {
    const data = Buffer.from(before + items.map(line).join(''));
    yield create(HttpBodySchema, first ? { contentType, data } : { data });
    first = false;
    before = '';
  }
}
