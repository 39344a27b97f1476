import { processDue } from '../base/due-work.ts';
import { expiredSessionMs } from '../contract/expired-session.ts';
import type { JobContext } from '../jobs/context.ts';
import { testResultsMs } from '../jobs/sandbox.ts';
import {
  deleteFiles,
  deleteJob,
  deletePages,
  eraseUser,
  removeDeletedFiles,
} from '../jobs/steps/delete.ts';
import { removeAgain } from '../jobs/steps/late-files.ts';
import type { Where } from '../store/collection.ts';
import type { FieldOf } from '../store/declaration.ts';
import type { FileRemoval, Job } from '../store/documents.ts';
import type { Cutoffs } from '../store/expiry.ts';
import type { IdRange } from './share.ts';

/** Jobs read at once, and time for each list of one round. */
const pageSize = 100;
const maxListMs = 2_000;

/** Jobs whose files are removed again at the same time. */
const removalsAtOnce = 4;

/** Users erased per round. */
const maxUsers = 10;

/** Maximum pages kept for later jobs: some gigabytes. */
const maxCrawls = 100_000;
/** Retention of origin statistics and of the state of unused origins. */
const originRetentionMs = 24 * 3_600_000;
/** Time after the last heartbeat at which a process counts as dead. */
const deadProcessMs = 3_600_000;

/** Returns the limits of records without files. */
export function computeCutoffs({
  settings,
  clock,
}: Pick<JobContext, 'settings' | 'clock'>): Cutoffs {
  const { recentCrawlMs, retention } = settings;
  const now = clock.now();
  const { auditLogMs, deliveriesMs, historyMs, jobsMs } = retention;
  const cutoffs: Cutoffs = {
    crawls: now - recentCrawlMs,
    maxCrawls,
    origins: clock.steady() - originRetentionMs,
    processes: now - deadProcessMs,
    originMinutes: now - originRetentionMs,
    sessions: now - expiredSessionMs,
  };
  if (auditLogMs !== null) cutoffs.auditLog = now - auditLogMs;
  if (deliveriesMs !== null) cutoffs.deliveries = now - deliveriesMs;
  if (jobsMs !== null) cutoffs.scheduleRuns = now - jobsMs;
  if (historyMs !== null) {
    cutoffs.observations = now - historyMs;
    cutoffs.trackingRuns = now - historyMs;
  }
  return cutoffs;
}

/** A list of jobs to delete, or whose files to delete, which they leave then. */
interface JobList {
  name: string;
  where: Where<Job>;
  order: readonly FieldOf<Job>[];
  run(job: Job): Promise<unknown>;
}

/**
 * Returns the lists of jobs to delete, or whose files to delete. The first one completes
 * interrupted deletions.
 */
function deletionLists(context: JobContext, now: number): JobList[] {
  const { resultsMs, jobsMs } = context.settings.retention;
  const endedFor = (ms: number, where: Where<Job>) => ({
    where: { ...where, finishedAt: { below: now - ms } },
    order: ['finishedAt', 'id'] as const,
  });
  const withFiles = { filesDeletedAt: null };
  const lists: (JobList | false)[] = [
    {
      name: 'file deletion',
      where: { fileDeletionDue: true },
      order: ['id'],
      run: (job) => removeDeletedFiles(context, job.id),
    },
    {
      name: 'page retention',
      where: { pagesUntil: { atMost: now }, finishedAt: { not: null } },
      order: ['pagesUntil', 'id'],
      run: (job) => deletePages(context, job),
    },
    {
      name: 'test result retention',
      ...endedFor(testResultsMs, { ...withFiles, mode: 'test' }),
      run: (job) => deleteFiles(context, job),
    },
    jobsMs !== null && {
      name: 'job retention',
      ...endedFor(jobsMs, {}),
      run: (job) => deleteJob(context, job),
    },
    resultsMs !== null && {
      name: 'result retention',
      ...endedFor(resultsMs, withFiles),
      run: (job) => deleteFiles(context, job),
    },
  ];
  return lists.filter((list) => list !== false);
}

/** Deletes the jobs of a list, or their files. The next round repeats failed deletions. */
function clear(
  context: JobContext,
  { name, where, order, run }: JobList,
  { ids, step, signal }: RetainOptions,
): Promise<number> {
  let after: (string | number)[] | null = null;
  return processDue<Job>(
    {
      claim: async (limit) => {
        const page: Job[] = await context.store.jobs.find(
          { ...where, id: ids },
          { order, after, limit },
        );
        const last = page.at(-1);
        if (last !== undefined) after = order.map((field) => last[field] as string | number);
        return page;
      },
      claimSize: pageSize,
      concurrency: 1,
      maxMs: maxListMs,
      process: (job) => step(name, () => run(job)),
      onError: () => {},
    },
    context.clock,
    signal,
  );
}

/** Removes late files of deleted jobs. A removal that fails is due in the next round again. */
export function removeLateFiles(context: JobContext, options: RetainOptions): Promise<number> {
  const { ids, step, signal } = options;
  const where = { dueAt: { atMost: context.clock.steady() }, jobId: ids };
  let after: (string | number)[] | null = null;
  return processDue<FileRemoval>(
    {
      claim: async (limit) => {
        const page = await context.store.fileRemovals.find(where, { after, limit });
        const last = page.at(-1);
        if (last !== undefined) after = [last.dueAt, last.jobId];
        return page;
      },
      claimSize: pageSize,
      concurrency: removalsAtOnce,
      maxMs: maxListMs,
      process: (removal) => step('late files', () => removeAgain(context, removal)),
      onError: () => {},
    },
    context.clock,
    signal,
  );
}

/** Options for retain() and removeLateFiles(). */
interface RetainOptions {
  /** Ids of the jobs and users. Undefined: all. */
  ids: IdRange | undefined;
  /** Runs a step of the sweep. Its failure does not block the other steps. */
  step(name: string, run: () => Promise<unknown>): Promise<boolean>;
  signal: AbortSignal | undefined;
}

/** Deletes expired jobs and files, completes interrupted deletions, and erases deleted users. */
export async function retain(
  context: JobContext,
  now: number,
  options: RetainOptions,
): Promise<void> {
  const { ids, step } = options;
  for (const list of deletionLists(context, now))
    await step(list.name, () => clear(context, list, options));
  await step('user deletion', async () => {
    for (const user of await context.store.users.find(
      { deletedAt: { not: null }, erased: false, id: ids },
      { order: ['deletedAt', 'id'], limit: maxUsers },
    ))
      await step('user deletion', () => eraseUser(context, user));
  });
}
