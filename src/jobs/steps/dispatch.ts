import { hostname } from 'node:os';
import { Fault } from '../../contract/fault.ts';
import { storeOfUnit } from '../../markets/lookup.ts';
import { type InFlight, inFlightOf, unqueue } from '../../store/batch-store.ts';
import type { BatchReference, QueuedBatch } from '../../store/batches.ts';
import type { Job } from '../../store/documents.ts';
import { findLiveProcesses, queueUnavailable, silentMs } from '../../store/operations.ts';
import type { JobContext } from '../context.ts';
import type { FailedOutcome } from '../indexed-units.ts';
import { isOpen } from '../queries/progress.ts';
import { failUnits, finalizeJob } from './finalize-job.ts';

/**
 * Result of a dispatch. `closed`: outside working hours. `idle`: no batch is queued or claimed, and
 * none could be queued. `partial`: some batches could not be published. `unqueued`: none could.
 */
export type Dispatched = 'dispatched' | 'closed' | 'idle' | 'partial' | 'unqueued';

/** Time before a batch whose publish failed is published again, in milliseconds. */
const publishRetryMs = 5_000;

/**
 * Size of a window as a multiple of the concurrency limit of the origin, so that a free permit
 * always finds a batch.
 */
const requestsPerPermit = 2;

/** Returns the maximum batches of a job in flight in one region. */
function windowOf({ settings, pages, jobTypes }: JobContext, job: Job): number {
  const requests = requestsPerPermit * pages.concurrency(job.market, job.region);
  return Math.max(settings.jobWindow, Math.ceil(requests / jobTypes.of(job).kind.batchSize));
}

/**
 * Queues waiting batches of an approved or running job, up to the window of each region, so that a
 * large job never fills the queue ahead of others and a slow region does not delay the others.
 * Deferred batches leave the window; a region with a full window of deferred batches gets no more.
 */
export async function dispatch(context: JobContext, job: Job): Promise<Dispatched> {
  const { store, clock } = context;
  if (job.state === 'approved') {
    const startedAt = clock.now();
    await store.jobs.move(job.id, ['approved'], 'processing', startedAt, { startedAt });
  }
  if (!isOpen(context, job)) return 'closed';
  const inFlight = await inFlightOf(store, job.id, clock.steady());
  const queued: QueuedBatch[] = [];
  for (const { room, region } of roomsOf(context, job, inFlight))
    queued.push(...(await store.batches.queue(job.id, room, clock.steady(), region)));
  if (inFlight.byRegion.size === 0 && queued.length === 0) return 'idle';
  return publish(context, queued);
}

/** Batches to queue now: of the whole job, or of one region. */
interface Room {
  room: number;
  region?: string;
}

/** Returns the maximum numbers of batches of a job to queue now. */
function roomsOf(context: JobContext, job: Job, inFlight: InFlight): Room[] {
  const window = windowOf(context, job);
  const { regions } = context.jobTypes.of(job).market;
  const roomOf = (region: string): Room => ({ region, room: roomIn(region, window, inFlight) });
  if (job.region === '' && regions.length > 1) {
    const rooms = [...regions, ''].map(roomOf);
    return rooms.filter(({ room }) => room > 0);
  }
  const rooms = [...inFlight.byRegion.keys()].map(roomOf);
  const room = Math.min(window, ...rooms.map((regionRoom) => regionRoom.room));
  return room > 0 ? [{ room }] : [];
}

/** Returns the number of batches of a region to queue now. */
function roomIn(region: string, window: number, { byRegion, deferred }: InFlight): number {
  const deferredCount = deferred.get(region) ?? 0;
  // Batches without a region have different origins, so one deferred batch does not predict the
  // next.
  if (region !== '' && deferredCount >= window) return 0;
  const room = window - (byRegion.get(region) ?? 0);
  // Refilling in steps saves a write to the store for each finished batch.
  return room < Math.max(1, window >> 2) ? 0 : room;
}

/**
 * Returns those running jobs that a dispatch would change: jobs that have not started, jobs with
 * waiting batches and room for them, and jobs without a batch in flight.
 */
