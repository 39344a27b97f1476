import { type CsvValue, csvLine } from '../../base/csv.ts';
import { jobRefunds } from '../../credits/job-credits.ts';
import type { Job } from '../../store/documents.ts';
import type { StoreUse } from '../context.ts';
import { mayHoldFailed, readPlaced, unitsOf } from '../placed.ts';

/** Dependencies of this module. */
export type FailuresContext = StoreUse<'getLedgerEntry' | 'listBatches' | 'readBatches'>;

/** Export format of failed units. */
export type FailureFormat = 'jsonl' | 'csv';

/** Media types of the formats. */
export const failureTypes: Record<FailureFormat, string> = {
  jsonl: 'application/x-ndjson',
  csv: 'text/csv; charset=utf-8',
};

const columns = [
  'index',
  'batch_id',
  'key',
  'region',
  'input',
  'code',
  'message',
  'credits',
  'refund_entry',
] as const;

/**
 * Yields a job's failed units in submission order, as JSON Lines or as CSV with a header. `credits` is the refund of
 * the unit, 0 if the job was never charged; `refund_entry` is the key of the ledger entry, null before the refund.
 * Skips batches without a failure.
 */
export async function* failures(
  { store }: FailuresContext,
  job: Job,
  format: FailureFormat,
): AsyncGenerator<string> {
  if (format === 'csv') yield csvLine(columns);
  const refunds = await jobRefunds(store, job);
  for await (const placed of readPlaced(store, job.id, mayHoldFailed(job))) {
    for (const { index, batchId, region, unit, outcome } of unitsOf(job, placed)) {
      if (outcome?.status !== 'FAILED') continue;
      const { code, message } = outcome;
      const row: Record<(typeof columns)[number], CsvValue> = {
        index,
        batch_id: batchId,
        key: unit.key,
        region,
        input: unit.input,
        code,
        message,
        credits: refunds.charged ? job.unitPrice : 0,
        refund_entry: refunds.entry,
      };
      yield format === 'csv' ? csvLine(columns.map((column) => row[column])) : `${JSON.stringify(row)}\n`;
    }
  }
}
