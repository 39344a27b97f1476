import type { BatchReference } from '../../store/documents.ts';
import type { JobContext, StoreUse } from '../context.ts';
import { publishLater, type ReleaseContext } from './release.ts';

/** Dependencies of this module. */
type DeferContext = Pick<JobContext, 'clock' | 'log'> &
  StoreUse<'claimBatch' | 'releaseBatch'> &
  ReleaseContext;

/**
 * Defers a batch for `ms` milliseconds without reading it, then publishes it. If this process has stopped by then, the
 * sweep publishes it. The attempt is incremented, which voids other messages about the batch.
 */
export async function deferBatch(
  context: DeferContext,
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
