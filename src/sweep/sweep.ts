import { repeat } from '../base/due-work.ts';
import { resealDestinations } from '../destinations/address.ts';
import { type JobContext, leaseMs } from '../jobs/context.ts';
import { publish } from '../jobs/steps/dispatch.ts';
import { announceDrift } from '../notify/announce-drift.ts';
import { runDueSchedules } from '../schedules/advance.ts';
import { correctRunTimes } from '../schedules/correct-times.ts';
import { expire } from '../store/expiry.ts';
import { awaitsDecision, interruptedMs, steppingStates } from '../store/job-states.ts';
import { discardWrongTimes, voidClaims } from '../store/stored-times.ts';
import { observeClockSteps } from './clock-steps.ts';
import {
  checkWork,
  continueDue,
  passesOf,
  reportFailure,
  type SweepPass,
  stepWork,
} from './continue-jobs.ts';
import { computeCutoffs, removeLateFiles, retain } from './retention.ts';
import { type IdRange, type SweepShare, wholeShare } from './share.ts';

/** Age at which an unclaimed batch is republished, in case its message was lost. */
const lostMs = 60_000;
/** Age at which batches without a job and half-posted ledger entries are removed. */
const orphanMs = 3_600_000;
/** Stalled batches published per query, and queries of one sweep. */
const pageSize = 500;
const pagesPerSweep = 10;

/** Interval between deletions of expired records. */
const expiryMs = 60_000;

/**
 * Time after a step of the clock during which nothing expires, in milliseconds: a clock that is
 * wrong for a moment must not reject jobs or delete results.
 */
const trustedMs = 600_000;

/** Options of sweep(). */
interface SweepOptions {
  /** True, the default, if expired records are deleted. */
  expires?: boolean;
  /** Time since the time of day was set forward or back; none by default. */
  sinceStepMs?: number;
  /** Share of the process; everything by default. */
  share?: SweepShare;
}

/**
 * Runs one sweep: continues the jobs that are due, republishes lost batches, and starts due runs of
 * schedules. All steps are idempotent, so several processes may sweep concurrently. A failing step
 * does not block the others. The sweep stops if the store is unavailable or the signal is aborted.
 */
export async function sweep(
  context: JobContext,
  signal?: AbortSignal,
  { expires = true, sinceStepMs = Number.POSITIVE_INFINITY, share = wholeShare }: SweepOptions = {},
): Promise<void> {
  const { store, clock } = context;
  const now = clock.now();
  const step = async (name: string, run: () => Promise<unknown>): Promise<boolean> => {
    if (signal?.aborted) return false;
    try {
      await run();
      return true;
    } catch (error) {
      reportFailure(context, name, error);
      return false;
    }
  };

  if (!(await step('store', () => store.ping()))) return;
  // Batches are not marked as published while the queue is unavailable, so they resume as soon as
  // it recovers.
  const isQueueAvailable = await step('queue', () => context.queue.ping());
  // Settling reads the whole job, which is wasted if its merged file cannot be written.
  const isWritable = await step('result storage', () => context.blobs.ping());
  const isTrusted = sinceStepMs >= trustedMs;
  const steps = steppingStates
    .filter((state) => isWritable || state !== 'settling')
    .filter((state) => isTrusted || !awaitsDecision(state));
  const passes = passesOf(share);
  for (const pass of isQueueAvailable ? passes : [])
    await step('stalled batches', () => republish(context, pass));
  for (const pass of passes) {
    const options = { pass, isQueueAvailable, signal };
    // A step in progress looks interrupted after the clock was set forward.
    if (sinceStepMs >= interruptedMs)
      await step('jobs', () => continueDue(context, now, stepWork(steps), options));
    await step('running jobs', () => continueDue(context, now, checkWork, options));
  }
  await step('drift', () => context.drift.flush());
  if (share.isLeader) {
    await step('schedules', () => runDueSchedules(context, signal));
    await step('drift messages', () => announceDrift(context));
    await step('destination keys', () => resealDestinations(context, context.destinations.box));
    if (expires && isTrusted) await step('expiry', () => expireRecords(context, sinceStepMs));
  }
  const { ids } = share;
  if (isWritable && isTrusted) await retain(context, now, { ids, step, signal });
  // Follows the steady time, so that it need not wait after a step.
  if (isWritable) await step('late files', () => removeLateFiles(context, { ids, step, signal }));
}

