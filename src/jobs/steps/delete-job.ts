import type { Job } from '../../store/documents.ts';
import type { JobContext, StoreUse } from '../context.ts';

/** Dependencies of this module. */
export type DeleteJobContext = Pick<JobContext, 'blobs' | 'clock' | 'log'> &
  StoreUse<'countJob' | 'deleteJob' | 'markFilesDeleted'>;

/**
 * Deletes an ended job: its files, then its batches and the job, of which a summary for audits remains. Returns false,
 * and deletes nothing, if the job has not ended. Each step can be repeated: until the last one the job is found again by
 * its age or its owner.
 */
export async function deleteJob({ store, blobs, clock, log }: DeleteJobContext, job: Job): Promise<boolean> {
  const now = clock.now();
  if ((await store.markFilesDeleted(job.id, now)) === null) return false;
  await blobs.removeJob(job.id);
  const { id, userId, market, kind, state, unitPrice, cost, refunded, totalUnits, createdAt, finishedAt } =
    job;
  const { success, failed } = (job.counts ?? (await store.countJob(id))).units;
  const summary = {
    id,
    userId,
    market,
    kind,
    state,
    unitPrice,
    cost,
    refunded,
    totalUnits,
    createdAt,
    finishedAt,
  };
  const deleted = await store.deleteJob({ ...summary, success, failed, deletedAt: now });
  if (deleted) log.info({ jobId: id, userId }, 'job deleted');
  return deleted;
}
