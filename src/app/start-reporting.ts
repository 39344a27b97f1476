import { hostname } from 'node:os';
import { packageVersion } from '../base/package-folder.ts';
import { trackForever, trackMs } from '../history/tracker.ts';
import type { JobContext } from '../jobs/context.ts';
import { reportForever } from '../operations/report.ts';
import { queueUnavailable } from '../store/operations.ts';
import { sweepMs } from '../sweep/continue-jobs.ts';
import { readShare, wholeShare } from '../sweep/share.ts';
import { sweepForever } from '../sweep/sweep.ts';
import type { WorkerPoolStats } from '../worker/pool.ts';
import type { Program } from './compose.ts';

/**
 * Sweeps and compares tracked jobs until the signal is aborted. The processes of an installation
 * share both. `processId` is null for the only process of a store: it does not wait for one that
 * was killed.
 */
export async function maintainForever(
  context: JobContext,
  processId: string | null,
  signal: AbortSignal,
): Promise<void> {
  const { store, clock } = context;
  const share = async () =>
    processId === null ? wholeShare : readShare(store, processId, clock.now());
  await Promise.all([
    sweepForever(context, sweepMs, signal, share),
    trackForever(context, trackMs, signal),
  ]);
}

/** Interval between reports of a process, in milliseconds. */
const reportMs = 10_000;

/** Report of a process without workers. */
const idle = {
  workers: 0,
  batches: 0,
  unitsDone: 0,
  memoryBytes: 0,
};

/**
 * Starts heartbeats of this process. `id`: unique for each start of the process. `work` returns its
 * workers' counts. Returns a function that stops and removes the heartbeat; call it after the
 * worker has stopped.
 */
export function startReporting(
  { context, clock, log, requestCounter }: Program,
  id: string,
  role: string,
  work: () => WorkerPoolStats | undefined,
): () => Promise<void> {
  const stopping = new AbortController();
  const about = {
    id,
    role,
    host: hostname(),
    pid: process.pid,
    version: packageVersion,
    startedAt: clock.now(),
  };
  const { store, disk, queue } = context;
  const pauseOf = async () => {
    if (await disk.isLow()) return 'disk almost full';
    return queue.ping().then(
      () => '',
      () => queueUnavailable,
    );
  };
  const state = async () => {
    const { memoryBytes, workers, batches, unitsDone } = work() ?? idle;
    return {
      workers,
      batches,
      unitsDone,
      memoryBytes: process.memoryUsage.rss() + memoryBytes,
      paused: await pauseOf(),
      clockSkewMs: clock.skewMs(),
    };
  };
  const reporting = reportForever(
    { store, clock, log, requestCounter, about, state },
    reportMs,
    stopping.signal,
  );
  return () => {
    stopping.abort(new Error('process ended'));
    return reporting;
  };
}
