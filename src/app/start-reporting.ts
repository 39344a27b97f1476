import { hostname } from 'node:os';
import manifest from '../../package.json' with { type: 'json' };
import { reportForever } from '../sweep/report.ts';
import type { WorkerPoolStats } from '../worker/pool.ts';
import type { Program } from './compose.ts';

/** Interval between reports of a process, in milliseconds. */
const reportMs = 10_000;

/** Report of a process without workers. */
const idle = { workers: 0, batches: 0, unitsDone: 0, memoryBytes: 0 };

/**
 * Starts heartbeats of this process. `id`: unique for each start of the process. `work` returns its workers'
 * counts. Returns a function that stops and removes the heartbeat; call it after the worker has stopped.
 */
export function startReporting(
  { context, clock, skewMs, log, requestCounter }: Program,
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
    version: manifest.version,
    startedAt: clock.now(),
  };
  const { store, disk } = context;
  const state = async () => {
    const { memoryBytes, workers, batches, unitsDone } = work() ?? idle;
    return {
      workers,
      batches,
      unitsDone,
      memoryBytes: process.memoryUsage.rss() + memoryBytes,
      paused: (await disk.isLow()) ? 'disk almost full' : '',
      clockSkewMs: skewMs(),
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
