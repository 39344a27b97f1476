import { linkSignals } from '../../base/abort.ts';
import { repeat } from '../../base/due-work.ts';
import { Fault } from '../../contract/fault.ts';
import type { QueueMessage } from '../../queue/queue.ts';
import type { ClaimedBatch } from '../../store/batch-store.ts';
import type { Batch, BatchReference } from '../../store/batches.ts';
import { excuseClaim, excuseEarlierClaim, releaseBatch, updateClaim } from '../../store/claims.ts';
import type { Job } from '../../store/documents.ts';
import { type JobContext, leaseMs } from '../context.ts';
import { hasSegmentOf } from '../records.ts';
import { type BatchWriter, createBatchWriter } from './batch-writer.ts';
import { dispatch, isQueuedAtOnce } from './dispatch.ts';
import { finalizeJob } from './finalize-job.ts';
import { isSuspect, readBatchUnits } from './read-batch.ts';
import { backOff, deferUntil, postpone, releaseClaim } from './release.ts';

/** Delay of a stalled batch while the worker reads another one, in milliseconds. */
const isolatedRetryMs = 5_000;

/**
 * Abort reason for a batch that ended. A shared Error avoids an exception with a stack for each
 * abort.
 */
const batchEnded = new Error('the batch ended');

/**
 * Processes one batch: claims it, reads its outstanding units, writes their outcomes, and
 * dispatches the next batches of its job, or ends the job after the last one. Does nothing if the
 * batch is done or claimed by another worker. Writes are fenced by the attempt, so a worker that
 * lost the claim changes nothing (docs/reliability.md). Calls `extend` while the work continues.
 * Releases the batch when `signal` aborts. Throws `unavailable` while the disk is almost full.
 */
export async function work(
  context: JobContext,
  message: QueueMessage,
  extend: () => void,
  signal: AbortSignal,
  jobs: JobsOfMessages = { get: context.store.jobs.get, leave: () => true },
): Promise<void> {
  // The queue redelivers the message, here or to a worker with free disk space.
  if (await context.disk.isLow()) throw new Fault('unavailable', 'the disk is almost full');
  const batch = await claimBatch(context, message);
  if (batch === null) {
    // A batch that ended before may have left the check for outstanding ones to this message.
    if (jobs.leave(message)) await finalizeJob(context, message.jobId);
    return;
  }
  await excuseProgress(context, batch);
  if (context.guard?.handOver && isSuspect(batch)) return handOver(context, batch, message);
  const job = await jobs.get(batch.jobId);
  if (job === null) return;
  const end = await processClaim(context, job, batch, { message, extend, stopping: signal });
  if (end === 'done') await advanceJob(context, job, jobs.leave(message));
}

/** Jobs of the messages that a worker has received and not completed. */
export interface JobsOfMessages {
  /**
   * Returns a job, or null if there is none. It may be an earlier version of a running job: the
   * fields used here do not change before its end.
   */
  get(jobId: string): Promise<Job | null>;
  /** Removes a message. Returns true if none of its job is left. */
  leave(message: BatchReference): boolean;
}

/** How a claim ended. `lost`: another worker has the batch, or its job was stopped. */
type ClaimResult = 'done' | 'released' | 'lost';

/** Options for processClaim(). */
interface ClaimOptions {
  message: BatchReference;
  extend: () => void;
  /** Aborts when the worker stops. */
  stopping: AbortSignal;
}

/**
 * Reads a claimed batch while its claim is renewed. Releases the batch if the worker stops or the
 * work fails.
 */
