import { Fault } from '../contract/fault.ts';
import { advance } from './advance.ts';
import type { ScheduleContext } from './context.ts';

/** Schedules of one round: the longest due ones. The others follow in the next rounds. */
const maxDue = 100;
/** Schedules at the same time. A start plans and charges a job, like a submit. */
const concurrency = 4;
/** Maximum duration of a round, in milliseconds. */
const maxMs = 5_000;

/**
 * Does what is due for schedules, the longest due first and a few at a time. A failing schedule does not
 * block the others; it is due again when its claim expires. Several processes may call this concurrently.
 */
export async function runDueSchedules(context: ScheduleContext, signal?: AbortSignal): Promise<void> {
  const { store, clock, log } = context;
  const until = clock.now() + maxMs;
  const due = await store.schedules.find(
    { dueAt: { atMost: clock.now() } },
    { order: ['dueAt', 'id'], limit: maxDue },
  );
  const next = async (): Promise<void> => {
    for (;;) {
      const schedule = clock.now() < until && !signal?.aborted ? due.shift() : undefined;
      if (schedule === undefined) return;
      try {
        await advance(context, schedule);
      } catch (error) {
        const { code, message } = Fault.from(error);
        if (code === 'unavailable') due.length = 0;
        log.warn({ scheduleId: schedule.id, error: message }, 'schedule not advanced');
      }
    }
  };
  await Promise.all(Array.from({ length: concurrency }, next));
}
