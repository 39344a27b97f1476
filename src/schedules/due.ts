import { processDue } from '../base/due-work.ts';
import { Fault } from '../contract/fault.ts';
import type { JobContext } from '../jobs/context.ts';
import { advance } from './advance.ts';
import { leaseMs } from './limits.ts';

/** Schedules at the same time. A start plans and charges a job, like a submit. */
const concurrency = 4;
/** Maximum duration of a round, in milliseconds. */
const maxMs = 5_000;

/**
 * Does what is due for schedules, the longest due first and a few at a time. A failing schedule does not
 * block the others; it is due again when its claim expires. Several processes may call this concurrently.
 * Throws `unavailable` while the store is unreachable.
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
