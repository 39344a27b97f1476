import type { JobContext } from '../jobs/context.ts';
import { type Schedule, type SchedulePatch, writeSchedule } from '../store/schedules.ts';
import { logDiscarded } from '../store/stored-times.ts';
import { nextTime } from './cron.ts';
import { runIdAt } from './run.ts';

/** Schedules read at once. */
const pageSize = 200;

/**
 * Corrects schedules that wait for times that were computed while the clock was ahead: active ones
 * whose next time lies later than their expressions allow, and those whose runs are due by then.
 * Idempotent. Schedules that are changed meanwhile are skipped: their next times are computed from
 * the present.
 */
export async function correctRunTimes(context: JobContext): Promise<void> {
  const { store, clock, log } = context;
  const now = clock.now();
  let count = 0;
  for (let after: [number, string] | null = null; ; ) {
    const found: Schedule[] = await store.schedules.find(
      { dueAt: { above: now } },
      { after, limit: pageSize },
    );
    for (const schedule of found) if (await correct(context, schedule, now)) count += 1;
    const last = found.at(-1);
    if (last === undefined || found.length < pageSize) break;
    after = [last.createdAt, last.id];
  }
  logDiscarded(log, 'next runs of schedules', count);
}

/** Corrects a schedule. Returns true if its next time was wrong. */
async function correct(context: JobContext, schedule: Schedule, now: number): Promise<boolean> {
  const { pending, openRuns, nextRunAt, state, dueAt } = schedule;
  const next = state === 'active' ? await nextNewTime(context, schedule, now) : null;
  const isWrong = next !== null && nextRunAt !== null && next < nextRunAt;
  const patch: SchedulePatch = {};
  if (isWrong) {
    patch.nextRunAt = next;
    patch.dueAt = Math.min(dueAt ?? next, next);
  }
  if (pending !== null || openRuns.length > 0) patch.dueAt = now;
  if (Object.keys(patch).length === 0) return false;
  return (await writeSchedule(context.store, schedule, patch)) !== null && isWrong;
}

/**
 * Returns the next time of a schedule. Skips one time at which the schedule has run, because the
 * clock was set back by less than its interval; not more, since it has to run again after a larger
 * step.
 */
async function nextNewTime(
  { store }: JobContext,
  schedule: Schedule,
  now: number,
): Promise<number | null> {
  const next = nextTime(schedule, now);
  if (next === null) return null;
  const hasRun =
    schedule.pending?.scheduledFor === next ||
    (await store.scheduleRuns.get(runIdAt(schedule.id, next))) !== null;
  return hasRun ? nextTime(schedule, next) : next;
}
