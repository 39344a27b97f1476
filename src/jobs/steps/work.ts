import { linkSignals } from '../../base/abort.ts';
import { backOffMs } from '../../base/back-off.ts';
import { repeat } from '../../base/due-work.ts';
import { Fault } from '../../contract/fault.ts';
import type { QueueMessage } from '../../queue/queue.ts';
import type { Batch, BatchReference, BatchWait, ClaimedBatch } from '../../store/batches.ts';
import { excuseClaim, excuseEarlierClaim, releaseBatch, updateClaim } from '../../store/claims.ts';
import type { Job } from '../../store/documents.ts';
import { type JobContext, leaseMs } from '../context.ts';
import { hasSegmentOf } from '../records.ts';
import {
  type BatchWriter,
  countsAsStalled,
  createBatchWriter,
  storageBackOff,
} from './batch-writer.ts';
import { dispatch, publish } from './dispatch.ts';
import { finalizeJob } from './finalize-job.ts';
import { isSuspect, readerOf } from './read-batch.ts';

/** Delay of a stalled batch while the worker reads another one, in milliseconds. */
const isolatedRetryMs = 5_000;

/**
 * Reason of the signal of a batch that ended. Without a reason, each abort would create an
 * exception with a stack.
 */
const batchEnded = new Error('the batch ended');

/**
 * Processes one batch: claims it, reads its outstanding units, writes their outcomes, and
 * dispatches the next batches of its job, or ends the job after the last one. Does nothing if the
 * batch is done or claimed by another worker. Writes are fenced by the attempt, so a worker that
 * lost the claim changes nothing (docs/reliability.md). Calls `extend` as long as the work
 * continues. When `signal` aborts, releases the batch. Throws `unavailable` while the disk is
 * almost full. `readJob` may return a running job as it was earlier: nothing that is used of it
 * changes before its end.
 */
export async function work(
  context: JobContext,
  message: QueueMessage,
  extend: () => void,
  signal: AbortSignal,
  readJob: (jobId: string) => Promise<Job | null> = context.store.jobs.get,
): Promise<void> {
  // The queue redelivers the message, here or to a worker with free disk space.
  if (await context.disk.isLow()) throw new Fault('unavailable', 'the disk is almost full');
  const batch = await claimBatch(context, message);
  if (batch === null) return;
  await excuseProgress(context, batch);
  if (context.guard?.handOver && isSuspect(batch)) return handOver(context, batch, message);
  const job = await readJob(batch.jobId);
  if (job === null) return;

  const stop = new AbortController();
  const { signal: both, release } = linkSignals(signal, stop.signal);
  const heartbeat = renewClaim(context, batch, extend, stop);
  const outcomeCount = Object.keys(batch.outcomes).length;
  const writer = createBatchWriter(context, job, batch, both);
  try {
    const end = await readClaimed(context, job, batch, {
      message,
      writer,
      readSignal: both,
      stopping: signal,
    });
    if (end === 'lost') await excuse(context, batch);
    if (end !== 'done') return;
  } catch (error) {
    // The claim was lost, so the batch is another worker's.
    if (stop.signal.aborted) await excuse(context, batch);
    else if (signal.aborted) await releaseClaim(context, batch, message);
    else {
      const hasProgress = Object.keys(batch.outcomes).length > outcomeCount;
      const failures = hasProgress ? 1 : (batch.wait?.failures ?? 0) + 1;
      await backOff(context, batch, message, Fault.from(error), failures, signal);
    }
    return;
  } finally {
    stop.abort(batchEnded);
    release();
    writer.release();
    await heartbeat;
  }
  // A job that was stopped since the claim has no waiting batch, or soon fails the ones queued
  // here.
  if (job.state !== 'processing') return;
  const dispatched = job.totalBatches === 1 ? 'idle' : await dispatch(context, job);
  if (dispatched === 'idle' || dispatched === 'closed') await finalizeJob(context, job.id);
}

/**
 * Claims a batch. A claim of a process that is gone is released first: one that is only cut off
 * from the queue loses it, as it would when it expires.
 */
async function claimBatch(
  { store, clock }: JobContext,
  message: QueueMessage,
): Promise<ClaimedBatch | null> {
  const { batchId: id, jobId, attempt, isTakenOver = false } = message;
  const now = clock.steady();
  const claim = (from: number) => store.batches.claim({ id, jobId }, from, now, now + leaseMs);
  const batch = await claim(attempt);
  if (batch !== null || !isTakenOver) return batch;
  const lost = { id, jobId, attempt: attempt + 1 };
  return (await releaseBatch(store, lost, now, { unseen: true })) ? claim(lost.attempt) : null;
}

/** Options for readClaimed(). */
interface ClaimedWork {
  message: BatchReference;
  writer: BatchWriter;
  /** Aborts the reads: the claim is lost, or the worker stops. */
  readSignal: AbortSignal;
  /** Aborts when the worker stops. */
  stopping: AbortSignal;
}

/**
 * Reads a claimed batch and ends it, or releases it until its pages can be read. `lost`: another
 * worker has the batch, or its job was stopped.
 */
async function readClaimed(
  context: JobContext,
  job: Job,
  batch: Batch,
  { message, writer, readSignal, stopping }: ClaimedWork,
): Promise<'done' | 'released' | 'lost'> {
  const read = await readerOf(batch)(context, job, batch, writer, readSignal);
  if (read === null) return 'lost';
  if (read === 'busy') {
    const isReleased = await postpone(context, batch, message, isolatedRetryMs, stopping);
    return isReleased ? 'released' : 'lost';
  }
  if (!read.wait) return (await writer.finish()) ? 'done' : 'lost';
  if (!(await writer.flush())) return 'lost';
  const isReleased = await deferUntil(context, batch, message, read.wait, stopping);
  return isReleased ? 'released' : 'lost';
}

