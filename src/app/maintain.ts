import { trackForever, trackMs } from '../history/tracker.ts';
import type { JobContext } from '../jobs/context.ts';
import { sweepForever, sweepMs } from '../sweep/sweep.ts';

/** Sweeps and compares tracked jobs until the signal is aborted. Several processes may do so concurrently. */
export async function maintainForever(context: JobContext, signal: AbortSignal): Promise<void> {
  await Promise.all([sweepForever(context, sweepMs, signal), trackForever(context, trackMs, signal)]);
}
