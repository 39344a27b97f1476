import { Fault } from '../../contract/fault.ts';
import type { Job } from '../../store/documents.ts';
import type { JobContext, StoreUse } from '../context.ts';

/** Dependencies of this module. */
export type DeleteFilesContext = Pick<JobContext, 'blobs' | 'clock' | 'log'> &
  StoreUse<'finishFileDeletion' | 'markFilesDeleted'>;

/**
 * Deletes the result files of an ended job and returns the job. The mark is stored first, so that no reader finds a
 * reference to a missing file; the sweep removes files that a crash leaves after it. A repeated call removes files
 * again. Faults: `conflict` for a job that has not ended; `unavailable` if the files cannot be removed now, in which case
 * the sweep removes them later.
 */
export async function deleteFiles(context: DeleteFilesContext, { id, state }: Job): Promise<Job> {
  const { store, clock, log } = context;
  const marked = await store.markFilesDeleted(id, clock.now());
  if (marked === null)
    throw new Fault(
      'conflict',
      `The job has not ended: it is ${state}. Only files of ended jobs are deleted.`,
    );
  await removeDeletedFiles(context, id);
  log.info({ jobId: id, userId: marked.userId }, 'result files deleted');
  return { ...marked, fileDeletionDue: false };
}

/** Removes the deleted files of a job from the result storage. The sweep also calls this. */
export async function removeDeletedFiles(
  { store, blobs }: Pick<DeleteFilesContext, 'store' | 'blobs'>,
  jobId: string,
): Promise<void> {
  await blobs.removeJob(jobId);
  await store.finishFileDeletion(jobId);
}
