import { Fault } from '../contract/fault.ts';
import type { Mode } from '../store/documents.ts';
import type { PendingRun, Schedule, SchedulePatch, ScheduleRun } from '../store/schedules.ts';
import { advanceClaimed } from './advance.ts';
import { leaseMs, type ScheduleContext } from './context.ts';
import { activate, dueAfterChange, reject, requireState, tell } from './state.ts';

/** A user who calls with a key. */
export interface Caller {
  userId: string;
  keyId: string;
  mode: Mode;
}

/** Maximum attempts at a change that conflicts with a run or another change. */
const maxAttempts = 5;

/**
 * Changes a schedule from its current revision; `apply` returns the patch, or null for no change. `userId` is its owner,
 * or null for an operator. Faults: `not_found`, `conflict`.
 */
export async function changeSchedule(
  { store, clock }: Pick<ScheduleContext, 'store' | 'clock'>,
  id: string,
  userId: string | null,
  apply: (schedule: Schedule, now: number) => SchedulePatch | null | Promise<SchedulePatch | null>,
): Promise<Schedule> {
  for (let attempt = 0; attempt < maxAttempts; attempt++) {
    const schedule = await requireSchedule(store, id, userId);
    const now = clock.now();
    const patch = await apply(schedule, now);
    if (patch === null) return schedule;
    // Later with each change, because an approval names the version that the operator has seen by this time.
    const updatedAt = Math.max(now, schedule.updatedAt + 1);
    const due = { dueAt: dueAfterChange({ ...schedule, ...patch }, now), updatedAt };
    const changed = await store.updateSchedule(id, schedule.revision, { ...due, ...patch });
    if (changed !== null) return changed;
  }
  throw new Fault('conflict', 'The schedule is changing. Try again.');
}

/** Returns a schedule of a user, or of any user if null. Fault `not_found`. */
export async function requireSchedule(
  store: Pick<ScheduleContext['store'], 'getSchedule'>,
  id: string,
  userId: string | null,
): Promise<Schedule> {
  const schedule = await store.getSchedule(id.toLowerCase());
  if (schedule === null || (userId !== null && schedule.userId !== userId))
    throw new Fault('not_found', `There is no schedule '${id}'.`);
  return schedule;
}

/** Pauses an active schedule. Fault `conflict` for one that is neither active nor paused. */
export function pauseSchedule(context: ScheduleContext, id: string, userId: string): Promise<Schedule> {
  return changeSchedule(context, id, userId, (schedule, now) => {
    if (schedule.state === 'paused') return null;
    requireState(schedule, ['active'], 'paused');
    return { state: 'paused', stateSince: now, reason: 'Paused by its owner.', nextRunAt: null };
  });
}

/** Resumes a paused schedule with the caller's key. Fault `conflict` for one that is neither paused nor active. */
export function resumeSchedule(
  context: ScheduleContext,
  id: string,
  { userId, keyId }: Caller,
): Promise<Schedule> {
  return changeSchedule(context, id, userId, (schedule, now) => {
    if (schedule.state === 'active') return null;
    requireState(schedule, ['paused'], 'resumed');
    return { ...activate(schedule, now), keyId, failures: 0 };
  });
}

/**
 * Approves a schedule that awaits approval. `updatedAt` is that of the schedule as the operator has seen it. Fault
 * `conflict` for a schedule in another state, and for one that was changed since.
 */
export function approveSchedule(
  context: ScheduleContext,
  id: string,
  { operatorId, updatedAt }: { operatorId: string; updatedAt: number },
): Promise<Schedule> {
  return changeSchedule(context, id, null, (schedule, now) => {
    requireState(schedule, ['awaiting_approval'], 'approved');
    if (schedule.updatedAt !== updatedAt)
      throw new Fault(
        'conflict',
        `The schedule was changed at ${new Date(schedule.updatedAt).toISOString()}: read it again before you approve it.`,
      );
    return { ...activate(schedule, now), approvedBy: operatorId, ...tell('approved', now) };
  });
}

/** Rejects a schedule that awaits approval or was approved. Fault `conflict` for another one. */
export function rejectSchedule(context: ScheduleContext, id: string, reason: string): Promise<Schedule> {
  return changeSchedule(context, id, null, (schedule, now) => {
    if (schedule.approvedBy === null) requireState(schedule, ['awaiting_approval'], 'rejected');
    return reject(reason || 'Rejected by an operator.', now);
  });
}

/**
 * Starts a run now, charged to the caller's key. Returns the run: started, waiting for the last one, or skipped. Fault
 * `conflict` if the schedule may not run, or a run is starting or waiting.
 */
export async function runSchedule(
  context: ScheduleContext,
  id: string,
  { userId, keyId }: Caller,
): Promise<ScheduleRun | PendingRun> {
  const { newId, store } = context;
  const runId = newId();
  const claimed = await changeSchedule(context, id, userId, (schedule, now) => {
    requireState(schedule, ['active', 'paused'], 'run');
    if (schedule.pending !== null)
      throw new Fault('conflict', 'A run of the schedule is starting or waiting already.');
    const pending = { id: runId, scheduledFor: now, startedAt: now, trigger: 'manual', keyId } as const;
    return { pending: { ...pending, isQueued: false }, dueAt: now + leaseMs };
  });
  await advanceClaimed(context, claimed);
  return (await store.getScheduleRun(runId)) ?? claimed.pending!;
}
