import { Fault } from '../contract/fault.ts';
import { resealDestinations } from '../delivery/destination/reencrypt-secrets.ts';
import { type JobContext, leaseMs } from '../jobs/context.ts';
import { discardSubmitted, finishDiscard, finishSubmit } from '../jobs/steps/accept.ts';
import { decideDue, finishApproval } from '../jobs/steps/decide.ts';
import { dispatch, publish } from '../jobs/steps/dispatch.ts';
import { finalizeJob, finishEnding } from '../jobs/steps/finalize-job.ts';
import { finishTerminating } from '../jobs/steps/lifecycle.ts';
import { runDueSchedules } from '../schedules/due.ts';
import type { BatchReference } from '../store/batches.ts';
import type { Cursor } from '../store/cursor.ts';
import type { Job, JobState } from '../store/documents.ts';
import { expire } from '../store/expiry.ts';
import { endingStates, submittingStates } from '../store/job-states.ts';
import { type JobList, type PageLimits, processJobs, type SweepPlaces } from './pages.ts';
import { computeCutoffs, retain } from './retention.ts';

/** Age at which an unfinished step counts as interrupted. */
const interruptedMs = 30_000;
/** Age at which an unclaimed batch is republished, in case its message was lost. */
const lostMs = 60_000;
/** Age at which batches without a job and half-posted ledger entries are removed. */
const orphanMs = 3_600_000;
/** Stalled batches published per query. */
const pageSize = 500;

/** Interval between deletions of expired records. */
const expiryMs = 60_000;

/** Interval between sweeps. */
export const sweepMs = 5_000;

/**
 * Runs one sweep: resumes steps that a crash interrupted, expires undecided jobs, dispatches running ones and
 * republishes lost batches. All steps are idempotent, so several processes may sweep concurrently. A failing
 * step does not block the others. The sweep stops if the store is unavailable or the signal is aborted.
 * `places` carries the positions of unfinished lists to the next round. Expired records are deleted if
 * `expires`.
 */
export async function sweep(
  context: JobContext,
  signal?: AbortSignal,
  places: SweepPlaces = new Map(),
  expires = true,
): Promise<void> {
  const { store, clock, log, metrics } = context;
  const now = clock.now();
  const step = async (name: string, run: () => Promise<unknown>): Promise<boolean> => {
    if (signal?.aborted) return false;
    try {
      await run();
      return true;
    } catch (error) {
      const fault = Fault.from(error);
      log[fault.code === 'unavailable' ? 'warn' : 'error'](
        { step: name, error: fault.message },
        'sweep step failed',
      );
      return false;
    }
  };
  const each = (
    name: string,
    list: Pick<JobList, 'find' | 'placeOf'>,
    run: JobList['run'],
    limits?: PageLimits,
  ) =>
    step(`${name} jobs`, () =>
      processJobs({ ...list, name, run: (job) => step(name, () => run(job)) }, places, clock, signal, limits),
    );
  /** Returns a function that resumes a job and counts it. */
  const resume =
    (name: string, run: JobList['run']): JobList['run'] =>
    async (job) => {
      await run(job);
      metrics.add('gleaner_sweep_resumed_total', { step: name });
    };
  const inState = (states: readonly JobState[], since: number) => ({
    find: (limit: number, after: Cursor | null) => store.jobs.find(states, since, limit, after),
    placeOf: ({ stateSince, id }: Job) => ({ at: stateSince, id }),
  });
  const expired = {
    find: (limit: number, after: Cursor | null) => store.jobs.findExpiredApprovals(now, limit, after),
    placeOf: ({ decideBy, id }: Job) => ({ at: decideBy ?? 0, id }),
  };

  if (!(await step('store', () => store.ping()))) return;
  await each(
    'submit',
    inState(submittingStates, now - interruptedMs),
    resume('submit', (job) => {
      if (job.state === 'discarding') return finishDiscard(context, job);
      return job.resumable ? finishSubmit(context, job.id) : discardSubmitted(context, job.id);
    }),
  );
  await each('expiry', expired, (job) => decideDue(context, job));
  await each(
    'approval',
    inState(['approving'], now - interruptedMs),
    resume('approval', (job) => finishApproval(context, job)),
  );
  // Batches are not marked as published while the queue is unavailable, so they resume as soon as it
  // recovers.
  const isQueueAvailable = await step('queue', () => context.queue.ping());
  if (isQueueAvailable) await step('stalled batches', () => republish(context, now));
  await each('running', inState(['approved', 'processing'], now), async (job) => {
    if (isQueueAvailable) await step('dispatch', () => dispatch(context, job));
    await finalizeJob(context, job.id);
  });
  const resumeEnd = resume('ending', (job) => finishEnded(context, job));
  // Settling reads the whole job, which is wasted if its merged file cannot be written.
  const isWritable = await step('result storage', () => context.blobs.ping());
  await each('ending', inState(endingStates, now - interruptedMs), async (job) => {
    if (isWritable || job.state !== 'settling') await resumeEnd(job);
  });
  await step('schedules', () => runDueSchedules(context, signal));
  await step('drift', () => context.drift.flush());
  await step('destination keys', () => resealDestinations(context));
  if (expires) await step('expiry', () => expireRecords(context, now));
  if (isWritable) await step('retention', () => retain(context, now, { step, each }));
}

