import { Fault } from '../contract/fault.ts';
import type { JobContext } from '../jobs/context.ts';
import { jobRefunds } from '../jobs/credits.ts';
import { cancel } from '../jobs/steps/decide.ts';
import type { DeletedJob, Job } from '../store/documents.ts';
import { isCharged } from '../store/job-states.ts';
import type { OpenRun, RunState, Schedule, ScheduleRun } from '../store/schedules.ts';
import { recordRun } from './run.ts';
import { countFailure, reject } from './state.ts';

/**
 * Reads the jobs of a schedule's runs, and stores the results of those that have ended. Returns the
 * schedule with their refunds and failures.
 */
export async function finalizeRuns(context: JobContext, schedule: Schedule): Promise<Schedule> {
  const { store } = context;
  const openRuns: OpenRun[] = [];
  let current = schedule;
  for (const open of schedule.openRuns) {
    const job = await currentJob(context, current, open);
    if (job !== null) current = withApproval(current, job);
    if (job !== null && job.finishedAt === null) {
      openRuns.push(open);
      continue;
    }
    current = await finalizeRun(
      context,
      current,
      open,
      job ?? (await store.deletedJobs.get(open.jobId)),
    );
  }
  return { ...current, openRuns };
}

/**
 * Returns the job of a run. One that awaits approval of an earlier version of the schedule is
 * cancelled first.
 */
async function currentJob(
  context: JobContext,
  { version }: Schedule,
  { jobId }: OpenRun,
): Promise<Job | null> {
  const job = await context.store.jobs.get(jobId);
  if (job?.state !== 'awaiting_approval' || job.schedule?.version === version) return job;
  try {
    return await cancel(context, jobId, { operatorId: null, reason: 'The schedule was changed.' });
  } catch (error) {
    // It is being decided on.
    if (Fault.from(error).code !== 'conflict') throw error;
    return job;
  }
}

/**
 * Returns a schedule with the approval of a run's job, if an operator has approved it in the
 * schedule's version.
 */
function withApproval(
  schedule: Schedule,
  { schedule: run, state, decideBy, decidedBy, cost }: Job,
): Schedule {
  const isApproved = decideBy !== null && decidedBy !== null && isCharged(state);
  if (!isApproved || run?.version !== schedule.version) return schedule;
  if (schedule.approval !== null && schedule.approval.cost >= cost) return schedule;
  return { ...schedule, approval: { by: decidedBy, cost } };
}

async function finalizeRun(
  context: JobContext,
  schedule: Schedule,
  { runId, cost: counted }: OpenRun,
  job: Job | DeletedJob | null,
): Promise<Schedule> {
  const { store, clock } = context;
  const run = await store.scheduleRuns.get(runId);
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
  // The times were approved, so rejecting a further run does not affect them.
  const isFurther = run?.trigger === 'manual' && schedule.approval !== null;
  if (job !== null && 'decideBy' in job && state === 'rejected')
    return isRejection(job, schedule) && !isFurther
      ? reject(charged, clock.now(), job.reason)
      : charged;
  if (state === 'terminated' || run?.trigger === 'manual') return charged;
  return countFailure(charged, clock.now(), `The job of the last run ended as ${state}.`);
}

/**
 * Returns whether the end of a rejected job rejects its schedule: an operator rejected it, or
 * nobody decided in time. A job that its owner cancelled does not, and neither does one of an
 * earlier version of the schedule.
 */
const isRejection = (
  { schedule: run, decidedBy, decideBy, finishedAt }: Job,
  { version }: Schedule,
): boolean =>
  run?.version === version &&
  (decidedBy !== null || (decideBy !== null && finishedAt! >= decideBy));

/**
 * Returns the credits that a run's ended job has cost, 0 if it was never charged, and those
 * refunded.
 */
async function creditsOf(
  { store }: JobContext,
  job: Pick<Job, 'id' | 'cost' | 'refunded'> | null,
  cost: number,
): Promise<Pick<ScheduleRun, 'cost' | 'refunded'>> {
  // A job that was discarded is fully refunded, or was never charged.
  if (job === null) return { cost, refunded: cost };
  const wasCharged = job.cost === 0 || (await jobRefunds(store, job)).charged;
  return { cost: wasCharged ? job.cost : 0, refunded: job.refunded };
}

/** Returns a run with the result of its job, which may have ended since the run was stored. */
export async function withResult(context: JobContext, run: ScheduleRun): Promise<ScheduleRun> {
  const job =
    run.state === 'running' && run.jobId !== null ? await context.store.jobs.get(run.jobId) : null;
  if (job === null || job.finishedAt === null) return run;
  const credits = await creditsOf(context, job, run.cost);
  return {
    ...run,
    ...credits,
    state: job.state as RunState,
    endedAt: job.finishedAt,
  };
}
