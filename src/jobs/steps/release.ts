import { type BackOff, backOffMs } from '../../base/back-off.ts';
import { Fault } from '../../contract/fault.ts';
import type { Batch, BatchReference, BatchWait } from '../../store/batches.ts';
import type { JobContext } from '../context.ts';
import { publish } from './dispatch.ts';

/** Back-off of one batch, or of a worker, while results cannot be stored. */
export const storageBackOff: BackOff = { firstMs: 2_000, maxMs: 300_000 };

/**
 * Releases a batch to the next worker, because this one stops. If that fails, the sweep republishes the batch
 * once the claim has expired.
 */
export async function releaseClaim(
  context: JobContext,
  { id, attempt }: Batch,
  message: BatchReference,
): Promise<void> {
  const { store, clock } = context;
  try {
    if (await store.batches.release(id, attempt, clock.now()))
      await publish(context, [{ ...message, attempt }]);
  } catch (error) {
    context.log.warn({ batchId: id, error: Fault.from(error).message }, 'batch not released');
  }
}

/**
 * Releases a batch after a failure of the store or the result storage, with a back-off that grows with each
 * consecutive failure. Without the store, the claim expires and the sweep republishes the batch later.
 */
export async function backOff(
  context: JobContext,
  { id, jobId, attempt, wait: waited }: Batch,
  message: BatchReference,
  fault: Fault,
  failures: number,
  signal: AbortSignal,
): Promise<void> {
  const { store, clock, log, random } = context;
  const ms = backOffMs(storageBackOff, failures, random());
  log.error({ jobId, batchId: id, failures, ms, error: fault.message }, 'batch requeued');
  const now = clock.now();
  const reason = fault.code === 'unavailable' ? 'storage unavailable' : 'internal error';
  const wait = { since: now, until: now + ms, reason, tries: waited?.tries ?? {}, failures };
  try {
    const end = { failed: countsAsStalled(fault), wait };
    if (!(await store.batches.release(id, attempt, wait.until, end))) return;
    publishLater(context, { ...message, attempt }, ms, signal);
  } catch (error) {
    log.warn({ batchId: id, error: Fault.from(error).message }, 'batch not released');
  }
}

/** Releases a batch for `ms` milliseconds without a reason that its owner sees. */
export async function postpone(
  context: JobContext,
  { id, jobId, attempt }: Batch,
  message: BatchReference,
  ms: number,
  signal: AbortSignal,
): Promise<void> {
  const { store, clock, log } = context;
  if (!(await store.batches.release(id, attempt, clock.now() + ms))) return;
  log.debug({ jobId, batchId: id, ms }, 'batch deferred');
  publishLater(context, { ...message, attempt }, ms, signal);
}

/** Publishes a batch after `ms` milliseconds. If this process has stopped by then, the sweep publishes it. */
export function publishLater(
  { queue, clock }: JobContext,
  message: BatchReference,
  ms: number,
  signal: AbortSignal,
): void {
  const run = async () => {
    await clock.sleep(ms, signal);
    await queue.publish(message);
  };
  void run().catch(() => {});
}

/** Releases a batch until its origins accept requests again, which frees the worker for other batches. */
export async function deferUntil(
  context: JobContext,
  { id, jobId, attempt }: Batch,
  message: BatchReference,
  wait: BatchWait,
  signal: AbortSignal,
): Promise<void> {
  const { store, clock, log } = context;
  if (!(await store.batches.release(id, attempt, wait.until, { wait }))) return;
  const ms = wait.until - clock.now();
  log.info({ jobId, batchId: id, ms, reason: wait.reason }, 'batch deferred');
  publishLater(context, { ...message, attempt }, ms, signal);
}

/** Returns true if a claim that ended with this error counts as one without progress. */
export function countsAsStalled(error: unknown): boolean {
  const fault = Fault.from(error);
  if (fault.code !== 'unavailable') return true;
  // An unavailable engine says nothing about the unit, but its own result may be what filled the disk.
  const { code } = (fault.cause ?? {}) as NodeJS.ErrnoException;
  return code === 'ENOSPC' || code === 'EDQUOT' || code === 'EFBIG';
}
