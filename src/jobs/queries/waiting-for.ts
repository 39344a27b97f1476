import type { Counts, Job } from '../../store/documents.ts';
import type { JobContext, StoreUse } from '../context.ts';
import { isOpen, type OpenContext } from '../is-open.ts';

/** Dependencies of this module. */
export type WaitingForContext = Pick<JobContext, 'clock'> &
  StoreUse<'countInFlight' | 'countJob' | 'listWaits'> &
  OpenContext;

/**
 * Returns what a running job waits for: "working hours", or the reason of the batch that continues first, as in
 * "mkta/id: blocked (page_blocked), next try 2030-01-07T04:00:00.000Z". Null if it waits for nothing.
 */
export async function waitingFor(
  context: WaitingForContext,
  job: Job,
  counts?: Counts,
): Promise<string | null> {
  if (job.state !== 'approved' && job.state !== 'processing') return null;
  const { store, clock } = context;
  if (!isOpen(context, job)) {
    const { batches } = counts ?? (await store.countJob(job.id));
    const left = batches.total - batches.success - batches.failed;
    const { batches: inFlight, deferred: putOff } = await store.countInFlight(job.id, clock.now());
    // Batches dispatched before the end of working hours continue.
    if (left > [...putOff.values()].reduce((sum, count) => sum + count, inFlight)) return 'working hours';
  }
  const [first] = await store.listWaits(job.id, clock.now());
  return first ? `${first.reason}, next try ${new Date(first.until).toISOString()}` : null;
}
