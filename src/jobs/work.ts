import { Fault } from '../base/fault.ts';
import type { Batch, BatchReference, Job } from '../store/documents.ts';
import type { BatchWait } from '../store/politeness.ts';
import { compileBatch } from './compile.ts';
import { type JobContext, leaseMs } from './context.ts';
import { dispatch, publish } from './dispatch.ts';
import { type Finished, readUnit } from './read-unit.ts';
import { settle } from './settle.ts';
import { countsAsStalled, isSuspect, readSuspect } from './suspect.ts';
import { inPlaceMs, type Later, longestWaitMs, waitOf } from './waiting.ts';

/** How often finished units of a batch under way are written. */
const flushMs = 2_000;

/**
 * Works one batch off: claims it, reads its outstanding units, writes what they came to, and takes
 * the job a step further. A message about a batch that someone else has, or that is done, does
 * nothing. Writes name the attempt, so whoever lost the claim changes nothing (DESIGN, "Fencing").
 * `extend` is called as long as the work goes on; `signal` stops it, and the batch is given back.
 */
export async function work(
  context: JobContext,
  message: BatchReference,
  extend: () => void,
  signal: AbortSignal,
): Promise<void> {
  const { store, clock, log } = context;
  const now = clock.now();
  const batch = await store.claimBatch(message.batchId, message.attempt, now, now + leaseMs);
  if (batch === null) return;
  const job = await store.getJob(batch.jobId);
  if (job === null) return;

  const stop = new AbortController();
  const both = AbortSignal.any([signal, stop.signal]);
  const heartbeat = keepClaim(context, batch, extend, stop);
  try {
    // A batch that was never claimed before was never put off.
    const waited = batch.attempt > 1 ? await store.findWait(batch.id) : null;
    const read = isSuspect(batch) ? readSuspect : readUnits;
    const finished = await read(context, job, batch, waited, both);
    if (finished === null) return;
    if (finished.wait) await putOff(context, batch, message, finished, finished.wait, signal);
    else if (!(await finish(context, job, batch, finished))) return;
    else if (waited) await store.dropWait(batch.id);
  } catch (error) {
    if (!both.aborted)
      log.error({ jobId: job.id, batchId: batch.id, error: Fault.from(error).message }, 'batch put back');
    await putBack(context, batch, message, signal, !both.aborted && countsAsStalled(error));
    return;
  } finally {
    stop.abort();
    await heartbeat;
  }
  await goOn(context, job.id);
}

/** Ends a batch whose units all came to something; false when the claim was lost. */
async function finish(
  context: JobContext,
  job: Job,
  batch: Batch,
  { outcomes, payloads }: Finished,
): Promise<boolean> {
  const { store } = context;
  const fresh = new Map(payloads.map(({ index, body }) => [index, body]));
  Object.assign(batch.outcomes, outcomes);
  const success = Object.values(batch.outcomes).filter(({ status }) => status === 'SUCCESS').length;
  const earlier = success > fresh.size ? await store.readPayloads(batch) : [];
  const all = new Map([...earlier, ...fresh]);
  const file = success > 0 ? await compileBatch(context, job, batch, all) : null;
  return store.finishBatch(batch.id, batch.attempt, outcomes, payloads, file, context.clock.now());
}

/**
 * Gives a batch back to whoever is next: at once when we stop, after a moment when something failed.
 * What goes wrong here is made good by the sweep once the claim has ended. `stalled`: the claim counts as one
 * without progress.
 */
async function putBack(
  context: JobContext,
  { id, attempt }: Batch,
  message: BatchReference,
  signal: AbortSignal,
  stalled: boolean,
): Promise<void> {
  const { store, clock } = context;
  try {
    if (!signal.aborted) await clock.sleep(flushMs, signal).catch(() => {});
    if (await store.releaseBatch(id, attempt, clock.now(), stalled))
      await publish(context, [{ ...message, attempt }]);
  } catch (error) {
    context.log.warn({ batchId: id, error: Fault.from(error).message }, 'batch could not be put back');
  }
}

/**
 * Gives a batch back until its pages can be had again, so that what can be read now is read meanwhile.
 * This process publishes it then; if it is gone by that time, the sweep does.
 */
