import type { JobOptions } from '../contract/submit-options.ts';
import { type Collection, removeAll } from './collection.ts';
import type { EndedState } from './documents.ts';

/**
 * State of a schedule.
 * - `active`: its runs start at the times of the cron expression.
 * - `paused`: no run starts until its owner resumes it.
 * - `rejected`: an operator rejected a run, or nobody decided on one in time.
 * - `ended`: its end has passed, or its credits are used.
 */
export type ScheduleState = 'active' | 'paused' | 'rejected' | 'ended';

/** Treatment of a run that is due while the last one has not ended. */
export type OverlapRule = 'skip' | 'queue' | 'cancel';

/** Treatment of runs that were due while no process was running. */
export type MissedRule = 'run_once' | 'skip';

/**
 * Trigger of a run: its scheduled time, a scheduled time that passed while no process could start
 * it, or a call.
 */
export type RunTrigger = 'schedule' | 'missed' | 'manual';

/** A run that was begun and has no result yet. */
export interface PendingRun {
  id: string;
  scheduledFor: number;
  startedAt: number;
  trigger: RunTrigger;
  /**
   * Key whose credit ceiling the run's job counts against: the one that began the run, or changed
   * the schedule since.
   */
  keyId: string;
  /** True while the run waits for the end of the last one. */
  isQueued: boolean;
}

/** A run whose job had not ended when it was last read. */
export interface OpenRun {
  runId: string;
  jobId: string;
  /** Part of `creditsSpent` for the run. */
  cost: number;
}

/** Message about a schedule that is due. */
export type ScheduleNotice = 'rejected' | 'paused';

/** Approval of a run's job, which covers later runs. */
export interface ScheduleApproval {
  /** Operator who approved the job. */
  by: string;
  /** Cost of the job. A run that costs more awaits approval again. */
  cost: number;
}

/**
 * A submission that is repeated, and the state of its runs. Every change is one update that names
 * the revision it read.
 */
export interface Schedule {
  id: string;
  userId: string;
  /**
   * Key that last changed the schedule. Its scopes allow the runs, and its credit ceiling limits
   * them.
   */
  keyId: string;
  name: string;
  market: string;
  kind: string;
  /** Options of each run's submit. */
  options: JobOptions;
  /** Units of each run. */
  units: number;
  cron: string;
  timeZone: string;
  /** First and last time of runs, in milliseconds; the end is exclusive. Null for no limit. */
  startAt: number | null;
  endAt: number | null;
  /** Maximum of `creditsSpent`. Null for no limit. */
  maxTotalCredits: number | null;
  overlap: OverlapRule;
  missed: MissedRule;
  state: ScheduleState;
  stateSince: number;
  /** Why it is paused, rejected, or ended. */
  reason: string;
  /** Incremented by each change after which a run needs another approval, from 1. */
  version: number;
  /**
   * Approval of a run of this version. Null without one, so that the runs of kinds with approval
   * await theirs.
   */
  approval: ScheduleApproval | null;
  /** Time of the next run. Null unless the schedule is active. */
  nextRunAt: number | null;
  /**
   * Time at which a process must check it for a due run or a run's result. Null if there is nothing
   * to do.
   */
  dueAt: number | null;
  pending: PendingRun | null;
  /** Runs whose jobs had not ended when they were last read, oldest first. */
  openRuns: readonly OpenRun[];
  /** Credits of all runs: costs minus the refunds of ended jobs. */
  creditsSpent: number;
  /** Consecutive runs that failed. */
  failures: number;
  /** Next message about it, and the time at which it is due. Null if there is none. */
  notice: ScheduleNotice | null;
  noticeAt: number | null;
  createdAt: number;
  updatedAt: number;
  /** Incremented by each write, from 1. */
  revision: number;
}

export interface ScheduleRequest {
  /** Body of the submission as JSON text. */
  request: string;
  /** Revision of the schedule that was read with it. */
  revision: number;
}

/** Fields that writeSchedule() can write, and the request. */
export type SchedulePatch = Partial<
  Omit<Schedule, 'id' | 'userId' | 'market' | 'kind' | 'createdAt' | 'revision'> &
    Pick<ScheduleRequest, 'request'>
>;

/** Result of a run: a job that has not ended, the state of an ended job, or none. */
export type RunState = 'running' | EndedState | 'skipped' | 'not_submitted';

/** A run of a schedule that has a job or was skipped. */
export interface ScheduleRun {
  id: string;
  scheduleId: string;
  userId: string;
  scheduledFor: number;
  createdAt: number;
  trigger: RunTrigger;
  state: RunState;
  /** Reason why the run was skipped or its submission failed. */
  reason: string;
  jobId: string | null;
  cost: number;
  refunded: number;
  endedAt: number | null;
  /** Revision of the schedule with which the run was written. */
  revision: number;
}

interface Schedules {
  schedules: Collection<Schedule, Schedule & Pick<ScheduleRequest, 'request'>>;
}

/**
 * Writes the patch and increments the revision if the stored revision is `revision`. Returns the
 * changed schedule, or null without any change if another writer was faster or the schedule does
 * not exist.
 */
export function writeSchedule(
  { schedules }: Schedules,
  { id, revision }: Pick<Schedule, 'id' | 'revision'>,
  patch: SchedulePatch,
): Promise<Schedule | null> {
  return schedules.update({ id, revision }, { ...patch, revision: revision + 1 });
}

/** Deletes a schedule and its runs. Returns false if it does not exist. */
export async function deleteSchedule(
  { schedules, scheduleRuns }: Schedules & { scheduleRuns: Collection<ScheduleRun> },
  id: string,
): Promise<boolean> {
  const isDeleted = (await schedules.remove({ id })) === 1;
  await removeAll(scheduleRuns, { scheduleId: id });
  return isDeleted;
}

/**
 * Replaces a message of a schedule by the next one and its due time, or by none if null. Returns
 * false if another message, or one about a newer state, is due. The revision stays the same: no
 * other writer depends on messages.
 */
export async function advanceScheduleNotice(
  { schedules }: Schedules,
  { id, stateSince, notice }: Pick<Schedule, 'id' | 'stateSince' | 'notice'>,
  next: { reason: ScheduleNotice; at: number } | null,
): Promise<boolean> {
  if (notice === null) return false;
  const change = { notice: next?.reason ?? null, noticeAt: next?.at ?? null };
  return (await schedules.update({ id, stateSince, notice }, change)) !== null;
}
