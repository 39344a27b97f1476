import { jobRefunds } from '../credits/job-credits.ts';
import type { StoreUse } from '../jobs/context.ts';
import type { DeletedJob, Job } from '../store/documents.ts';
import type { OpenRun, RunState, Schedule, ScheduleRun } from '../store/schedules.ts';
import type { ScheduleContext } from './context.ts';
import { recordRun } from './run.ts';
import { countFailure } from './state.ts';

/**
 * Reads the jobs of a schedule's runs, and stores the results of those that have ended. Returns the schedule with their
 * refunds and failures.
 */
export async function settleRuns(context: ScheduleContext, schedule: Schedule): Promise<Schedule> {
  const { store } = context;
  const openRuns: OpenRun[] = [];
  let settled = schedule;
  for (const open of schedule.openRuns) {
    const job = await store.getJob(open.jobId);
    if (job !== null && job.finishedAt === null) {
      openRuns.push(open);
      continue;
    }
    settled = await settleRun(context, settled, open, job ?? (await store.getDeletedJob(open.jobId)));
  }
  return { ...settled, openRuns };
}

async function settleRun(
  context: ScheduleContext,
  schedule: Schedule,
  { runId }: OpenRun,
  job: Job | DeletedJob | null,
): Promise<Schedule> {
  const { store, clock } = context;
  const run = await store.getScheduleRun(runId);
  const counted = run?.cost ?? 0;
  const credits = await creditsOf(context, job, counted);
  const state = job === null ? 'not_submitted' : (job.state as RunState);
  if (run !== null)
    await recordRun(context, {
      ...run,
      ...credits,
      state,
      reason: job === null ? 'The submit was discarded.' : '',
      endedAt: job?.finishedAt ?? clock.now(),
      revision: schedule.revision,
    });
  const creditsSpent = schedule.creditsSpent - counted + credits.cost - credits.refunded;
  const charged = { ...schedule, creditsSpent };
  if (state === 'completed' || state === 'partial_complete') return { ...charged, failures: 0 };
  if (state === 'terminated' || run?.trigger === 'manual') return charged;
  return countFailure(charged, clock.now(), `The job of the last run ended as ${state}.`);
}

/** Returns the credits that a run's ended job has cost, 0 if it was never charged, and those refunded. */
async function creditsOf(
  { store }: StoreUse<'getLedgerEntry'>,
  job: Pick<Job, 'id' | 'cost' | 'refunded'> | null,
  cost: number,
): Promise<Pick<ScheduleRun, 'cost' | 'refunded'>> {
  // A job that was discarded is fully refunded, or was never charged.
  if (job === null) return { cost, refunded: cost };
  const isCharged = job.cost === 0 || (await jobRefunds(store, job)).charged;
  return { cost: isCharged ? job.cost : 0, refunded: job.refunded };
}

/** Returns a run with the result of its job, which may have ended since the run was stored. */
export async function withResult(
  context: Pick<ScheduleContext, 'store'>,
  run: ScheduleRun,
): Promise<ScheduleRun> {
  const job = run.state === 'running' && run.jobId !== null ? await context.store.getJob(run.jobId) : null;
  if (job === null || job.finishedAt === null) return run;
  const credits = await creditsOf(context, job, run.cost);
  return { ...run, ...credits, state: job.state as RunState, endedAt: job.finishedAt };
}
