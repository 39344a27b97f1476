import { removeAll } from './collection.ts';
import type { Collections } from './collections.ts';
import type { DeletedJob, Job } from './documents.ts';
import { idsOfJob } from './history.ts';
import { discountOf, type JobStore } from './jobs.ts';

/**
 * Marks the files of an ended job as deleted, and as not removed yet. A marked job keeps the
 * earlier time. Returns the job, or null if it does not exist or has not ended. Can be repeated
 * after a crash: see src/jobs/steps/delete.ts for the order of the steps.
 */
export async function markFilesDeleted(
  { jobs }: { jobs: JobStore },
  jobId: string,
  at: number,
): Promise<Job | null> {
  const ended = { id: jobId, finishedAt: { not: null } };
  const due = { fileDeletionDue: true };
  return (
    (await jobs.update({ ...ended, filesDeletedAt: null }, { ...due, filesDeletedAt: at })) ??
    jobs.update(ended, due)
  );
}

/** Returns the fields of a job that remain when it is deleted, apart from its counts. */
export function summaryOf(job: Job): Omit<DeletedJob, 'success' | 'failed' | 'deletedAt'> {
  const { id, userId, market, kind, state } = job;
  const { unitPrice, cost, refunded, totalUnits, createdAt, finishedAt } = job;
  const discount = discountOf(job, job.counts?.units.reused ?? 0);
  return {
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
    discount,
  };
}

/** Removes the places of a job's kept pages. */
export async function removePagePlaces(
  { pagePlaces }: Pick<Collections, 'pagePlaces'>,
  jobId: string,
): Promise<void> {
  await removeAll(pagePlaces, idsOfJob(jobId));
}
