import { processDue } from '../base/due-work.ts';
import { Fault } from '../contract/fault.ts';
import type { JobContext } from '../jobs/context.ts';
import {
  type Schedule,
  type SchedulePatch,
  type ScheduleRun,
  writeSchedule,
} from '../store/schedules.ts';
import { nextTime } from './cron.ts';
import { finalizeRuns } from './finalize-runs.ts';
import { recordRun, runIdAt, skippedRun, startRun } from './run.ts';
import { endOf } from './state.ts';

/**
 * Duration of a claim, the time lost when a process dies while it starts a run, in milliseconds.
 */
export const leaseMs = 60_000;
/**
 * Delay of a run after which it counts as missed, in milliseconds. Load alone delays runs by less.
 */
const missedMs = 600_000;
/** Interval at which the job of a run is read until it has ended, in milliseconds. */
const openPollMs = 15_000;
/** Interval at which a waiting run is tried again, in milliseconds. */
const waitPollMs = 5_000;

/** Schedules at the same time. A start plans and charges a job, like a submit. */
const concurrency = 4;
/** Maximum duration of a round, in milliseconds. */
const maxMs = 5_000;

/**
 * Does what is due for schedules, the longest due first and a few at a time. A failing schedule
 * does not block the others; it is due again when its claim expires. Several processes may call
 * this concurrently. Throws `unavailable` while the store is unreachable.
 */
export async function runDueSchedules(context: JobContext, signal?: AbortSignal): Promise<void> {
  const { store, clock, log } = context;
  const now = clock.now();
  await processDue(
    {
      claim: (limit) => store.schedules.claimDue(now, now + leaseMs, limit),
      claimSize: concurrency,
      concurrency,
      maxMs,
      process: (schedule) => advance(context, schedule),
      onError: ({ id }, error) => {
        const { code, message } = Fault.from(error);
        log.warn({ scheduleId: id, error: message }, 'schedule not advanced');
        if (code === 'unavailable') throw error;
      },
    },
    clock,
    signal,
  );
}

/**
 * Performs the due steps of a schedule that this process has claimed: begins its next run, starts a
 * begun one, and reads the jobs of its runs. One update, from the revision of the claim, begins the
 * run, so that no two processes begin the same one; another, from that of the first, stores the
 * result. A process that dies in between loses the claim, and the next one resumes the begun run:
 * its id, and so its job's, are known.
 */
async function advance(context: JobContext, claimed: Schedule): Promise<void> {
  const begin = await beginRun(context, claimed);
  const begun = begin === null ? claimed : await writeSchedule(context.store, claimed, begin);
  if (begun !== null) await advanceClaimed(context, begun);
}

/** Starts the begun run of a claimed schedule, and reads the jobs of its runs. */
export async function advanceClaimed(context: JobContext, claimed: Schedule): Promise<void> {
  const { store, clock } = context;
  let schedule = await finalizeRuns(context, claimed);
  schedule = await skipBesidePending(context, schedule);
  const started = await startRun(context, schedule);
  // Another process or a caller has changed the schedule: it is due again.
  if (started === null) return;
  schedule = endOf(started, clock.now());
  await writeSchedule(store, claimed, changesOf(claimed, schedule, clock.now()));
}

/** Returns the patch that starts the due run of a schedule, or null if no run is due. */
async function beginRun(context: JobContext, schedule: Schedule): Promise<SchedulePatch | null> {
  const { keyId, nextRunAt, pending, state } = schedule;
  const now = context.clock.now();
  if (pending !== null || state !== 'active' || nextRunAt === null || nextRunAt > now) return null;
  const trigger = now - nextRunAt > missedMs ? 'missed' : 'schedule';
  return {
    pending: {
      id: await newRunId(context, schedule.id, nextRunAt),
      scheduledFor: nextRunAt,
      startedAt: now,
      trigger,
      keyId,
      isQueued: false,
    },
    // Of the times that passed while no process was running, one run remains.
    nextRunAt: nextTime(schedule, now),
  };
}

/**
 * Returns the id of a run at a time: another one if the clock was set back since a run at this
 * time.
 */
async function newRunId(
  { store, newId }: JobContext,
  scheduleId: string,
  time: number,
): Promise<string> {
  const id = runIdAt(scheduleId, time);
  return (await store.scheduleRuns.get(id)) === null ? id : newId();
}

/** Skips a run that is due while an earlier one is waiting. */
async function skipBesidePending(context: JobContext, schedule: Schedule): Promise<Schedule> {
  const { pending, state, nextRunAt } = schedule;
  const now = context.clock.now();
  if (pending === null || state !== 'active' || nextRunAt === null || nextRunAt > now)
    return schedule;
  const run: ScheduleRun = skippedRun(
    schedule,
    {
      ...pending,
      id: await newRunId(context, schedule.id, nextRunAt),
      scheduledFor: nextRunAt,
      startedAt: now,
      trigger: 'schedule',
    },
    'An earlier run is waiting.',
  );
  await recordRun(context, run);
  return { ...schedule, nextRunAt: nextTime(schedule, now) };
}

/** Returns the fields that the work on a claimed schedule has changed, and when it is due again. */
function changesOf(claimed: Schedule, schedule: Schedule, now: number): SchedulePatch {
  const { pending, openRuns, nextRunAt } = schedule;
  const times: number[] = [];
  if (pending !== null) times.push(now + waitPollMs);
  if (openRuns.length > 0) times.push(now + openPollMs);
  if (nextRunAt !== null) times.push(nextRunAt);
  // Only these: the notifier replaces messages of a claimed schedule.
  const changed = Object.entries(schedule).filter(
    ([field, value]) => value !== claimed[field as keyof Schedule],
  );
  return { ...Object.fromEntries(changed), dueAt: times.length === 0 ? null : Math.min(...times) };
}
