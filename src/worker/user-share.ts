import type { JobContext } from '../jobs/context.ts';
import { deferBatch } from '../jobs/defer.ts';
import type { Queue } from '../queue/queue.ts';

type Handle = Parameters<Queue['consume']>[3];

/** How long a batch is deferred whose user has no slot. */
const deferMs = 10_000;

/**
 * Wraps a handler so that no user has more than `maxPerUser` batches under way in it: slow stores of one user leave
 * slots to the others. Batches beyond that are deferred.
 */
export function shareAmongUsers(
  context: JobContext,
  maxPerUser: number,
  handle: Handle,
  signal: AbortSignal,
): Handle {
  const underWay = new Map<string, number>();
  return async (message, extend) => {
    const job = await context.store.getJob(message.jobId);
    if (job === null) return;
    const { userId } = job;
    const count = underWay.get(userId) ?? 0;
    if (count >= maxPerUser) return deferBatch(context, message, deferMs, signal);
    underWay.set(userId, count + 1);
    try {
      await handle(message, extend);
    } finally {
      const left = underWay.get(userId)! - 1;
      if (left === 0) underWay.delete(userId);
      else underWay.set(userId, left);
    }
  };
}
