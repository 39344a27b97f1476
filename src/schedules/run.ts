import { create } from '@bufbuild/protobuf';
import {
  type SubmitOptions,
  SubmitOptionsSchema,
} from '../../gen/gleaner/job/v1/submit_options_pb.ts';
import { readMode } from '../access/test-account.ts';
import { idFromName } from '../base/id.ts';
import { Fault, summarizeProblems } from '../contract/fault.ts';
import { toJobName } from '../contract/submit-options.ts';
import type { JobContext } from '../jobs/context.ts';
import { unitPriceIn } from '../jobs/credits.ts';
import { finishSubmit, submit } from '../jobs/steps/submit.ts';
import type { Job } from '../store/documents.ts';
import type { PendingRun, Schedule, ScheduleRun } from '../store/schedules.ts';
import { planRequest, submitMethodOf } from './request.ts';
import { skipReasonOf } from './skip-reason.ts';
import { countFailure } from './state.ts';

/**
 * Time after which a run whose submits fail for lack of the service's own components is given up,
 * in milliseconds.
 */
const giveUpMs = 1_800_000;

/** Returns the id of the run of a schedule at one of its times. */
export const runIdAt = (scheduleId: string, time: number) =>
  idFromName(`run of ${scheduleId} at ${time}`);

const jobIdOf = (runId: string) => idFromName(`job of run ${runId}`);

/**
 * Starts the begun run of a schedule, or resumes its start. Returns the schedule with the result;
 * null if the schedule was changed meanwhile.
 */
export async function startRun(context: JobContext, schedule: Schedule): Promise<Schedule | null> {
  const { pending } = schedule;
  if (pending === null) return schedule;
  const jobId = jobIdOf(pending.id);
  try {
    if ((await context.store.jobs.get(jobId)) !== null)
      return await recordJob(context, schedule, pending, await finishSubmit(context, jobId));
    const skipReason = await skipReasonOf(context, schedule, pending);
    if (skipReason === 'wait')
      return {
        ...schedule,
        pending: { ...pending, startedAt: context.clock.now(), isQueued: true },
      };
    if (skipReason !== null) {
      await recordRun(context, skippedRun(schedule, pending, skipReason.reason));
      const skipped = { ...schedule, pending: null };
      return skipReason.apply(skipped, context.clock.now());
    }
    const job = await submitRun(context, schedule, pending, jobId);
    if (job === 'changed') return null;
    return await recordJob(context, schedule, pending, job);
  } catch (error) {
    return await recordFault(context, schedule, pending, Fault.from(error));
  }
}

/**
 * Submits the job of a run. Returns the job, or `changed` if the schedule changed during the
 * submit.
 */
async function submitRun(
  context: JobContext,
  schedule: Schedule,
  { id, keyId, trigger }: PendingRun,
  jobId: string,
): Promise<Job | null | 'changed'> {
  const { store, jobTypes } = context;
  const stored = await store.schedules.pick({ id: schedule.id }, ['request', 'revision']);
  // The run's approval covers the request that was read.
  if (stored?.revision !== schedule.revision) return 'changed';
  const method = submitMethodOf(jobTypes, schedule.market, schedule.kind);
  const { message, units } = await planRequest(method, stored.request);
  const mode = await readMode(context.store, schedule.userId);
  const { approval, version } = schedule;
  const cost = unitPriceIn(mode, context, method.jobType) * units;
  // The operator approved the scheduled times. Runs that the owner starts need an approval each.
  const isApproved = approval !== null && trigger !== 'manual' && cost <= approval.cost;
  await submit(context, method, message, {
    userId: schedule.userId,
    mode,
    keyId,
    jobId,
    approvedBy: isApproved ? approval.by : null,
    schedule: { id: schedule.id, version },
    // No caller can send a line break in a key.
    idempotencyKey: `schedule\n${id}`,
    options: optionsOf(schedule),
  });
  return store.jobs.get(jobId);
}

/**
 * Returns the options of a run. The runs of a tracked schedule are a series of their own. Runs
 * without a name have the name of the schedule.
 */
function optionsOf({ id, name: ofSchedule, options }: Schedule): SubmitOptions {
  const series = options.track === 'true' ? { track: `schedule-${id}` } : {};
  const name = options.name ?? toJobName(ofSchedule);
  return create(SubmitOptionsSchema, {
    ...options,
    ...series,
    ...(name === undefined ? {} : { name }),
  });
}

async function recordJob(
  context: JobContext,
  schedule: Schedule,
  pending: PendingRun,
  job: Job | null,
): Promise<Schedule> {
  if (job === null) throw new Fault('conflict', 'The submit took too long and was discarded.');
  const { id: jobId, cost } = job;
  await recordRun(context, {
    ...runOf(schedule, pending),
    state: 'running',
    jobId,
    cost,
  });
  context.log.info({ scheduleId: schedule.id, runId: pending.id, jobId }, 'schedule run started');
  // Callers choose the time of a manual run; the rule `queue` sets the time of a waiting run.
  if (pending.trigger !== 'manual' && !pending.isQueued)
    context.metrics.record(
      'gleaner_schedule_run_delay_seconds',
      job.createdAt - pending.scheduledFor,
    );
  return {
    ...schedule,
    pending: null,
    openRuns: [...schedule.openRuns, { runId: pending.id, jobId, cost }],
    creditsSpent: schedule.creditsSpent + cost,
  };
}

/** Records a submit that failed, unless it can succeed later. */
async function recordFault(
  context: JobContext,
  schedule: Schedule,
  pending: PendingRun,
  fault: Fault,
): Promise<Schedule> {
  const { clock, log } = context;
  const { message, problems } = fault;
  const ids = { scheduleId: schedule.id, runId: pending.id };
  const mayPass =
    fault.retry !== 'never' || fault.code === 'internal' || fault.retryAfterMs !== undefined;
  if (mayPass && clock.now() - pending.startedAt < giveUpMs) {
    log.warn({ ...ids, error: message }, 'schedule run deferred');
    return schedule;
  }
  const reason = problems.length > 0 ? summarizeProblems(problems) : fault.clientMessage;
  await recordRun(context, { ...runOf(schedule, pending), state: 'not_submitted', reason });
  log.warn({ ...ids, error: message }, 'schedule run failed');
  const ended = { ...schedule, pending: null };
  if (pending.trigger === 'manual') return ended;
  return countFailure(ended, clock.now(), reason);
}

/** Returns the record of a run that was skipped. */
export const skippedRun = (
  schedule: Schedule,
  pending: PendingRun,
  reason: string,
): ScheduleRun => ({
  ...runOf(schedule, pending),
  state: 'skipped',
  reason,
});

/** Stores the record of a run, and counts one that has ended or has no job. */
export async function recordRun({ store, metrics }: JobContext, run: ScheduleRun): Promise<void> {
  await store.scheduleRuns.upsert([run]);
  if (run.state !== 'running') metrics.add('gleaner_schedule_runs_total', { result: run.state });
}

function runOf(
  { id: scheduleId, userId, revision }: Schedule,
  { id, scheduledFor, startedAt, trigger }: PendingRun,
): Omit<ScheduleRun, 'state'> {
  const job = {
    reason: '',
    jobId: null,
    cost: 0,
    refunded: 0,
    endedAt: null,
  };
  return {
    id,
    scheduleId,
    userId,
    scheduledFor,
    createdAt: startedAt,
    trigger,
    ...job,
    revision,
  };
}
