import { Fault } from '../base/fault.ts';
import type { Batch, BatchReference } from '../store/documents.ts';
import type { BatchWait } from '../store/waits.ts';
import { backOffMs, storageBackOff } from './back-off.ts';
import type { JobContext } from './context.ts';
import { publish } from './dispatch.ts';
import { countsAsStalled } from './stalled.ts';

/**
 * Gives a batch back at once, for the next worker: this one stops. If that fails, the sweep takes the batch once
 * the claim has ended.
 */
export async function putBack(
  context: JobContext,
  { id, attempt }: Batch,
  message: BatchReference,
): Promise<void> {
  const { store, clock } = context;
  try {
    if (await store.releaseBatch(id, attempt, clock.now())) await publish(context, [{ ...message, attempt }]);
  } catch (error) {
    context.log.warn({ batchId: id, error: Fault.from(error).message }, 'batch not released');
  }
}

/**
 * Gives a batch back that the store or the result storage failed, for a pause that grows with every such
 * failure in a row. Without the store the claim ends by itself, and the sweep takes the batch once it is back.
 */
export async function backOff(
  context: JobContext,
  { id, jobId, attempt }: Batch,
  message: BatchReference,
  fault: Fault,
  { waited, failures }: { waited: BatchWait | null; failures: number },
  signal: AbortSignal,
): Promise<void> {
  const { store, clock, log } = context;
  const ms = backOffMs(storageBackOff, failures);
  log.error({ jobId, batchId: id, failures, ms, error: fault.message }, 'batch requeued');
  const now = clock.now();
  const reason = fault.code === 'unavailable' ? 'storage unavailable' : 'internal error';
  const tries = waited?.tries ?? {};
  try {
    if (!(await store.releaseBatch(id, attempt, now + ms, countsAsStalled(fault)))) return;
    publishLater(context, { ...message, attempt }, ms, signal);
    await store.putWait({ batchId: id, jobId, since: now, until: now + ms, reason, tries, failures });
  } catch (error) {
    log.warn({ batchId: id, error: Fault.from(error).message }, 'batch not released');
  }
}

/** Publishes a batch after a pause. If this process is gone by then, the sweep publishes it. */
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

/**
 * Gives a batch back until its pages can be had again, so that what can be read now is read meanwhile.
 */
export async function putOff(
  context: JobContext,
  { id, attempt }: Batch,
  message: BatchReference,
  wait: BatchWait,
  signal: AbortSignal,
): Promise<void> {
  const { store, clock, log } = context;
  await store.putWait(wait);
  if (!(await store.releaseBatch(id, attempt, wait.until))) return;
  const ms = wait.until - clock.now();
  log.info({ jobId: wait.jobId, batchId: id, ms, reason: wait.reason }, 'batch put off');
  publishLater(context, { ...message, attempt }, ms, signal);
}
