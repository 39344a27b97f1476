import { Fault } from '../contract/fault.ts';
import type { Schedule, ScheduleNotice } from '../store/schedules.ts';
import { nextTime, type Timing } from './cron.ts';

/** Consecutive failed runs after which a schedule is paused. */
const maxFailures = 5;

/** Counts a failed run, and pauses the schedule after too many in a row. */
export function countFailure(schedule: Schedule, now: number, reason: string): Schedule {
  const failures = schedule.failures + 1;
  const counted = { ...schedule, failures };
  if (failures < maxFailures || schedule.state !== 'active') return counted;
  return pause(counted, now, `Paused after ${failures} failed runs. ${reason}`);
}

/** Pauses a schedule, and notifies its owner. */
export function pause(schedule: Schedule, now: number, reason: string): Schedule {
  return {
    ...schedule,
    state: 'paused',
    stateSince: now,
    reason,
    nextRunAt: null,
    ...withNotice('paused', now),
  };
}

/** Returns the patch that makes a message about a schedule due. */
const withNotice = (
  notice: ScheduleNotice,
  now: number,
): Pick<Schedule, 'notice' | 'noticeAt'> => ({
  notice,
  noticeAt: now,
});

/** Rejects a schedule whose run was rejected, and notifies its owner. */
export function reject(schedule: Schedule, now: number, reason: string): Schedule {
  const state = { state: 'rejected', stateSince: now, reason } as const;
  return {
    ...schedule,
    ...state,
    approval: null,
    nextRunAt: null,
    ...withNotice('rejected', now),
  };
}

/** Returns the patch after which the next run of a schedule needs a new approval. */
export const withdrawApproval = ({ version }: Pick<Schedule, 'version'>) => ({
  version: version + 1,
  approval: null,
});

/** Why a schedule ended by its times. */
const endedReason = 'The last time of the schedule has passed.';

/** Ends an active schedule without a next run. */
export function endOf(schedule: Schedule, now: number): Schedule {
  const { state, nextRunAt, pending } = schedule;
  if (state !== 'active' || nextRunAt !== null || pending !== null) return schedule;
  return {
    ...schedule,
    state: 'ended',
    stateSince: now,
    reason: endedReason,
  };
}

/** Returns the patch that makes a schedule active from now on; one without a next time ends. */
export function activate(timing: Timing, now: number) {
  const nextRunAt = nextTime(timing, now);
  const state = { stateSince: now, nextRunAt };
  return nextRunAt === null
    ? ({ ...state, state: 'ended', reason: endedReason } as const)
    : ({ ...state, state: 'active', reason: '' } as const);
}

/** Returns when a process has to look at a schedule that a caller created or changed. */
export function dueAfterChange(
  { pending, openRuns, nextRunAt }: Pick<Schedule, 'pending' | 'openRuns' | 'nextRunAt'>,
  now: number,
): number | null {
  return pending !== null || openRuns.length > 0 ? now : nextRunAt;
}

/** Throws the fault `conflict` unless a schedule is in one of the states. */
export function requireState(
  schedule: Schedule,
  allowed: readonly Schedule['state'][],
  verb: string,
): void {
  if (allowed.includes(schedule.state)) return;
  throw new Fault('conflict', `${describeState(schedule)}: it cannot be ${verb}.`);
}

/** Returns the state of a schedule as a sentence without a period. */
export const describeState = ({ state }: Pick<Schedule, 'state'>): string =>
  `The schedule is ${state}`;
