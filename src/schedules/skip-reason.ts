import { permissionsOf } from '../access/principal.ts';
import { readMode } from '../access/test-account.ts';
import { Fault } from '../contract/fault.ts';
import { refusalOf } from '../contract/permission.ts';
import type { JobContext } from '../jobs/context.ts';
import { unitPriceIn } from '../jobs/credits.ts';
import { cancel } from '../jobs/steps/decide.ts';
import type { ApiKey } from '../store/documents.ts';
import type { PendingRun, Schedule } from '../store/schedules.ts';
import { type SubmitMethod, submitMethodOf } from './request.ts';
import { countFailure, describeState, pause } from './state.ts';

/** Maximum runs of a schedule whose jobs have not ended. */
const maxOpenRuns = 5;

/** Reason for skipping a run, and its consequence for the schedule. */
export interface SkipReason {
  reason: string;
  apply(schedule: Schedule, now: number): Schedule;
}

const skip = (reason: string): SkipReason => ({ reason, apply: (schedule) => schedule });

/**
 * Returns what prevents the start of a run: a reason for which it is skipped, or `wait`. Cancels
 * the jobs of earlier runs if the schedule says so and nothing else prevents the run.
 */
export async function skipReasonOf(
  context: JobContext,
  schedule: Schedule,
  pending: PendingRun,
): Promise<SkipReason | 'wait' | null> {
  const isManual = pending.trigger === 'manual';
  const { state, missed } = schedule;
  if (state !== 'active' && !(isManual && state === 'paused'))
    return skip(`${describeState(schedule)}.`);
  if (pending.trigger === 'missed' && missed === 'skip')
    return skip('The service was down when the run was due.');
  const method = submitMethodOf(context.jobTypes, schedule.market, schedule.kind);
  const skipReason =
    (await refusal(context, schedule, method, pending)) ??
    (await overlapOf(context, schedule)) ??
    (await creditLimit(context, schedule, method));
  if (skipReason === null) await cancelEarlier(context, schedule);
  return skipReason;
}

/**
 * Applies the rule for runs whose jobs have not ended. A run that awaits approval is not cancelled
 * for the next one.
 */
async function overlapOf(
  { store }: JobContext,
  { overlap, openRuns }: Schedule,
): Promise<SkipReason | 'wait' | null> {
  if (openRuns.length === 0) return null;
  if (overlap === 'queue') return 'wait';
  const jobs = await Promise.all(openRuns.map(({ jobId }) => store.jobs.get(jobId)));
  if (jobs.some((job) => job?.state === 'awaiting_approval'))
    return skip('The last run awaits approval.');
  return overlap === 'skip' || openRuns.length >= maxOpenRuns
    ? skip('The last run has not ended.')
    : null;
}

async function cancelEarlier(context: JobContext, { openRuns }: Schedule): Promise<void> {
  for (const { jobId } of openRuns) {
    try {
      await cancel(context, jobId, {
        operatorId: null,
        reason: 'The next run of the schedule replaces it.',
      });
    } catch (error) {
      // It is ending already.
      if (!['conflict', 'not_found'].includes(Fault.from(error).code)) throw error;
    }
  }
}

/** Returns why the owner or the key of a run does not allow it. */
async function refusal(
  { store, clock }: JobContext,
  { userId }: Schedule,
  { method }: SubmitMethod,
  { keyId, trigger }: PendingRun,
): Promise<SkipReason | null> {
  const [user, key] = await Promise.all([store.users.get(userId), store.apiKeys.get(keyId)]);
  const counted = (reason: string): SkipReason => ({
    reason,
    apply: (schedule, now) =>
      trigger === 'manual' ? schedule : countFailure(schedule, now, reason),
  });
  const holder = user?.testOf ? await store.users.get(user.testOf) : user;
  if (holder === null || holder.suspendedAt !== null) return counted('The account is suspended.');
  const problem = keyProblem(key, clock.now()) ?? refusalOf(method, permissionsOf(key!));
  if (problem === null) return null;
  const advice = `${problem} Resume the schedule with another key.`;
  return { reason: problem, apply: (schedule, now) => pause(schedule, now, advice) };
}

/** Returns why a key cannot be used, or null if it can. */
function keyProblem(key: ApiKey | null, now: number): string | null {
  if (key === null || key.revokedAt !== null)
    return 'The API key of the schedule has been revoked.';
  const isExpired = key.expiresAt !== null && key.expiresAt <= now;
  return isExpired ? 'The API key of the schedule has expired.' : null;
}

/** Returns the end of a schedule whose credits do not cover another run. */
async function creditLimit(
  context: JobContext,
  { userId, units, creditsSpent, maxTotalCredits, openRuns }: Schedule,
  { jobType }: SubmitMethod,
): Promise<SkipReason | null> {
  if (maxTotalCredits === null) return null;
  const cost = unitPriceIn(await readMode(context.store, userId), context, jobType) * units;
  if (creditsSpent + cost <= maxTotalCredits) return null;
  const reason = `A run costs ${cost} credits, and ${creditsSpent} of ${maxTotalCredits} are spent.`;
  // Refunds of running jobs may cover a later run.
  if (openRuns.length > 0) return skip(reason);
  const end = { state: 'ended', nextRunAt: null, reason } as const;
  return {
    reason,
    apply: (schedule, stateSince) =>
      schedule.state === 'active' ? { ...schedule, ...end, stateSince } : schedule,
  };
}
