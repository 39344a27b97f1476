import { type Column, columnsOf } from '../../formats/columns.ts';
import { type Quality, sumTallies } from '../../quality/tally.ts';
import type { Job, QualityTally } from '../../store/documents.ts';
import type { JobContext, StoreUse } from '../context.ts';
import { recordFieldsOf } from './rows.ts';

/** Dependencies of this module. */
export type QualityContext = Pick<JobContext, 'offers'> & StoreUse<'listBatches' | 'readBatches'>;

/**
 * Returns the quality of a job's records so far, from the tallies that were stored with them. Records of versions without
 * tallies are not counted.
 */
export async function qualityOf({ offers, store }: QualityContext, job: Job): Promise<Quality> {
  const seqs = (await store.listBatches(job.id)).filter(({ success }) => success > 0).map(({ seq }) => seq);
  const tallies: QualityTally[] = [];
  for await (const { parts, outcomes } of store.readBatches(job.id, seqs)) {
    for (const { quality } of parts) if (quality !== undefined) tallies.push(quality);
    for (const outcome of Object.values(outcomes))
      if (outcome.status === 'SUCCESS' && outcome.quality !== undefined) tallies.push(outcome.quality);
  }
  return sumTallies(recordFieldsOf(offers.of(job)), tallies);
}

/** Share of records in which a column has a value. */
export interface ColumnFill {
  column: Column;
  /** 0 to 1; 0 without records. */
  fill: number;
}

/** Returns the fill of the columns of a job's records so far. Each column is a listed field. */
export async function columnFillsOf(
  context: QualityContext,
  job: Job,
): Promise<{ records: number; columns: ColumnFill[] }> {
  const { records, fields } = await qualityOf(context, job);
  const filled = new Map(fields.map((field) => [field.name, field.filled]));
  const columns = columnsOf(recordFieldsOf(context.offers.of(job))).map((column) => ({
    column,
    fill: records === 0 ? 0 : filled.get(column.name)! / records,
  }));
  return { records, columns };
}
