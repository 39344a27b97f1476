import { Fault } from '../contract/fault.ts';
import { approvalWaitMs, undecidedReason } from '../jobs/context.ts';
import type { Schedule, ScheduleNotice } from '../store/schedules.ts';
import { maxFailures } from './context.ts';
import { nextTime, type Timing } from './cron.ts';

/** Counts a failed run, and pauses the schedule after too many in a row. */
export function countFailure(schedule: Schedule, now: number, reason: string): Schedule {
  const failures = schedule.failures + 1;
  const counted = { ...schedule, failures };
  if (failures < maxFailures || schedule.state !== 'active') return counted;
  return pause(counted, now, `Paused after ${failures} failed runs. ${reason}`);
}

/** Pauses a schedule, and lets its owner know. */
export function pause(schedule: Schedule, now: number, reason: string): Schedule {
  return { ...schedule, state: 'paused', stateSince: now, reason, nextRunAt: null, ...tell('paused', now) };
}

/** Returns the patch that makes a message about a schedule due. */
export const tell = (notice: ScheduleNotice, now: number): Pick<Schedule, 'notice' | 'noticeAt'> => ({
  notice,
  noticeAt: now,
});

/** Rejects a schedule whose approval deadline has passed, and lets its owner know. */
export function expire(schedule: Schedule, now: number): Schedule {
  const { state, decideBy } = schedule;
  if (state !== 'awaiting_approval' || decideBy === null || decideBy > now) return schedule;
  return { ...schedule, ...reject(undecidedReason, now) };
}

/** Returns the patch that rejects a schedule. */
export function reject(reason: string, now: number) {
  const state = { state: 'rejected', stateSince: now, reason } as const;
  return { ...state, approvedBy: null, decideBy: null, nextRunAt: null, ...tell('rejected', now) };
}

/** Why a schedule ended by its times. */
const endedReason = 'The last time of the schedule has passed.';

/** Ends an active schedule without a next run. */
export function endOf(schedule: Schedule, now: number): Schedule {
  const { state, nextRunAt, pending } = schedule;
  if (state !== 'active' || nextRunAt !== null || pending !== null) return schedule;
  return { ...schedule, state: 'ended', stateSince: now, reason: endedReason };
}

/** Returns the patch that makes a schedule active from now on; one without a next time ends. */
export function activate(timing: Timing, now: number) {
  const nextRunAt = nextTime(timing, now);
  const state = { stateSince: now, decideBy: null, nextRunAt };
  return nextRunAt === null
    ? ({ ...state, state: 'ended', reason: endedReason } as const)
    : ({ ...state, state: 'active', reason: '' } as const);
}

/** Returns the patch with which a schedule awaits the decision of an operator. */
export function propose(now: number) {
  const state = { state: 'awaiting_approval', stateSince: now, reason: '' } as const;
  const decideBy = now + approvalWaitMs;
  return { ...state, approvedBy: null, decideBy, nextRunAt: null, ...tell('awaiting_approval', now) };
}

/** Returns when a process has to look at a schedule that a caller created or changed. */
export function dueAfterChange(
  {
    pending,
    openRuns,
    nextRunAt,
    decideBy,
  }: Pick<Schedule, 'pending' | 'openRuns' | 'nextRunAt' | 'decideBy'>,
  now: number,
): number | null {
  return pending !== null || openRuns.length > 0 ? now : (nextRunAt ?? decideBy);
}

/** Throws the fault `conflict` unless a schedule is in one of the states. */
export function requireState(schedule: Schedule, allowed: readonly Schedule['state'][], verb: string): void {
  if (allowed.includes(schedule.state)) return;
  throw new Fault('conflict', `${describeState(schedule)}: it cannot be ${verb}.`);
}

/** Returns the state of a schedule as a sentence without a period. */
export const describeState = ({ state }: Pick<Schedule, 'state'>): string =>
  state === 'awaiting_approval' ? 'The schedule awaits approval' : `The schedule is ${state}`;
