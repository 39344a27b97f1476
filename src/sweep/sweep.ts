import { Fault } from '../base/fault.ts';
import { type JobContext, leaseMs } from '../jobs/context.ts';
import { finishApproval, reject } from '../jobs/decide.ts';
import { discardSubmitted, finishDiscard } from '../jobs/discard.ts';
import { dispatch, publish } from '../jobs/dispatch.ts';
import { moveEarlierPayloads } from '../jobs/leftovers.ts';
import { finishEnding, settle } from '../jobs/settle.ts';
import { finishSubmit } from '../jobs/submit.ts';
import { finishTerminating } from '../jobs/terminate.ts';
import type { Job, JobState } from '../store/documents.ts';
import type { JobPlace } from '../store/store.ts';
import { type JobList, type SweepPlaces, visitJobs } from './pages.ts';

/** A step that was begun this long ago and not finished was cut short. */
const cutShortMs = 30_000;
/** A queued batch that nobody claimed for this long is published again: messages get lost. */
const lostMs = 60_000;
/** Batches without a job, and half-posted ledger entries, of this age are nobody's any more. */
const orphanMs = 3_600_000;
/** Pages kept for later jobs at most: some gigabytes. */
const mostCrawls = 100_000;
/** What is known of an origin that nobody asked for this long is of no more use. */
const unusedMs = 24 * 3_600_000;
/** A process that has not reported itself for this long has ended without a word. */
const silentMs = 3_600_000;
/** Stalled batches taken in one call. */
const atOnce = 500;

/** Time between two rounds in milliseconds. */
export const sweepMs = 5_000;

/**
 * One round of the clock: finishes what a crash left between two steps, expires waiting jobs, tops
 * up running ones, and publishes lost batches again. Every step is the jobs' own and happens once,
 * so any number of processes may sweep. One step's failure does not keep the others from their turn;
 * without the store, or once the signal is aborted, there are no further steps. `places` keeps where a
 * bounded round left its lists for the next one.
 */
export async function sweep(
  context: JobContext,
  signal?: AbortSignal,
  places: SweepPlaces = new Map(),
): Promise<void> {
  const { store, clock, log } = context;
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
  const each = (name: string, list: Pick<JobList, 'find' | 'placeOf'>, run: JobList['run']) =>
    step(`${name} jobs`, () =>
      visitJobs({ ...list, name, run: (job) => step(name, () => run(job)) }, places, clock, signal),
    );
  const inState = (states: readonly JobState[], since: number) => ({
    find: (limit: number, after: JobPlace | null) => store.findJobs(states, since, limit, after),
    placeOf: ({ stateSince, id }: Job) => ({ at: stateSince, id }),
  });
  const expired = {
    find: (limit: number, after: JobPlace | null) => store.findExpired(now, limit, after),
    placeOf: ({ decideBy, id }: Job) => ({ at: decideBy ?? 0, id }),
  };

  if (!(await step('store', () => store.ping()))) return;
  await each('submit', inState(['submitted', 'discarding'], now - cutShortMs), (job) => {
    if (job.state === 'discarding') return finishDiscard(context, job);
    return job.resumable ? finishSubmit(context, job.id) : discardSubmitted(context, job.id);
  });
  await each('expiry', expired, (job) =>
    reject(context, job.id, null, 'It was not approved within 24 hours.'),
  );
  await each('approval', inState(['approving'], now - cutShortMs), (job) => finishApproval(context, job));
  // Nothing is taken to be published while the queue is away, so that it goes on at once when it is back.
  const open = await step('queue', () => context.queue.ping());
  if (open) await step('stalled batches', () => republish(context, now));
  await each('running', inState(['approved', 'processing'], now), async (job) => {
    if (open) await step('dispatch', () => dispatch(context, job));
    await settle(context, job.id);
  });
  // Merging a file that cannot be written would read the whole job for nothing.
  const isWritable = await step('result storage', () => context.blobs.ping());
  await each('ending', inState(['settling', 'rejecting', 'terminating'], now - cutShortMs), async (job) => {
    if (isWritable || job.state !== 'settling') await finishEnded(context, job);
  });
  await step('drift', () => context.drift.flush());
  if (isWritable) await step('earlier records', () => moveEarlierPayloads(context));
  await step('leftovers', async () => {
    await store.repairLedger(now - cutShortMs);
    await store.removeOrphans(now - orphanMs);
    await store.expireCrawls(now - context.settings.recentCrawlMs, mostCrawls);
    await store.forgetOrigins(now - unusedMs);
    await store.forgetWaits(now - unusedMs);
    await store.forgetProcesses(now - silentMs);
    await store.forgetOriginMinutes(now - unusedMs);
  });
}

/** Publishes stalled batches; the queue adds only those that it does not have any more. */
async function republish(context: JobContext, now: number): Promise<void> {
  await publish(context, await context.store.takeStalled(now, now - lostMs, atOnce));
}

/** Finishes an ending job. One that fails is tried again when another would be taken for cut short. */
async function finishEnded(context: JobContext, job: Job): Promise<void> {
  try {
    await (job.state === 'terminating' ? finishTerminating(context, job) : finishEnding(context, job));
  } catch (error) {
    await context.store.moveJob(job.id, [job.state], job.state, context.clock.now());
    throw error;
  }
}

/**
 * Puts every outstanding batch back in the queue, whoever seems to have it: for the start of the
 * embedded stack, where nobody else can.
 */
export async function refill(context: JobContext): Promise<number> {
  const { store, clock } = context;
  // No claim lasts longer, and what is taken as of then is not taken twice.
  const later = clock.now() + leaseMs;
  let count = 0;
  for (;;) {
    const batches = await store.takeStalled(later, later, atOnce);
    await publish(context, batches);
    count += batches.length;
    if (batches.length < atOnce) return count;
  }
}

/** Sweeps every `intervalMs` until stopped; resolves when the last round has ended. */
export async function sweepForever(
  context: JobContext,
  intervalMs: number,
  signal: AbortSignal,
): Promise<void> {
  const places: SweepPlaces = new Map();
  while (!signal.aborted) {
    await sweep(context, signal, places);
    await context.clock.sleep(intervalMs, signal).catch(() => {});
  }
}

/**
 * Writes what this process has seen of drift every `intervalMs` until stopped: for worker processes beside
 * the one that sweeps.
 */
export async function flushDriftForever(
  { drift, clock, log }: Pick<JobContext, 'drift' | 'clock' | 'log'>,
  intervalMs: number,
  signal: AbortSignal,
): Promise<void> {
  while (!signal.aborted) {
    try {
      await drift.flush();
    } catch (error) {
      log.warn({ step: 'drift', error: Fault.from(error).message }, 'sweep step failed');
    }
    await clock.sleep(intervalMs, signal).catch(() => {});
  }
}
