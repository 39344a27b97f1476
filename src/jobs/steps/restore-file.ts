import { damagedFile } from '../../base/recorded-file.ts';
import { parsePath } from '../../blobs/blobs.ts';
import { Fault } from '../../contract/fault.ts';
import type { FilePlace } from '../../contract/files.ts';
import type { Job } from '../../store/documents.ts';
import type { JobContext } from '../context.ts';
import { filesRemoved, hasFiles, segmentWithRows } from '../records.ts';
import { compileAgain } from './merged-file.ts';

/** Restores in progress, by path. */
const restores = new Map<string, Promise<FilePlace | null>>();

/**
 * Finds or restores a result file that is missing or damaged. The file of a batch is a part of the
 * merged file once its job has ended: returns its place. If the job still has segments, writes the
 * merged file again and returns null. Concurrent calls share one restore. Throws `results_deleted`,
 * or `storage_damaged` for a file that has no second copy.
 */
export function restoreFile(context: JobContext, path: string): Promise<FilePlace | null> {
  const running = restores.get(path);
  if (running !== undefined) return running;
  const started = restore(context, path).finally(() => restores.delete(path));
  restores.set(path, started);
  return started;
}

async function restore(context: JobContext, path: string): Promise<FilePlace | null> {
  const { blobs, log, store } = context;
  const { jobId } = parsePath(path);
  const job = await store.jobs.get(jobId);
  if (job === null || job.filesDeletedAt !== null)
    throw new Fault('results_deleted', 'This file was deleted.');
  if (!(await hasFiles(blobs, jobId))) throw filesRemoved();
  if (job.file?.path === path) {
    await compileAgain(context, job, job.file);
    log.warn({ jobId, file: path }, 'damaged file restored');
    return null;
  }
  const location = await placeOf(context, job, path);
  if (location === null) throw damagedFile(path, 'is missing or was changed');
  return location;
}

/** Returns the place of a batch's file in the merged file, or null if it has none. */
async function placeOf(
  { jobTypes, store }: JobContext,
  job: Job,
  path: string,
): Promise<FilePlace | null> {
  const format = jobTypes.of(job).kind.files.batch;
  const batch = await store.batches.pick({ jobId: job.id, 'file.path': path }, ['segments']);
  const rows = batch && segmentWithRows(batch);
  if (!format || !rows || rows.path === path) return null;
  const { start, end } = rows.body!;
  return {
    head: format.head(job),
    path: rows.path,
    start,
    end,
    tail: format.tail(job),
  };
}
