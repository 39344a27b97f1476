import { hostname } from 'node:os';
import manifest from '../../package.json' with { type: 'json' };
import { reportForever } from '../sweep/report.ts';
import type { PoolTally } from '../worker/pool.ts';
import type { Program } from './compose.ts';

/** How often a process says what it does. */
const reportMs = 10_000;

/** Work of a process without any. */
const idle: PoolTally = { workers: 0, batches: 0, unitsDone: 0, memoryBytes: 0 };

/**
 * Reports this process to the others from now on. `work` tells what its workers do. Gives what ends it: the
 * process is forgotten then, so it comes after the worker's own end.
 */
export function startReporting(
  { context, clock, skewMs, log, tally }: Program,
  role: string,
  work: () => PoolTally | undefined,
): () => Promise<void> {
  const stopping = new AbortController();
  const about = {
    id: context.newId(),
    role,
    host: hostname(),
    pid: process.pid,
    version: manifest.version,
    startedAt: clock.now(),
  };
  const { store, disk } = context;
  const state = async () => {
    const { memoryBytes, ...done } = work() ?? idle;
    return {
      ...done,
      memoryBytes: process.memoryUsage.rss() + memoryBytes,
      paused: (await disk.isLow()) ? 'disk almost full' : '',
      clockSkewMs: skewMs(),
    };
  };
  const reporting = reportForever({ store, clock, log, tally, about, state }, reportMs, stopping.signal);
  return () => {
    stopping.abort(new Error('the process ends'));
    return reporting;
  };
}
