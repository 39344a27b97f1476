import type { Job } from '../../store/documents.ts';
import { summaryOf } from '../../store/retention.ts';
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
  const { success, failed } = (job.counts ?? (await store.countJob(job.id))).units;
  const deleted = await store.deleteJob({ ...summaryOf(job), success, failed, deletedAt: now });
  if (deleted) log.info({ jobId: job.id, userId: job.userId }, 'job deleted');
  return deleted;
}
