import { setImmediate as nextTurn } from 'node:timers/promises';
import { testAccountId } from '../../access/principal.ts';
import type { Retention } from '../../base/limits.ts';
import { Fault } from '../../contract/fault.ts';
import { countsOf } from '../../store/batch-store.ts';
import { allOf } from '../../store/cursor.ts';
import type { Job, User } from '../../store/documents.ts';
import { eraseUserRecords } from '../../store/erasure.ts';
import { storeRemoval } from '../../store/file-removals.ts';
import { markFilesDeleted, removePagePlaces, summaryOf } from '../../store/retention.ts';
import { markUserDeleted } from '../../store/users.ts';
import type { JobContext } from '../context.ts';
import { isPageFile } from '../kept-pages.ts';
import { testResultsMs } from '../sandbox.ts';
import { cancel } from './decide.ts';

/**
 * Deletes an ended job: its files, then its batches and the job, leaving a summary for audits.
 * Returns false, and deletes nothing, if the job has not ended. Can be repeated after a crash:
 * until the last step, the job is found again by its age or its owner.
 */
export async function deleteJob(
  { store, blobs, clock, log }: JobContext,
  job: Job,
): Promise<boolean> {
  const now = clock.now();
  if ((await markFilesDeleted(store, job.id, now)) === null) return false;
  await storeRemoval(store, job.id, clock.steady());
  await blobs.removeJob(job.id);
  await removePagePlaces(store, job.id);
  const { success, failed } = (job.counts ?? (await countsOf(store, job.id))).units;
  const deleted = await store.jobs.delete(job.id, {
    ...summaryOf(job),
    success,
    failed,
    deletedAt: now,
  });
  if (deleted) log.info({ jobId: job.id, userId: job.userId }, 'job deleted');
  return deleted;
}

/**
 * Deletes the result files of an ended job and returns the job. The mark is stored first, so that
 * no reader finds a reference to a missing file; the sweep removes files that a crash leaves after
 * it. A repeated call removes files again. Throws `conflict` for a job that has not ended;
 * `unavailable` if the files cannot be removed now, in which case the sweep removes them later.
 */
export async function deleteFiles(context: JobContext, { id, state }: Job): Promise<Job> {
  const { store, clock, log } = context;
  const marked = await markFilesDeleted(store, id, clock.now());
  if (marked === null)
    throw new Fault(
      'conflict',
      `The job has not ended: it is ${state}. Only files of ended jobs are deleted.`,
    );
  await removeDeletedFiles(context, id);
  log.info({ jobId: id, userId: marked.userId }, 'result files deleted');
  return { ...marked, fileDeletionDue: false };
}

/**
 * Returns when the sweep deletes the files of an ended job; null if it keeps them or has deleted
 * them.
 */
export function filesExpireAt(
  { resultsMs, jobsMs }: Pick<Retention, 'resultsMs' | 'jobsMs'>,
  { mode, finishedAt, filesDeletedAt }: Pick<Job, 'mode' | 'finishedAt' | 'filesDeletedAt'>,
): number | null {
  if (finishedAt === null || filesDeletedAt !== null) return null;
  const times = [resultsMs, jobsMs, mode === 'test' ? testResultsMs : null].filter(
    (time) => time !== null,
  );
  return times.length === 0 ? null : finishedAt + Math.min(...times);
}

/**
 * Removes the deleted files of a job from the result storage, and schedules a later repetition. The
 * sweep also calls this.
 */
export async function removeDeletedFiles(
  { store, blobs, clock }: JobContext,
  jobId: string,
): Promise<void> {
  await storeRemoval(store, jobId, clock.steady());
  await blobs.removeJob(jobId);
  await store.jobs.update({ id: jobId }, { fileDeletionDue: false }, { relaxed: true });
}

/**
 * Removes the kept pages of a job, which are never read from its `pagesUntil` on. The sweep calls
 * this then, and again after a crash.
 */
export async function deletePages(
  { store, blobs, log }: JobContext,
  { id, userId }: Job,
): Promise<void> {
  await blobs.remove((await blobs.listJob(id)).filter(isPageFile));
  await removePagePlaces(store, id);
  await store.jobs.update({ id }, { pagesUntil: null }, { relaxed: true });
  log.info({ jobId: id, userId }, 'kept pages deleted');
}

/** Records erased per call of the store. */
const chunkSize = 500;
const pageSize = 100;
/** Maximum duration of one call, so that the sweep continues with its other steps. */
const maxMs = 5_000;
/**
 * Time between the start of a deletion and its end. Calls that were authenticated before the start
 * may create records until then.
 */
export const eraseDelayMs = 60_000;

/**
 * Erases a deleted user: keys and other records, then the jobs. Deletes the test account of the
 * user, which is then erased in the same way. Cancels jobs that were submitted while the deletion
 * began. The ledger remains, without notes. Returns true when complete, at the earliest a minute
 * after the start; until then the sweep calls again. Each step can be repeated after a crash.
 */
export async function eraseUser(context: JobContext, user: User): Promise<boolean> {
  const { store, clock, log } = context;
  await markUserDeleted(store, testAccountId(user.id), clock.now());
  await eraseRecords(context, user.id);
  const until = clock.steady() + maxMs;
  let isEmpty = true;
  for await (const job of allOf((page) => store.jobs.list({ userId: user.id }, page), pageSize)) {
    if (clock.steady() >= until) return false;
    if (!(await eraseJob(context, job))) isEmpty = false;
  }
  if (!isEmpty || user.deletedAt === null || clock.now() - user.deletedAt < eraseDelayMs)
    return false;
  // Jobs that were cancelled during the deletion have posted refunds.
  await eraseRecords(context, user.id);
  await store.users.update({ id: user.id, deletedAt: { not: null } }, { erased: true });
  log.info({ userId: user.id }, 'user erased');
  return true;
}

async function eraseRecords({ store }: JobContext, userId: string): Promise<void> {
  while ((await eraseUserRecords(store, userId, chunkSize)) > 0) await nextTurn();
}

/** Deletes an ended job, and cancels one that has not ended. Returns true if the job is deleted. */
async function eraseJob(context: JobContext, job: Job): Promise<boolean> {
  if (job.finishedAt !== null) return deleteJob(context, job);
  try {
    await cancel(context, job.id, { operatorId: null, reason: 'The user was deleted.' });
  } catch (error) {
    // The job is being submitted or is ending: the next call deletes it.
    if (!['conflict', 'not_found'].includes(Fault.from(error).code)) throw error;
  }
  return false;
}
