import type { BatchReference } from '../../store/documents.ts';
import type { StoreUse } from '../context.ts';
import { postpone, type ReleaseContext } from './release.ts';

/** Dependencies of this module. */
type DeferContext = StoreUse<'claimBatch'> & ReleaseContext;

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
  const { store, clock } = context;
  const now = clock.now();
  const batch = await store.claimBatch(message.batchId, message.attempt, now, now + ms);
  if (batch !== null) await postpone(context, batch, message, ms, signal);
}
