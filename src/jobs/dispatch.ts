import { Fault } from '../base/fault.ts';
import { isWithin } from '../base/working-hours.ts';
import { refundUnqueued } from '../credits/job-credits.ts';
import type { BatchReference, Job, Outcome } from '../store/documents.ts';
import type { JobContext } from './context.ts';
import { settle } from './settle.ts';

/** What a dispatch came to. `closed`: outside working hours. `unqueued`: the queue does not answer. */
export type Dispatched = 'dispatched' | 'closed' | 'unqueued';

/** Whether work of a job may be dispatched now: kinds marked W wait for working hours (decisions). */
export function isOpen(context: JobContext, job: Job): boolean {
  const { workingHours } = context.settings;
  return (
    workingHours === null ||
    !context.offers.of(job).kind.workingHours ||
    isWithin(workingHours, context.clock.now())
  );
}

/**
 * Queues waiting batches of an approved or running job, as many as its window has room for: a large
 * job never fills the queue ahead of others. Batches that are put off leave the window meanwhile; of a
 * region of which a window's worth is put off there are no more. What could not be published waits again,
 * and the sweep dispatches it once the queue answers.
 */
export async function dispatch(context: JobContext, job: Job): Promise<Dispatched> {
  const { store, clock, settings } = context;
  if (job.state === 'approved') {
    await store.moveJob(job.id, ['approved'], 'processing', clock.now(), { startedAt: clock.now() });
  }
  if (!isOpen(context, job)) return 'closed';
  const { batches, putOff } = await store.countInFlight(job.id, clock.now());
  const room = settings.jobWindow - batches;
  // A few at a time: a write to the store for every batch that ends would cost more than it brings.
  if (room < Math.max(1, settings.jobWindow >> 2)) return 'dispatched';
  // Stores named by callers have no region in common: one of them says nothing of the next.
  const heldUp = (region: string) => region !== '' && (putOff.get(region) ?? 0) >= settings.jobWindow;
  if (![...putOff.keys()].some(heldUp)) {
    return publish(context, await store.queueBatches(job.id, room, clock.now()));
  }
  const queued: BatchReference[] = [];
  for (const region of context.offers.of(job).market.regions) {
    if (heldUp(region) || queued.length === room) continue;
    queued.push(...(await store.queueBatches(job.id, room - queued.length, clock.now(), region)));
  }
  return publish(context, queued);
}

/** As dispatch, for a job that was accepted: an error of the store is left to the sweep. */
export async function tryDispatch(context: JobContext, job: Job): Promise<Dispatched | 'deferred'> {
  try {
    return await dispatch(context, job);
  } catch (error) {
    context.log.warn({ jobId: job.id, error: Fault.from(error).message }, 'dispatch deferred');
    return 'deferred';
  }
}

/** Publishes batches; `unqueued` when any could not be: those wait again. */
export async function publish(context: JobContext, batches: readonly BatchReference[]): Promise<Dispatched> {
  const results = await Promise.allSettled(batches.map((batch) => context.queue.publish(batch)));
  const failed = results.find((result) => result.status === 'rejected');
  if (failed === undefined) return 'dispatched';
  const unpublished = batches.filter((_batch, index) => results[index]!.status === 'rejected');
  const count = unpublished.length;
  context.log.warn({ error: Fault.from(failed.reason).message, count }, 'batches could not be published');
  await context.store.unqueueBatches(unpublished);
  return 'unqueued';
}

/**
 * Ends what a submit could not queue, and gives its credits back within the same answer (decisions,
 * "broker unreachable"); for kinds that refuse instead, takes the whole job back: fault `unavailable`.
 */
export async function failUnqueued(context: JobContext, job: Job): Promise<Job> {
  const { store, clock } = context;
  const { kind } = context.offers.of(job);
  const notQueued: Outcome = {
    status: 'FAILED',
    code: 'not_queued',
    message: 'The work could not be queued: the message broker did not answer.',
  };
  const failed = await store.failBatches(job.id, ['waiting', 'queued'], notQueued, clock.now());
  await refundUnqueued(store, job, failed * job.unitPrice, clock.now());
  const moved = await store.moveJob(job.id, ['processing'], 'processing', clock.now(), {
    refunded: failed * job.unitPrice,
  });
  await settle(context, job.id);
  if (kind.unqueued === 'refuse')
    throw new Fault('unavailable', 'The task could not be created: the message broker did not answer.');
  return moved ?? (await store.getJob(job.id)) ?? job;
}
