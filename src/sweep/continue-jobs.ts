import { processDue } from '../base/due-work.ts';
import { Fault } from '../contract/fault.ts';
import type { JobContext } from '../jobs/context.ts';
import { decideDue, finishApproval, finishTerminating } from '../jobs/steps/decide.ts';
import { type Dispatched, dispatch, findJobsToDispatch } from '../jobs/steps/dispatch.ts';
import { finalizeJob, finishEnding } from '../jobs/steps/finalize-job.ts';
import { discardSubmitted, finishDiscard, finishSubmit } from '../jobs/steps/submit.ts';
import type { Job, JobState } from '../store/documents.ts';
import { checkMs, interruptedMs, runningStates } from '../store/job-states.ts';
import type { IdRange, SweepShare } from './share.ts';

/** Interval between sweeps. */
export const sweepMs = 5_000;

/**
 * Jobs claimed at once. Steps may take long. Checks of running jobs are short and many, and their
 * claims cost little in large groups.
 */
const stepsPerClaim = 20;
const checksPerClaim = 500;
/** Jobs at the same time, and time of one sweep for steps, and for checks. */
const jobLimits = { concurrency: 4, maxMs: 10_000 };

/** Jobs that a sweep continues: those with the ids, or all, that have been due for some time. */
export interface SweepPass {
  ids: IdRange | undefined;
  lateMs: number;
}

/**
 * Returns the passes of a share: its own jobs, then those of all shares for which a sweep is
 * overdue, since their process has died or is busy.
 */
export function passesOf({ ids }: SweepShare): readonly SweepPass[] {
  const own = { ids, lateMs: 0 };
  if (ids === undefined) return [own];
  return [own, { ids: undefined, lateMs: sweepMs }];
}

/** Jobs that are due, and what to do with them. */
interface DueJobs {
  states: readonly JobState[];
  /** Time after which they are due again, in milliseconds. */
  dueAgainMs: number;
  /** Jobs claimed at once. */
  claimSize: number;
  /** Returns those of the claimed jobs that have work. By default, all have. */
  select?(context: JobContext, jobs: readonly Job[]): Promise<readonly Job[]>;
}

export const stepWork = (states: readonly JobState[]): DueJobs => ({
  states,
  dueAgainMs: interruptedMs,
  claimSize: stepsPerClaim,
});

export const checkWork: DueJobs = {
  states: runningStates,
  dueAgainMs: checkMs,
  claimSize: checksPerClaim,
  // Five commands of the store for all of them instead of four for each
  // (`npm run bench -- origins` counts the commands).
  select: findJobsToDispatch,
};

/** Options of continueDue(). */
interface ContinueOptions {
  pass: SweepPass;
  isQueueAvailable: boolean;
  signal: AbortSignal | undefined;
}

/** Continues the jobs of a pass that are due. Throws if the store is unavailable. */
export function continueDue(
  context: JobContext,
  now: number,
  { states, dueAgainMs, claimSize, select }: DueJobs,
  { pass, isQueueAvailable, signal }: ContinueOptions,
): Promise<number> {
  const { store, clock } = context;
  const where = { state: { in: states }, id: pass.ids };
  return processDue<Job>(
    {
      claim: (limit) => store.jobs.claimDue(now - pass.lateMs, now + dueAgainMs, limit, where),
      select: select && ((jobs) => select(context, jobs)),
      claimSize,
      process: (job) => continueJob(context, job, isQueueAvailable),
      onError: (job, error) => {
        if (isStoreOutage(error)) throw error;
        reportFailure(context, job.state, error, job.id);
      },
      ...jobLimits,
    },
    clock,
    signal,
  );
}

/** Continues a job that is due: resumes its step, decides, or dispatches and ends a running job. */
async function continueJob(
  context: JobContext,
  job: Job,
  isQueueAvailable: boolean,
): Promise<void> {
  const resume = async (step: string, run: Promise<unknown>) => {
    await run;
    context.metrics.add('gleaner_sweep_resumed_total', { step });
  };
  switch (job.state) {
    case 'discarding':
      return resume('submit', finishDiscard(context, job));
    case 'submitted':
      return resume(
        'submit',
        job.resumable ? finishSubmit(context, job.id) : discardSubmitted(context, job.id),
      );
    case 'awaiting_approval':
      if (job.decideBy !== null && job.decideBy <= context.clock.now())
        await decideDue(context, job);
      return;
    case 'approving':
      return resume('approval', finishApproval(context, job));
    case 'approved':
    case 'processing':
      return checkRunning(context, job, isQueueAvailable);
    case 'terminating':
      return resume('ending', finishTerminating(context, job));
    case 'settling':
    case 'rejecting':
      return resume('ending', finishEnding(context, job));
  }
}

/** Dispatches a running job. Finalizes it if no batch is in flight, since all may be done. */
async function checkRunning(
  context: JobContext,
  job: Job,
  isQueueAvailable: boolean,
): Promise<void> {
  let dispatched: Dispatched = 'idle';
  try {
    if (isQueueAvailable) dispatched = await dispatch(context, job);
  } finally {
    if (dispatched === 'idle' || dispatched === 'closed') await finalizeJob(context, job.id);
  }
}

function isStoreOutage(error: unknown): boolean {
  const { code, component } = Fault.from(error);
  return code === 'unavailable' && component === 'store';
}

/** Logs a step of a sweep that failed, which the next one repeats. */
export function reportFailure(
  { log }: JobContext,
  step: string,
  error: unknown,
  jobId?: string,
): void {
  const { code, message } = Fault.from(error);
  const level = code === 'unavailable' ? 'warn' : 'error';
  log[level]({ step, jobId, error: message }, 'sweep step failed');
}