/**
 * Takes back that the claim before counts as one without progress if its worker had stored records
 * before it was killed: workers that are killed from outside again and again say nothing about the
 * pages.
 */
async function excuseProgress({ store, log }: JobContext, batch: ClaimedBatch): Promise<void> {
  if (!batch.isInterrupted || batch.stalledClaims < 2 || !hasSegmentOf(batch, batch.attempt - 1))
    return;
  try {
    if (await excuseEarlierClaim(store, batch)) batch.stalledClaims -= 1;
  } catch (error) {
    log.warn({ batchId: batch.id, error: Fault.from(error).message }, 'claim not excused');
  }
}

/** Takes back that a lost claim counts as one without progress. Without the store, it counts. */
async function excuse({ store, log }: JobContext, batch: Batch): Promise<void> {
  const { id, attempt } = batch;
  log.info({ batchId: id, attempt }, 'claim lost');
  try {
    await excuseClaim(store, batch);
  } catch (error) {
    log.warn({ batchId: id, error: Fault.from(error).message }, 'claim not excused');
  }
}

/** Renews the claim until stopped; aborts the work if the claim is lost. */
async function renewClaim(
  context: JobContext,
  batch: Batch,
  extend: () => void,
  stop: AbortController,
): Promise<void> {
  const { store, clock, log } = context;
  const renew = async () => {
    extend();
    if (!(await updateClaim(store, batch, { leaseUntil: clock.steady() + leaseMs }))) stop.abort();
  };
  const onError = (error: unknown) => {
    if (!stop.signal.aborted)
      log.warn({ batchId: batch.id, error: Fault.from(error).message }, 'claim not renewed');
  };
  await repeat(renew, { clock, intervalMs: leaseMs / 3, startsLate: true, onError }, stop.signal);
}

/**
 * Releases a batch to the process that reads batches whose pages may end it. If that fails, or the
 * process does not read it, the sweep republishes the batch.
 */
async function handOver(context: JobContext, batch: Batch, message: BatchReference): Promise<void> {
  const { store, clock, guard } = context;
  const { attempt } = batch;
  if (await releaseBatch(store, batch, clock.steady())) guard?.handOver?.({ ...message, attempt });
}

/**
 * Releases a batch to the next worker, because this one stops. If that fails, the sweep republishes
 * the batch once the claim has expired.
 */
export async function releaseClaim(
  context: JobContext,
  batch: Batch,
  message: BatchReference,
): Promise<void> {
  const { store, clock } = context;
  const { id, attempt } = batch;
  try {
    if (await releaseBatch(store, batch, clock.steady()))
      await publish(context, [{ ...message, attempt }]);
  } catch (error) {
    context.log.warn({ batchId: id, error: Fault.from(error).message }, 'batch not released');
  }
}

/**
 * Releases a batch after a failure of the store or the result storage, with a back-off that grows
 * with each consecutive failure. Without the store, the claim expires and the sweep republishes the
 * batch later.
 */
export async function backOff(
  context: JobContext,
  batch: Batch,
  message: BatchReference,
  fault: Fault,
  failures: number,
  signal: AbortSignal,
): Promise<void> {
  const { clock, log, random } = context;
  const { id, jobId, wait: previousWait } = batch;
  const ms = backOffMs(storageBackOff, failures, random());
  log.error({ jobId, batchId: id, failures, ms, error: fault.message }, 'batch requeued');
  const now = clock.steady();
  const reason = fault.isOutage ? 'storage unavailable' : 'internal error';
  const wait = { since: now, until: now + ms, reason, tries: previousWait?.tries ?? {}, failures };
  try {
    const end = { failed: countsAsStalled(fault), wait };
    await releaseUntil(context, batch, message, wait.until, signal, end);
  } catch (error) {
    log.warn({ batchId: id, error: Fault.from(error).message }, 'batch not released');
  }
}

/**
 * Releases a batch for `ms` milliseconds without a reason that its owner sees. Returns false if the
 * claim was lost.
 */
export async function postpone(
  context: JobContext,
  batch: Batch,
  message: BatchReference,
  ms: number,
  signal: AbortSignal,
): Promise<boolean> {
  const { clock, log } = context;
  const isReleased = await releaseUntil(context, batch, message, clock.steady() + ms, signal);
  if (isReleased) log.debug({ jobId: batch.jobId, batchId: batch.id, ms }, 'batch deferred');
  return isReleased;
}

/**
 * Releases a batch until its origins accept requests again, which frees the worker for other
 * batches. Returns false if the claim was lost.
 */
export async function deferUntil(
  context: JobContext,
  batch: Batch,
  message: BatchReference,
  wait: BatchWait,
  signal: AbortSignal,
): Promise<boolean> {
  const { clock, log } = context;
  if (!(await releaseUntil(context, batch, message, wait.until, signal, { wait }))) return false;
  const ms = wait.until - clock.steady();
  log.info({ jobId: batch.jobId, batchId: batch.id, ms, reason: wait.reason }, 'batch deferred');
  return true;
}

/**
 * Releases a batch until a time, and publishes it then. If this process has stopped by then, the
 * sweep publishes it. Returns false if the claim was lost.
 */
async function releaseUntil(
  { store, queue, clock }: JobContext,
  batch: Batch,
  message: BatchReference,
  until: number,
  signal: AbortSignal,
  end?: { failed?: boolean; wait?: BatchWait },
): Promise<boolean> {
  if (!(await releaseBatch(store, batch, until, end))) return false;
  const publishThen = async () => {
    await clock.sleep(until - clock.steady(), signal);
    await queue.publish({ ...message, attempt: batch.attempt });
  };
  void publishThen().catch(() => {});
  return true;
}
