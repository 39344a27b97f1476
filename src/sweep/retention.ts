import { processDue } from '../base/due-work.ts';
import { expiredSessionMs } from '../contract/expired-session.ts';
import type { JobContext } from '../jobs/context.ts';
import { testResultsMs } from '../jobs/sandbox.ts';
import { deleteFiles, deleteJob, deletePages, eraseUser, removeDeletedFiles } from '../jobs/steps/delete.ts';
import type { Cursor } from '../store/cursor.ts';
import type { Job } from '../store/documents.ts';
import type { Cutoffs } from '../store/expiry.ts';
import type { EndedJobs } from '../store/retention.ts';

/** Jobs read at once, and time for each list of one round. */
const pageSize = 100;
const maxListMs = 2_000;

/** Users erased per round. */
const maxUsers = 10;

/** Maximum pages kept for later jobs: some gigabytes. */
const maxCrawls = 100_000;
/** Retention of origin statistics and of the state of unused origins. */
const originRetentionMs = 24 * 3_600_000;
/** Time after the last heartbeat at which a process counts as dead. */
const deadProcessMs = 3_600_000;

/** Returns the limits of records without files. */
export function computeCutoffs({ recentCrawlMs, retention }: JobContext['settings'], now: number): Cutoffs {
  const { auditLogMs, deliveriesMs, historyMs, jobsMs } = retention;
  return {
    crawls: now - recentCrawlMs,
    maxCrawls,
    origins: now - originRetentionMs,
    processes: now - deadProcessMs,
    originMinutes: now - originRetentionMs,
    sessions: now - expiredSessionMs,
    ...(auditLogMs === null ? {} : { auditLog: now - auditLogMs }),
    ...(historyMs === null ? {} : { observations: now - historyMs, trackingRuns: now - historyMs }),
    ...(deliveriesMs === null ? {} : { deliveries: now - deliveriesMs }),
    ...(jobsMs === null ? {} : { scheduleRuns: now - jobsMs }),
  };
}

/** A list of jobs to delete, or whose files to delete, which they leave then. */
interface JobList {
  name: string;
  /** Returns up to `limit` jobs in the list's order, starting after a position. */
  find(limit: number, after: Cursor | null): Promise<Job[]>;
  placeOf(job: Job): Cursor;
  run(job: Job): Promise<unknown>;
}

/**
 * Returns the lists of jobs to delete, or whose files to delete. The first one completes interrupted
 * deletions.
 */
function deletionLists(context: JobContext, now: number): JobList[] {
  const { store } = context;
  const { resultsMs, jobsMs } = context.settings.retention;
  const endedBefore = (before: number, which: EndedJobs): Pick<JobList, 'find' | 'placeOf'> => ({
    find: (limit: number, after: Cursor | null) => store.jobs.findEnded(before, which, limit, after),
    placeOf: ({ finishedAt, id }: Job) => ({ at: finishedAt ?? 0, id }),
  });
  return [
    {
      name: 'file deletion',
      find: (limit, after) => store.jobs.findFileDeletions(limit, after),
      placeOf: ({ id }) => ({ at: 0, id }),
      run: (job) => removeDeletedFiles(context, job.id),
    },
    {
      name: 'page retention',
      find: (limit, after) => store.jobs.findExpiredPages(now, limit, after),
      placeOf: ({ pagesUntil, id }) => ({ at: pagesUntil ?? 0, id }),
      run: (job) => deletePages(context, job),
    },
    {
      name: 'test result retention',
      ...endedBefore(now - testResultsMs, 'test_with_files'),
      run: (job: Job) => deleteFiles(context, job),
    },
    ...(jobsMs === null
      ? []
      : [
          {
            name: 'job retention',
            ...endedBefore(now - jobsMs, 'all'),
            run: (job: Job) => deleteJob(context, job),
          },
        ]),
    ...(resultsMs === null
      ? []
      : [
          {
            name: 'result retention',
            ...endedBefore(now - resultsMs, 'with_files'),
            run: (job: Job) => deleteFiles(context, job),
          },
        ]),
  ];
}

/** Deletes the jobs of a list, or their files. The next round tries those again that fail. */
function clear(
  context: JobContext,
  { name, find, placeOf, run }: JobList,
  { step, signal }: RetainOptions,
): Promise<number> {
  let after: Cursor | null = null;
  return processDue<Job>(
    {
      claim: async (limit) => {
        const page = await find(limit, after);
        after = page.length === 0 ? after : placeOf(page.at(-1)!);
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

/** Options for retain(). */
interface RetainOptions {
  /** Runs a step of the sweep, whose failure does not block the others. */
  step(name: string, run: () => Promise<unknown>): Promise<boolean>;
  signal: AbortSignal | undefined;
}

/** Deletes expired jobs and files, completes interrupted deletions, and erases deleted users. */
export async function retain(context: JobContext, now: number, options: RetainOptions): Promise<void> {
  const { step } = options;
  for (const list of deletionLists(context, now)) await step(list.name, () => clear(context, list, options));
  await step('user deletion', async () => {
    for (const user of await context.store.users.find(
      { deletedAt: { not: null }, erased: false },
      { order: ['deletedAt', 'id'], limit: maxUsers },
    ))
      await step('user deletion', () => eraseUser(context, user));
  });
}
