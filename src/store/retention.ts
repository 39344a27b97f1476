import { removeAll } from './collection.ts';
import type { Collections } from './collections.ts';
import type { Cursor } from './cursor.ts';
import type { DeletedJob, Job } from './documents.ts';
import { idsOfJob } from './history.ts';

/**
 * Deletion of ended jobs and of their files. Each method can be repeated after a crash. The files themselves
 * are in the result storage: see src/jobs/steps/delete.ts for the order of the steps.
 */
export interface FileRetention {
  /**
   * Marks the files of an ended job as deleted, and as not removed yet. A marked job keeps the earlier time.
   * Returns the job, or null if it does not exist or has not ended.
   */
  markFilesDeleted(jobId: string, at: number): Promise<Job | null>;
  /** Records that the deleted files of a job were removed from the result storage. */
  finishFileDeletion(jobId: string): Promise<void>;
  /**
   * Returns jobs whose deleted files may still be in the result storage, by id, starting after the cursor.
   */
  findFileDeletions(limit: number, after?: Cursor | null): Promise<Job[]>;
  /**
   * Returns jobs that ended before `before`, ordered by `finishedAt` and id, starting after the cursor.
   */
  findEnded(before: number, which: EndedJobs, limit: number, after?: Cursor | null): Promise<Job[]>;
  /**
   * Returns ended jobs whose `pagesUntil` is at or before `now`, ordered by it and id, starting after the
   * cursor.
   */
  findExpiredPages(now: number, limit: number, after?: Cursor | null): Promise<Job[]>;
  /** Records that the kept pages of a job were removed from the result storage. */
  finishPageDeletion(jobId: string): Promise<void>;
  /** Returns the bytes of a user's kept pages, without jobs whose files are deleted. */
  sumPageBytes(userId: string): Promise<number>;
  /** Returns the bytes of a user's results in the result storage, without jobs whose files are deleted. */
  sumStoredBytes(userId: string): Promise<number>;
  /**
   * Replaces an ended job and its batches by the summary, and deletes the deliveries about it. The job is
   * hidden and the summary written in one step; a call that crashes later is completed by
   * deleteOrphanedBatches(). Returns false if the job does not exist or has not ended. No job can be created
   * with the id of a deleted job.
   */
  delete(summary: DeletedJob): Promise<boolean>;
}

/** Ended jobs: all; those whose files are not deleted; or of these the test jobs. */
export type EndedJobs = 'all' | 'with_files' | 'test_with_files';

/** Returns the credits that a job refunds for units with reused results. */
export function discountOf(
  { unitPrice, reusedUnitPrice }: Pick<Job, 'unitPrice' | 'reusedUnitPrice'>,
  reused: number,
): number {
  return reusedUnitPrice === null ? 0 : reused * (unitPrice - reusedUnitPrice);
}

/** Returns the fields of a job that remain when it is deleted, apart from its counts. */
export function summaryOf(job: Job): Omit<DeletedJob, 'success' | 'failed' | 'deletedAt'> {
  const { id, userId, market, kind, state } = job;
  const { unitPrice, cost, refunded, totalUnits, createdAt, finishedAt } = job;
  const discount = discountOf(job, job.counts?.units.reused ?? 0);
  return {
    ...{ id, userId, market, kind, state, unitPrice, cost, refunded, totalUnits, createdAt, finishedAt },
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
