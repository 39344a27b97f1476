import { trackForever, trackMs } from '../history/tracker.ts';
import type { JobContext } from '../jobs/context.ts';
import { sweepForever, sweepMs } from '../sweep/sweep.ts';

/** Time without a heartbeat after which another process sweeps. Processes report every 10 seconds. */
const silentMs = 15_000;

/**
 * Sweeps and compares tracked jobs until the signal is aborted. Several processes may do so: the one that
 * started first sweeps, and they share the comparisons. While they do not see each other's heartbeats, two
 * may sweep, which costs time but is harmless. `processId` is null for the only process of a store: it does
 * not wait for one that was killed.
 */
export async function maintainForever(
  context: JobContext,
  processId: string | null,
  signal: AbortSignal,
): Promise<void> {
  const { store, clock } = context;
  const isSweeper = async () => {
    if (processId === null) return true;
    const [first] = await store.processes
      .find({ seenAt: { atLeast: clock.now() - silentMs } })
      .catch(() => []);
    return first === undefined || first.id === processId;
  };
  await Promise.all([
    sweepForever(context, sweepMs, signal, isSweeper),
    trackForever(context, trackMs, signal),
  ]);
}
