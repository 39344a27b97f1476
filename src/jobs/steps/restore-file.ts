import { damagedFile } from '../../base/recorded-file.ts';
import { parsePath } from '../../blobs/blobs.ts';
import { Fault } from '../../contract/fault.ts';
import type { JobContext } from '../context.ts';
import { filesRemoved, hasFiles } from '../records.ts';
import { compileAgain } from './finalize-job.ts';

/** Restores in progress, by path. */
const restores = new Map<string, Promise<void>>();

/**
 * Writes a result file that is missing or damaged again: the merged file of a job from its segments. Callers
 * at the same time share one restore. Throws `results_deleted`, or `storage_damaged` if the segments are
 * missing or damaged, too, and for other files, which have no second copy.
 */
export function restoreFile(context: JobContext, path: string): Promise<void> {
  const running = restores.get(path) ?? restore(context, path).finally(() => restores.delete(path));
  restores.set(path, running);
  return running;
}

async function restore(context: JobContext, path: string): Promise<void> {
  const { blobs, log, store } = context;
  const { jobId } = parsePath(path);
  const job = await store.jobs.get(jobId);
  if (job === null || job.filesDeletedAt !== null)
    throw new Fault('results_deleted', 'This file was deleted.');
  if (!(await hasFiles(blobs, jobId))) throw filesRemoved();
  if (job.file?.path !== path) throw damagedFile(path, 'is missing or was changed');
  await compileAgain(context, job, job.file);
  log.warn({ jobId, file: path }, 'damaged file restored');
}