/** Deletes what crashes left half-written, and expired records. */
async function expireRecords(context: JobContext, sinceStepMs: number): Promise<void> {
  const { store } = context;
  const now = context.clock.now();
  await store.ledger.repair(now - interruptedMs);
  // A job that is being written looks abandoned after the clock was set forward.
  if (sinceStepMs >= orphanMs) await store.jobs.deleteOrphanedBatches(now - orphanMs);
  await expire(store, computeCutoffs(context));
}

/**
 * Publishes batches whose claims have expired, and then batches that have not been claimed since
 * `lostMs`, whose messages may be lost. The queue ignores messages that it still holds. Returns
 * their number.
 */
async function republish(context: JobContext, { ids, lateMs }: SweepPass): Promise<number> {
  const now = context.clock.steady() - lateMs;
  return republishAt(context, now, { publishedBefore: now - lostMs, maxPages: pagesPerSweep, ids });
}

/** Options for republishAt(). */
interface RepublishOptions {
  publishedBefore: number;
  maxPages?: number;
  ids?: IdRange | undefined;
}

async function republishAt(
  context: JobContext,
  now: number,
  { publishedBefore, maxPages = Number.POSITIVE_INFINITY, ids }: RepublishOptions,
): Promise<number> {
  let count = 0;
  for (let page = 0; page < maxPages; page += 1) {
    const batches = await context.store.batches.requeueStalled(now, publishedBefore, pageSize, ids);
    await publish(context, batches);
    if (batches.length > 0)
      context.metrics.add('gleaner_sweep_resumed_total', { step: 'batch' }, batches.length);
    count += batches.length;
    if (batches.length < pageSize) break;
  }
  return count;
}

/**
 * Voids every claim, republishes every outstanding batch, and returns their number. Only for the
 * start of the embedded stack, when no other process can hold a claim.
 */
export async function refill(context: JobContext): Promise<number> {
  const { store, clock, log } = context;
  await discardWrongTimes(store, clock, log);
  await voidClaims(store, clock);
  // A time after the end of every lease. Batches taken then are not taken again by these loops.
  const later = clock.steady() + leaseMs;
  return republishAt(context, later, { publishedBefore: later });
}

/** Discards the times that were stored while a clock was wrong. */
async function correctTimes(context: JobContext): Promise<void> {
  await discardWrongTimes(context.store, context.clock, context.log);
  await correctRunTimes(context);
}

/**
 * Sweeps every `intervalMs` until the signal is aborted; resolves when the last round has ended.
 * `readShare` returns the share of the process. Without one, the round only stores the process's
 * drift statistics.
 */
export async function sweepForever(
  context: JobContext,
  intervalMs: number,
  signal: AbortSignal,
  readShare: () => Promise<SweepShare | null>,
): Promise<void> {
  const { clock } = context;
  const steps = observeClockSteps(clock);
  let expiredAt = Number.NEGATIVE_INFINITY;
  const run = async () => {
    const share = await readShare();
    steps.observe();
    if (share === null) return context.drift.flush();
    if (share.isLeader)
      await steps
        .afterStep(() => correctTimes(context))
        .catch((error) => reportFailure(context, 'stored times', error));
    const expires = clock.steady() - expiredAt >= expiryMs;
    if (expires) expiredAt = clock.steady();
    await sweep(context, signal, { expires, sinceStepMs: steps.sinceMs(), share });
  };
  await repeat(run, { ...context, intervalMs, onError: driftFailure(context) }, signal);
}

/**
 * Stores the drift statistics of this process every `intervalMs` until the signal is aborted. For
 * worker processes that do not sweep.
 */
export async function flushDriftForever(
  context: JobContext,
  intervalMs: number,
  signal: AbortSignal,
): Promise<void> {
  await repeat(
    () => context.drift.flush(),
    { ...context, intervalMs, onError: driftFailure(context) },
    signal,
  );
}

/** Returns a function that reports that statistics of this process could not be stored. */
const driftFailure = (context: JobContext) => (error: unknown) =>
  reportFailure(context, 'drift', error);
