import { backOffMs } from '../../base/back-off.ts';
import { Fault } from '../../contract/fault.ts';
import type { Batch, BatchReference, BatchWait } from '../../store/batches.ts';
import { releaseBatch } from '../../store/claims.ts';
import type { JobContext } from '../context.ts';
import { countsAsStalled, storageBackOff } from './batch-writer.ts';
import { publish } from './dispatch.ts';

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
  log.error(
    {
      jobId,
      batchId: id,
      failures,
      ms,
      error: fault.message,
    },
    'batch requeued',
  );
  const now = clock.steady();
  const reason = fault.isOutage ? 'storage unavailable' : 'internal error';
  const wait = {
    since: now,
    until: now + ms,
    reason,
    tries: previousWait?.tries ?? {},
    failures,
  };
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
  log.info(
    {
      jobId: batch.jobId,
      batchId: batch.id,
      ms,
      reason: wait.reason,
    },
    'batch deferred',
  );
  return true;
}

/**
 * Releases a batch until a time, and publishes it at that time. If this process has stopped before,
 * the sweep publishes it. Returns false if the claim was lost.
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