async function putOff(
  context: JobContext,
  { id, attempt }: Batch,
  message: BatchReference,
  { outcomes, payloads }: Finished,
  wait: BatchWait,
  signal: AbortSignal,
): Promise<void> {
  const { store, queue, clock, log } = context;
  if (!(await store.recordOutcomes(id, attempt, outcomes, payloads))) return;
  await store.keepWait(wait);
  if (!(await store.releaseBatch(id, attempt, wait.until))) return;
  const ms = wait.until - clock.now();
  log.info({ jobId: wait.jobId, batchId: id, ms, reason: wait.reason }, 'batch put off');
  const publish = async () => {
    await clock.sleep(ms, signal);
    await queue.publish({ ...message, attempt });
  };
  void publish().catch(() => {});
}

/** What follows a batch that is finished or put off: the job's next one, or its end. */
async function goOn(context: JobContext, jobId: string): Promise<void> {
  const job = await context.store.getJob(jobId);
  if (job?.state === 'processing') await dispatch(context, job);
  await settle(context, jobId);
}

/** Renews the claim until stopped; a claim that is lost stops the work. */
async function keepClaim(
  context: JobContext,
  batch: Batch,
  extend: () => void,
  stop: AbortController,
): Promise<void> {
  const { store, clock } = context;
  while (!stop.signal.aborted) {
    try {
      await clock.sleep(leaseMs / 3, stop.signal);
      extend();
      if (!(await store.renewBatch(batch.id, batch.attempt, clock.now() + leaseMs))) stop.abort();
    } catch (error) {
      if (!stop.signal.aborted)
        context.log.warn({ batchId: batch.id, error: Fault.from(error).message }, 'claim not renewed');
    }
  }
}

/**
 * Reads the batch's outstanding units, a few at once. What is finished is written every so often, so
 * that a crash costs little; the rest is given back, with what is left to wait for. Null when the claim
 * was lost.
 */
async function readUnits(
  context: JobContext,
  job: Job,
  batch: Batch,
  waited: BatchWait | null,
  signal: AbortSignal,
): Promise<Finished | null> {
  const { store, clock } = context;
  let finished: Finished = { outcomes: {}, payloads: [], wait: null };
  let flushed = clock.now();
  let ours = true;
  /** When the waiting began; anew with every unit that could be read. */
  let since = waited?.since ?? clock.now();
  const tries = new Map(Object.entries(waited?.tries ?? {}));

  const flush = async () => {
    const part = finished;
    finished = { outcomes: {}, payloads: [], wait: null };
    flushed = clock.now();
    ours = await store.recordOutcomes(batch.id, batch.attempt, part.outcomes, part.payloads);
    Object.assign(batch.outcomes, part.outcomes);
  };
  const readNext = async (outstanding: Iterable<number>, later: Map<number, Later>) => {
    for (const index of outstanding) {
      const patience = { tries: tries.get(`${index}`) ?? 0, until: since + longestWaitMs[job.lane] };
      const result = await readUnit(context, job, batch, index, signal, patience);
      if ('until' in result) {
        later.set(index, result);
        tries.set(`${index}`, result.tries);
        continue;
      }
      const { outcome, payload } = result;
      if (outcome.status === 'SUCCESS') since = clock.now();
      finished.outcomes[index] = outcome;
      if (payload) finished.payloads.push({ index, body: payload });
      if (clock.now() - flushed > flushMs) await flush();
      if (!ours) return;
    }
  };
  for (;;) {
    const isLeft = (index: number) => !batch.outcomes[index] && !finished.outcomes[index];
    const outstanding = batch.units.keys().filter(isLeft);
    const later = new Map<number, Later>();
    const readers = Math.min(context.pages.concurrency(batch.market), batch.units.length);
    await Promise.all(Array.from({ length: readers }, () => readNext(outstanding, later)));
    if (!ours) return null;
    if (later.size === 0) return finished;
    const wait = waitOf(batch, later, since);
    const ms = wait.until - clock.now();
    if (ms > inPlaceMs) return { ...finished, wait };
    await clock.sleep(ms, signal);
  }
}
