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