/** Deletes what crashes left half-written, and expired records. */
async function expireRecords({ store, settings }: JobContext, now: number): Promise<void> {
  await store.ledger.repair(now - interruptedMs);
  await store.jobs.deleteOrphanedBatches(now - orphanMs);
  await expire(store, computeCutoffs(settings, now));
}

/**
 * Publishes all batches whose claims have expired, and then a page of batches that have not been claimed for
 * long, whose messages may be lost. The queue ignores messages that it still holds.
 */
async function republish(context: JobContext, now: number): Promise<void> {
  const { store } = context;
  await publishAll(context, () => store.batches.requeueExpired(now, pageSize));
  await publishStalled(context, await store.batches.republishQueued(now, now - lostMs, pageSize));
}

/** Publishes the stalled batches of all pages, and returns their number. */
async function publishAll(context: JobContext, next: () => Promise<BatchReference[]>): Promise<number> {
  let count = 0;
  for (;;) {
    const batches = await next();
    await publishStalled(context, batches);
    count += batches.length;
    if (batches.length < pageSize) return count;
  }
}

async function publishStalled(context: JobContext, batches: readonly BatchReference[]): Promise<void> {
  await publish(context, batches);
  if (batches.length > 0)
    context.metrics.add('gleaner_sweep_resumed_total', { step: 'batch' }, batches.length);
}

/** Finishes an ending job. A failure is retried after `interruptedMs`. */
async function finishEnded(context: JobContext, job: Job): Promise<void> {
  try {
    await (job.state === 'terminating' ? finishTerminating(context, job) : finishEnding(context, job));
  } catch (error) {
    await context.store.jobs.move(job.id, [job.state], job.state, context.clock.now());
    throw error;
  }
}

/**
 * Republishes every outstanding batch, claimed or not, and returns their number. Only for the start of the
 * embedded stack, when no other process can hold a claim.
 */
export async function refill(context: JobContext): Promise<number> {
  const { store, clock } = context;
  // A time after the end of every lease. Batches taken then are not taken again by these loops.
  const later = clock.now() + leaseMs;
  const expired = await publishAll(context, () => store.batches.requeueExpired(later, pageSize));
  return expired + (await publishAll(context, () => store.batches.republishQueued(later, later, pageSize)));
}

/**
 * Sweeps every `intervalMs` until the signal is aborted; resolves when the last round has ended. Only one
 * process sweeps at a time: if `isSweeper` returns false, the round only stores the process's drift
 * statistics.
 */
export async function sweepForever(
  context: JobContext,
  intervalMs: number,
  signal: AbortSignal,
  isSweeper: () => Promise<boolean>,
): Promise<void> {
  const places: SweepPlaces = new Map();
  let expiredAt = Number.NEGATIVE_INFINITY;
  while (!signal.aborted) {
    if (await isSweeper()) {
      const isDue = context.clock.now() - expiredAt >= expiryMs;
      if (isDue) expiredAt = context.clock.now();
      await sweep(context, signal, places, isDue);
    } else {
      await flushDrift(context);
    }
    await context.clock.sleep(intervalMs, signal).catch(() => {});
  }
}

/**
 * Stores the drift statistics of this process every `intervalMs` until the signal is aborted. For worker
 * processes that do not sweep.
 */
export async function flushDriftForever(
  context: Pick<JobContext, 'drift' | 'clock' | 'log'>,
  intervalMs: number,
  signal: AbortSignal,
): Promise<void> {
  while (!signal.aborted) {
    await flushDrift(context);
    await context.clock.sleep(intervalMs, signal).catch(() => {});
  }
}

async function flushDrift({ drift, log }: Pick<JobContext, 'drift' | 'log'>): Promise<void> {
  try {
    await drift.flush();
  } catch (error) {
    log.warn({ step: 'drift', error: Fault.from(error).message }, 'sweep step failed');
  }
}
