import type { FileRemoval } from '../../store/documents.ts';
import { advanceRemoval } from '../../store/file-removals.ts';
import type { JobContext } from '../context.ts';

/*
 * A write to the result storage can arrive after the files of its job were deleted: the network may
 * delay the request of a process that has lost the claim or has died. A live process removes what
 * it wrote. For dead ones, the sweep removes the files of a deleted job repeatedly.
 */

/** Removes the files of a job if they were deleted while this process wrote one. */
export async function removeIfDeleted(
  { store, blobs, log }: JobContext,
  jobId: string,
): Promise<boolean> {
  const job = await store.jobs.get(jobId);
  if (job !== null && job.filesDeletedAt === null) return false;
  const files = await blobs.listJob(jobId);
  if (files.length === 0) return false;
  await blobs.removeJob(jobId);
  log.warn({ jobId, files: files.length }, 'late files removed');
  return true;
}

/**
 * Removes files of a deleted job that were written since. The sweep calls this when a removal is
 * due.
 */
export async function removeAgain(context: JobContext, removal: FileRemoval): Promise<void> {
  await removeIfDeleted(context, removal.jobId);
  await advanceRemoval(context.store, removal);
}