async function processClaim(
  context: JobContext,
  job: Job,
  batch: Batch,
  { message, extend, stopping }: ClaimOptions,
): Promise<ClaimResult> {
  const stop = new AbortController();
  const { signal: readSignal, release } = linkSignals(stopping, stop.signal);
  const heartbeat = renewClaim(context, batch, extend, stop);
  const outcomeCount = Object.keys(batch.outcomes).length;
  const writer = createBatchWriter(context, job, batch, readSignal);
  const claimedWork = {
    message,
    writer,
    readSignal,
    stopping,
  };
  try {
    const result = await readClaimed(context, job, batch, claimedWork);
    if (result === 'lost') await excuse(context, batch);
    return result;
  } catch (error) {
    if (stop.signal.aborted) {
      // The claim was lost, so the batch is another worker's.
      await excuse(context, batch);
      return 'lost';
    }
    if (stopping.aborted) {
      await releaseClaim(context, batch, message);
      return 'released';
    }
    const hasProgress = Object.keys(batch.outcomes).length > outcomeCount;
    const failures = hasProgress ? 1 : (batch.wait?.failures ?? 0) + 1;
    await backOff(context, batch, message, Fault.from(error), failures, stopping);
    return 'released';
  } finally {
    stop.abort(batchEnded);
    release();
    writer.release();
    await heartbeat;
  }
}

/**
 * Dispatches the next batches of a job after one is done, or ends the job after the last one.
 * `isLast`: the worker has no other message about the job, whose end would do so, too.
 */
async function advanceJob(context: JobContext, job: Job, isLast: boolean): Promise<void> {
  // A job that was stopped after the claim has no waiting batches, or will soon fail the ones
  // queued here.
  if (job.state !== 'processing') return;
  const isQueued = isQueuedAtOnce(context, job);
  if (isQueued && !isLast) return;
  const dispatched = isQueued ? 'idle' : await dispatch(context, job);
  if (dispatched === 'idle' || dispatched === 'closed') await finalizeJob(context, job.id);
}

/**
 * Claims a batch. First releases the claim of a process that is gone. A process that is only cut
 * off from the queue loses its claim, as it would when the claim expires.
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
  const isReleased = await releaseBatch(store, lost, now, { unseen: true });
  return isReleased ? claim(lost.attempt) : null;
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

/** Reads a claimed batch and ends it, or releases it until its pages can be read. */
async function readClaimed(
  context: JobContext,
  job: Job,
  batch: Batch,
  { message, writer, readSignal, stopping }: ClaimedWork,
): Promise<ClaimResult> {
  const result = await readBatchUnits(context, job, batch, writer, readSignal);
  switch (result.kind) {
    case 'lost':
      return 'lost';
    case 'busy': {
      const isReleased = await postpone(context, batch, message, isolatedRetryMs, stopping);
      return isReleased ? 'released' : 'lost';
    }
    case 'complete':
      return (await writer.finish()) ? 'done' : 'lost';
    case 'waiting': {
      if (!(await writer.flush())) return 'lost';
      const isReleased = await deferUntil(context, batch, message, result.wait, stopping);
      return isReleased ? 'released' : 'lost';
    }
  }
}

/**
 * Withdraws the count of the previous claim as one without progress if its worker had stored
 * records before it was killed: repeated kills from outside are no evidence against the pages.
 */
async function excuseProgress({ store, log }: JobContext, batch: ClaimedBatch): Promise<void> {
  if (!batch.isInterrupted || batch.stalledClaims < 2) return;
  if (!hasSegmentOf(batch, batch.attempt - 1)) return;
  try {
    if (await excuseEarlierClaim(store, batch)) batch.stalledClaims -= 1;
  } catch (error) {
    log.warn({ batchId: batch.id, error: Fault.from(error).message }, 'claim not excused');
  }
}

/**
 * Withdraws the count of a lost claim as one without progress. While the store is unavailable, the
 * claim counts.
 */
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
    const leaseUntil = clock.steady() + leaseMs;
    if (!(await updateClaim(store, batch, { leaseUntil }))) stop.abort();
  };
  const onError = (error: unknown) => {
    if (!stop.signal.aborted)
      log.warn({ batchId: batch.id, error: Fault.from(error).message }, 'claim not renewed');
  };
  await repeat(
    renew,
    {
      clock,
      intervalMs: leaseMs / 3,
      startsLate: true,
      onError,
    },
    stop.signal,
  );
}

/**
 * Hands a batch over to the process that reads batches whose pages may end their reader. If the
 * release fails, or that process does not read the batch, the sweep republishes it.
 */
async function handOver(context: JobContext, batch: Batch, message: BatchReference): Promise<void> {
  const { store, clock, guard } = context;
  const { attempt } = batch;
  if (await releaseBatch(store, batch, clock.steady())) guard?.handOver?.({ ...message, attempt });
}
