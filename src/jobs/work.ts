import { Fault } from '../base/fault.ts';
import type { Batch, BatchReference, Job, Outcome } from '../store/documents.ts';
import type { Payload } from '../store/store.ts';
import { compileBatch } from './compile.ts';
import { type JobContext, leaseMs } from './context.ts';
import { dispatch, publish } from './dispatch.ts';
import { readUnit } from './read-unit.ts';
import { settle } from './settle.ts';

/** How often finished units of a batch under way are written. */
const flushMs = 2_000;

/** What the units of a batch came to since the last write. */
interface Finished {
  outcomes: Record<number, Outcome>;
  payloads: Payload[];
}

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
    const finished = await readUnits(context, job, batch, both);
    if (finished === null) return;
    const payloads = new Map(finished.payloads.map(({ index, body }) => [index, body]));
    Object.assign(batch.outcomes, finished.outcomes);
    const success = Object.values(batch.outcomes).filter(({ status }) => status === 'SUCCESS').length;
    const earlier = success > payloads.size ? await store.readPayloads(batch) : [];
    const all = new Map([...earlier, ...payloads]);
    const file = success > 0 ? await compileBatch(context, job, batch, all) : null;
    const ours = await store.finishBatch(batch.id, batch.attempt, finished.outcomes, finished.payloads, file);
    if (!ours) return;
  } catch (error) {
    if (!both.aborted)
      log.error({ jobId: job.id, batchId: batch.id, error: Fault.from(error).message }, 'batch put back');
    await putBack(context, batch, message, signal);
    return;
  } finally {
    stop.abort();
    await heartbeat;
  }
  await goOn(context, job.id);
}

/**
 * Gives a batch back to whoever is next: at once when we stop, after a moment when something failed.
 * What goes wrong here is made good by the sweep once the claim has ended.
 */
async function putBack(
  context: JobContext,
  { id, attempt }: Batch,
  message: BatchReference,
  signal: AbortSignal,
): Promise<void> {
  const { store, clock } = context;
  try {
    if (!signal.aborted) await clock.sleep(flushMs, signal).catch(() => {});
    if (await store.releaseBatch(id, attempt, clock.now())) await publish(context, [{ ...message, attempt }]);
  } catch (error) {
    context.log.warn({ batchId: id, error: Fault.from(error).message }, 'batch could not be put back');
  }
}

/** What follows a finished batch: the job's next one, or its end. */
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
 * that a crash costs little; the rest is given back. Null when the claim was lost.
 */
async function readUnits(
  context: JobContext,
  job: Job,
  batch: Batch,
  signal: AbortSignal,
): Promise<Finished | null> {
  const { store, clock } = context;
  const outstanding = batch.units.keys().filter((index) => batch.outcomes[index] === undefined);
  let finished: Finished = { outcomes: {}, payloads: [] };
  let flushed = clock.now();
  let ours = true;

  const flush = async () => {
    const part = finished;
    finished = { outcomes: {}, payloads: [] };
    flushed = clock.now();
    ours = await store.recordOutcomes(batch.id, batch.attempt, part.outcomes, part.payloads);
    Object.assign(batch.outcomes, part.outcomes);
  };
  const readNext = async () => {
    for (const index of outstanding) {
      const { outcome, payload } = await readUnit(context, job, batch, index, signal);
      finished.outcomes[index] = outcome;
      if (payload) finished.payloads.push({ index, body: payload });
      if (clock.now() - flushed > flushMs) await flush();
      if (!ours) return;
    }
  };
  const readers = Math.min(context.pages.concurrency(batch.market), batch.units.length);
  await Promise.all(Array.from({ length: readers }, readNext));
  return ours ? finished : null;
}
