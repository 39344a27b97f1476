import { type Batch, batchDeclaration, type StoredBatch, type Unit } from '../batches.ts';
import type { LedgerEntry } from '../documents.ts';
import { ledgerDeclaration } from '../ledger.ts';
import { mapRows, mapWhole } from './collection.ts';
import type { RowReader } from './connection.ts';

export const ledger = mapRows<LedgerEntry>(ledgerDeclaration);

/** Table `batches`, whose units are in `batch_units`. */
export const batches = mapWhole<StoredBatch>(batchDeclaration);

/** Batches with their units: a SELECT without conditions, and the reader of its rows. */
export const wholeBatches: RowReader<Batch> & { readonly sql: string } = {
  sql: `SELECT ${batches.select}, units FROM batches JOIN batch_units ON batch_id = id`,
  read: (row) => {
    const { total: _, ...batch } = batches.read(row);
    return { ...batch, units: JSON.parse(row.at(-1) as string) as Unit[] };
  },
};
