import { linkSignals } from '../base/abort.ts';
import { Fault } from '../base/fault.ts';
import type { Batch, BatchReference } from '../store/documents.ts';
import type { BatchWait } from '../store/waits.ts';
import { createBatchWriter } from './batch-writer.ts';
import { type JobContext, leaseMs } from './context.ts';
import { dispatch } from './dispatch.ts';
import { readUnits } from './read-units.ts';
import { backOff, putBack, putOff } from './release.ts';
import { settle } from './settle.ts';
import { isSuspect, readSuspect } from './suspect.ts';

/**
 * Works one batch off: claims it, reads its outstanding units, writes what they came to, and takes
 * the job a step further. A message about a batch that someone else has, or that is done, does
 * nothing. Writes name the attempt, so whoever lost the claim changes nothing (DESIGN, "Fencing").
 * Fault `unavailable` while the disk is almost full. `extend` is called as long as the work goes on; `signal` stops it, and the batch is given back.
 */
export async function work(
  context: JobContext,
  message: BatchReference,
  extend: () => void,
  signal: AbortSignal,
): Promise<void> {
  const { store, clock } = context;
  // The queue brings the message again, here or where there is room.
  if (await context.disk.isLow()) throw new Fault('unavailable', 'the disk is almost full');
  const now = clock.now();
  const batch = await store.claimBatch(message.batchId, message.attempt, now, now + leaseMs);
  if (batch === null) return;
  const job = await store.getJob(batch.jobId);
  if (job === null) return;

  const stop = new AbortController();
  const { signal: both, release } = linkSignals(signal, stop.signal);
  const heartbeat = keepClaim(context, batch, extend, stop);
  const known = Object.keys(batch.outcomes).length;
  let waited: BatchWait | null = null;
  try {
    // A batch that was never claimed before was never put off.
    waited = batch.attempt > 1 ? await store.getWait(batch.id) : null;
    const read = isSuspect(batch) ? readSuspect : readUnits;
    const writer = createBatchWriter(context, job, batch, waited, both);
    const ended = await read(context, job, batch, writer, waited, both);
    if (ended === null) return;
    if (ended.wait) {
      if (!(await writer.flush())) return;
      await putOff(context, batch, message, ended.wait, signal);
    } else if (!(await writer.finish())) return;
    else if (waited) await store.deleteWait(batch.id);
  } catch (error) {
    // The claim was lost, and the batch with it.
    if (stop.signal.aborted) return;
    if (signal.aborted) await putBack(context, batch, message);
    else {
      const hasProgress = Object.keys(batch.outcomes).length > known;
      const failures = hasProgress ? 1 : (waited?.failures ?? 0) + 1;
      await backOff(context, batch, message, Fault.from(error), { waited, failures }, signal);
    }
    return;
  } finally {
    stop.abort();
    release();
    await heartbeat;
  }
  await advanceJob(context, job.id);
}

/** What follows a batch that is finished or put off: the job's next one, or its end. */
async function advanceJob(context: JobContext, jobId: string): Promise<void> {
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
