import { Fault } from '../base/fault.ts';
import { type JobContext, leaseMs } from '../jobs/context.ts';
import { finishApproval, reject } from '../jobs/decide.ts';
import { discardSubmitted, finishDiscard } from '../jobs/discard.ts';
import { dispatch, publish } from '../jobs/dispatch.ts';
import { finishEnding, settle } from '../jobs/settle.ts';
import { finishSubmit } from '../jobs/submit.ts';
import { finishTerminating } from '../jobs/terminate.ts';

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
const atOnce = 500;

/**
 * One round of the clock: finishes what a crash left between two steps, expires waiting jobs, tops
 * up running ones, and publishes lost batches again. Every step is the jobs' own and happens once,
 * so any number of processes may sweep. One step's failure does not keep the others from their turn;
 * without the store, or once the signal is aborted, there are no further steps.
 */
export async function sweep(context: JobContext, signal?: AbortSignal): Promise<void> {
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
  const each = async <T>(name: string, items: readonly T[], run: (item: T) => Promise<unknown>) => {
    for (const item of items) await step(name, () => run(item));
  };

  if (!(await step('store', () => store.ping()))) return;
  await step('submits', async () => {
    const jobs = await store.findJobs(['submitted', 'discarding'], now - cutShortMs, atOnce);
    await each('submit', jobs, (job) => {
      if (job.state === 'discarding') return finishDiscard(context, job);
      return job.resumable ? finishSubmit(context, job.id) : discardSubmitted(context, job.id);
    });
  });
  await step('approvals', async () => {
    await each('expiry', await store.findExpired(now, atOnce), (job) =>
      reject(context, job.id, null, 'It was not approved within 24 hours.'),
    );
    await each('approval', await store.findJobs(['approving'], now - cutShortMs, atOnce), (job) =>
      finishApproval(context, job),
    );
  });
  // Nothing is taken to be published while the queue is away, so that it goes on at once when it is back.
  const open = await step('queue', () => context.queue.ping());
  if (open)
    await step('stalled batches', async () => {
      await publish(context, await store.takeStalled(now, now - lostMs, atOnce));
    });
  await step('running jobs', async () => {
    for (const job of await store.findJobs(['approved', 'processing'], now, atOnce)) {
      if (open) await step('dispatch', () => dispatch(context, job));
      await step('settle', () => settle(context, job.id));
    }
  });
  await step('ending jobs', async () => {
    const jobs = await store.findJobs(['settling', 'rejecting', 'terminating'], now - cutShortMs, atOnce);
    await each('ending', jobs, (job) =>
      job.state === 'terminating' ? finishTerminating(context, job) : finishEnding(context, job),
    );
  });
  await step('drift', () => context.drift.flush());
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
  while (!signal.aborted) {
    await sweep(context, signal);
    await context.clock.sleep(intervalMs, signal).catch(() => {});
  }
}
