import type { Clock } from '../base/clock.ts';
import { repeat } from '../base/due-work.ts';
import type { Log } from '../base/log.ts';
import { Fault } from '../contract/fault.ts';
import type { ProcessReport } from '../store/operations.ts';
import type { Store } from '../store/store.ts';
import type { RequestCounter } from './request-counter.ts';

/** Options for reportForever(). */
export interface ReportOptions {
  store: Pick<Store, 'originMinutes' | 'processes'>;
  clock: Clock;
  log: Log;
  /** Constant properties of the process. */
  about: Pick<ProcessReport, 'id' | 'role' | 'host' | 'pid' | 'version' | 'startedAt'>;
  /** Returns the current state of the process. */
  state(): Promise<
    Pick<
      ProcessReport,
      'memoryBytes' | 'workers' | 'batches' | 'unitsDone' | 'paused' | 'clockSkewMs'
    >
  >;
  /** Counts of requests to origins. */
  requestCounter: Pick<RequestCounter, 'take' | 'putBack'>;
}

/**
 * Stores a heartbeat of the process and its origin counts every `intervalMs` until the signal is
 * aborted, then stores the last counts and deletes the process's record. Never rejects: failed
 * writes are retried in the next interval, except for the last.
 */
export async function reportForever(
  options: ReportOptions,
  intervalMs: number,
  signal: AbortSignal,
): Promise<void> {
  const { store, clock, log, about, state, requestCounter } = options;
  const report = async () =>
    store.processes.upsert([{ ...about, ...(await state()), seenAt: clock.now() }]);
  const storeCounts = async () => {
    const rows = requestCounter.take();
    if (rows.length === 0) return;
    try {
      await store.originMinutes.accumulate(rows);
    } catch (error) {
      requestCounter.putBack(rows);
      throw error;
    }
  };
  const onError = (error: unknown, failures: number) => {
    // Logged once per outage, not every few seconds.
    if (failures === 1) log.warn({ error: Fault.from(error).message }, 'heartbeat failed');
  };
  const run = async () => {
    await report();
    await storeCounts();
  };
  await repeat(run, { clock, intervalMs, onError }, signal);
  for (const end of [storeCounts, () => store.processes.remove({ id: about.id })])
    await end().catch((error) => onError(error, 1));
}
