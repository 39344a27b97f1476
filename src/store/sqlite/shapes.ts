import type { Batch, BatchSummary, Unit } from '../batches.ts';
import { declare } from '../collection.ts';
import type { LedgerEntry } from '../documents.ts';
import { mapRows } from './collection.ts';
import type { RowReader } from './connection.ts';

/** Table `ledger`, whose indexes are in schema.ts. */
export const ledgerTable = declare<LedgerEntry>()(
  'ledger',
  { text: 'key userId type jobId? keyId? note', integer: 'amount', real: 'createdAt' },
  { id: ['key'], order: ['createdAt', 'key'] },
);
export const ledger = mapRows<LedgerEntry>(ledgerTable);

/** A row of `batches`: a batch without its units, which are in `batch_units`. */
export type BatchRow = Omit<Batch, 'units'> & { total: number };

const batchTable = declare<BatchRow>()(
  'batches',
  {
    text: 'id jobId market region lane state',
    integer: 'seq total success failed storedBytes attempt stalledClaims',
    real: 'queuedAt? publishedAt? leaseUntil? notBefore? endedAt?',
    json: 'file? wait? isolated? pages? segments outcomes',
  },
  { id: ['id'], order: ['jobId', 'seq'] },
);

/** Table `batches`. */
export const batches = mapRows<BatchRow>(batchTable);

/** Batches with their units: a SELECT without conditions, and the reader of its rows. */
export const wholeBatches: RowReader<Batch> & { readonly sql: string } = {
  sql: `SELECT ${batches.select}, units FROM batches JOIN batch_units ON batch_id = id`,
  read: (row) => {
    const { total: _, ...batch } = batches.read(row);
    return { ...batch, units: JSON.parse(row.at(-1) as string) as Unit[] };
  },
};

/** Fields of a batch that progress does not need. */
const detailFields = ['wait', 'stalledClaims', 'isolated', 'pages', 'segments', 'outcomes'];

/** Columns of `batches` for progress, without the outcomes. */
export const summaries = mapRows<BatchSummary>(
  batchTable,
  Object.keys(batchTable.fields).filter((field) => !detailFields.includes(field)),
);