export async function findJobsToDispatch(
  context: JobContext,
  jobs: readonly Job[],
): Promise<readonly Job[]> {
  const { batches } = context.store;
  const idsOf = (some: readonly Job[]) => some.map(({ id }) => id);
  const now = context.clock.steady();
  const inFlight = await batches.countInFlight(idsOf(jobs), now);
  const idle: Job[] = [];
  const withRoom: Job[] = [];
  for (const job of jobs) {
    const jobInFlight = inFlight.get(job.id);
    if (job.state === 'approved' || jobInFlight === undefined) idle.push(job);
    else if (roomsOf(context, job, jobInFlight).length > 0) withRoom.push(job);
  }
  if (withRoom.length === 0) return idle;
  const isWaiting = { jobId: { in: idsOf(withRoom) }, state: 'waiting' } as const;
  const waiting = await batches.countBy(isWaiting, ['jobId']);
  const waitingIds = new Set(waiting.map(({ jobId }) => jobId));
  return [...idle, ...withRoom.filter(({ id }) => waitingIds.has(id))];
}

/** Returns true if the first dispatch of a job queues all of its batches. */
export const isQueuedAtOnce = (context: JobContext, job: Job): boolean =>
  job.totalBatches <= windowOf(context, job);

/** Calls dispatch() for an accepted job; after an error of the store, the sweep dispatches it. */
export async function tryDispatch(context: JobContext, job: Job): Promise<Dispatched | 'deferred'> {
  try {
    return await dispatch(context, job);
  } catch (error) {
    context.log.warn({ jobId: job.id, error: Fault.from(error).message }, 'dispatch deferred');
    return 'deferred';
  }
}

/**
 * Publishes batches. Those that could not be published return to `waiting`, and the sweep
 * dispatches them.
 */
export async function publish(
  context: JobContext,
  batches: readonly (BatchReference | QueuedBatch)[],
): Promise<Dispatched> {
  const { store, queue, clock, log } = context;
  const results = await Promise.allSettled(batches.map((batch) => queue.publish(messageOf(batch))));
  const failed = results.find((result) => result.status === 'rejected');
  if (failed === undefined) return 'dispatched';
  const unpublished = batches.filter((_batch, index) => results[index]!.status === 'rejected');
  const count = unpublished.length;
  log.warn({ error: Fault.from(failed.reason).message, count }, 'batches not published');
  await unqueue(store, unpublished, clock.steady() + publishRetryMs);
  return count === batches.length ? 'unqueued' : 'partial';
}

/** Returns the message of a batch, with the store of its unit in place of the unit's key. */
function messageOf(batch: BatchReference | QueuedBatch): BatchReference {
  if (!('unitKey' in batch)) return batch;
  const { unitKey, ...reference } = batch;
  const store = unitKey === null ? undefined : storeOfUnit(batch.market, unitKey);
  return store === undefined ? reference : { ...reference, store };
}

/** Returns true if another process of the installation reached the queue when it last reported. */
async function isReachedByOthers({ store, clock }: JobContext): Promise<boolean> {
  const live = await findLiveProcesses(store, clock.now(), silentMs);
  const ownHost = hostname();
  return live.some(({ host, pid, paused }) => {
    const isOwn = host === ownHost && pid === process.pid;
    return !isOwn && paused !== queueUnavailable;
  });
}

/**
 * Handles a submission none of whose batches could be published. If the queue responds, to this
 * process or to another one, the batches wait and the sweep publishes them. If it does not, they
 * fail and are refunded before the response (docs/reliability.md).
 *
 * A message may have arrived although its publish failed. A batch fails only if no worker has
 * claimed it, in one atomic step, so no batch is both read and refunded. Throws `unavailable` for
 * kinds with `unqueued: 'refuse'` if every unit failed here: nothing runs and nothing stays
 * charged.
 */
export async function failUnqueued(context: JobContext, job: Job): Promise<Job> {
  const { store, queue } = context;
  const { kind } = context.jobTypes.of(job);
  const isReachable = await queue.ping().then(
    () => true,
    () => false,
  );
  if (isReachable || (await isReachedByOthers(context))) return job;
  const notQueued: FailedOutcome = {
    status: 'FAILED',
    code: 'not_queued',
    message: 'The work could not be queued: the message broker did not respond.',
  };
  const failed = await failUnits(context, job, ['waiting', 'queued'], notQueued);
  // The end of the job refunds them now, unless a worker has claimed a batch whose message arrived.
  await finalizeJob(context, job.id);
  if (kind.unqueued === 'refuse' && failed === job.totalUnits)
    throw new Fault(
      'unavailable',
      'The task could not be created: the message broker did not respond.',
    );
  return (await store.jobs.get(job.id)) ?? job;
}
