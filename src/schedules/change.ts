import { Fault } from '../contract/fault.ts';
import type { JobContext } from '../jobs/context.ts';
import type { Mode, Role } from '../store/documents.ts';
import {
  type PendingRun,
  type Schedule,
  type SchedulePatch,
  type ScheduleRun,
  writeSchedule,
} from '../store/schedules.ts';
import type { Store } from '../store/store.ts';
import { advanceClaimed, leaseMs } from './advance.ts';
import { activate, dueAfterChange, requireState, withdrawApproval } from './state.ts';

/** A caller with a key. */
export interface ScheduleCaller {
  role: Role;
  userId: string;
  keyId: string;
  mode: Mode;
}

/** Maximum attempts at a change that conflicts with a run or another change. */
const maxAttempts = 5;

/**
 * Changes a schedule from its current revision; `apply` returns the patch, or null for no change.
 * `userId` is its owner, or null for an operator. Faults: `not_found`, `conflict`.
 */
export async function changeSchedule(
  { store, clock }: JobContext,
  id: string,
  userId: string | null,
  apply: (schedule: Schedule, now: number) => SchedulePatch | null | Promise<SchedulePatch | null>,
): Promise<Schedule> {
  for (let attempt = 0; attempt < maxAttempts; attempt++) {
    const schedule = await requireSchedule(store, id, userId);
    const now = clock.now();
    const patch = await apply(schedule, now);
    if (patch === null) return schedule;
    const due = { dueAt: dueAfterChange({ ...schedule, ...patch }, now), updatedAt: now };
    const changed = await writeSchedule(store, schedule, { ...due, ...patch });
    if (changed !== null) return changed;
  }
  throw new Fault('conflict', 'The schedule is changing. Try again.');
}

/** Returns a schedule of a user, or of any user if null. Throws a Fault `not_found`. */
export async function requireSchedule(
  store: Store,
  id: string,
  userId: string | null,
): Promise<Schedule> {
  const schedule = await store.schedules.get(id.toLowerCase());
  if (schedule === null || (userId !== null && schedule.userId !== userId))
    throw new Fault('not_found', `There is no schedule '${id}'.`);
  return schedule;
}

/**
 * Pauses an active schedule; `userId` is its owner, or null for an operator, who also withdraws its
 * approval. Throws a Fault `conflict` for one that is neither active nor paused.
 */
export function pauseSchedule(
  context: JobContext,
  id: string,
  userId: string | null,
): Promise<Schedule> {
  return changeSchedule(context, id, userId, (schedule, now) => {
    const withdrawn = userId === null ? withdrawApproval(schedule) : {};
    if (schedule.state === 'paused') return userId === null ? withdrawn : null;
    requireState(schedule, ['active'], 'paused');
    return {
      state: 'paused',
      stateSince: now,
      reason: `Paused by ${userId === null ? 'an operator' : 'its owner'}.`,
      nextRunAt: null,
      ...withdrawn,
    };
  });
}

/**
 * Resumes a paused schedule with the caller's key, or as an operator with the key that it has.
 * Fault `conflict` for one that is neither paused nor active.
 */
export function resumeSchedule(
  context: JobContext,
  id: string,
  { role, userId, keyId }: ScheduleCaller,
): Promise<Schedule> {
  const isOperator = role === 'operator';
  return changeSchedule(context, id, isOperator ? null : userId, (schedule, now) => {
    if (schedule.state === 'active') return null;
    requireState(schedule, ['paused'], 'resumed');
    return { ...activate(schedule, now), ...(isOperator ? {} : { keyId }), failures: 0 };
  });
}

/**
 * Starts a run now, charged to the caller's key. Returns the run: started, waiting for the last
 * one, or skipped. Throws a Fault `conflict` if the schedule may not run, or a run is starting or
 * waiting.
 */
export async function runSchedule(
  context: JobContext,
  id: string,
  { userId, keyId }: ScheduleCaller,
): Promise<ScheduleRun | PendingRun> {
  const { newId, store } = context;
  const runId = newId();
  const claimed = await changeSchedule(context, id, userId, (schedule, now) => {
    requireState(schedule, ['active', 'paused'], 'run');
    if (schedule.pending !== null)
      throw new Fault('conflict', 'A run of the schedule is starting or waiting already.');
    const pending = {
      id: runId,
      scheduledFor: now,
      startedAt: now,
      trigger: 'manual',
      keyId,
    } as const;
    return { pending: { ...pending, isQueued: false }, dueAt: now + leaseMs };
  });
  await advanceClaimed(context, claimed);
  return (await store.scheduleRuns.get(runId)) ?? claimed.pending!;
}
