import type { BatchReference } from '../store/documents.ts';
import type { JobContext } from './context.ts';
import { publishLater } from './release.ts';

/**
 * Gives a batch back without reading it, for `ms`, and publishes it then; if this process is gone by that time, the
 * sweep does. The attempt is raised, so that other messages about the batch are void.
 */
export async function deferBatch(
  context: JobContext,
  message: BatchReference,
  ms: number,
  signal: AbortSignal,
): Promise<void> {
  const { store, clock, log } = context;
  const now = clock.now();
  const batch = await store.claimBatch(message.batchId, message.attempt, now, now + ms);
  if (batch === null || !(await store.releaseBatch(batch.id, batch.attempt, now + ms))) return;
  log.debug({ jobId: batch.jobId, batchId: batch.id, ms }, 'batch deferred');
  publishLater(context, { ...message, attempt: batch.attempt }, ms, signal);
}
