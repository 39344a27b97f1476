import type { Clock } from '../base/clock.ts';
import { Fault } from '../base/fault.ts';
import type { Log } from '../base/log.ts';
import type { OperationsStore, ProcessReport } from '../store/operations.ts';
import type { OriginTally } from './origin-tally.ts';

/** What a process reports itself with. */
export interface ReportOptions {
  store: Pick<OperationsStore, 'reportProcess' | 'dropProcess' | 'countOrigins'>;
  clock: Clock;
  log: Log;
  /** What stays the same as long as the process runs. */
  about: Pick<ProcessReport, 'id' | 'role' | 'host' | 'pid' | 'version' | 'startedAt'>;
  /** What it does at the moment. */
  state(): Promise<
    Pick<ProcessReport, 'memoryBytes' | 'workers' | 'batches' | 'unitsDone' | 'paused' | 'clockSkewMs'>
  >;
  /** What it asked of origins. */
  tally: Pick<OriginTally, 'take' | 'putBack'>;
}

/**
 * Reports the process, and what it asked of origins, every `intervalMs` until the signal is aborted; then the
 * process is forgotten, once its last counts are kept. Never rejects: what cannot be told now is told later,
 * or, at the end, is lost.
 */
export async function reportForever(
  options: ReportOptions,
  intervalMs: number,
  signal: AbortSignal,
): Promise<void> {
  const { store, clock, log, about, state, tally } = options;
  let told = false;
  const step = async (run: () => Promise<void>): Promise<void> => {
    try {
      await run();
      told = false;
    } catch (error) {
      // Once for as long as it goes on: it is a matter of every few seconds.
      if (!told) log.warn({ error: Fault.from(error).message }, 'process not reported');
      told = true;
    }
  };
  const keepCounts = async () => {
    const rows = tally.take();
    if (rows.length === 0) return;
    try {
      await store.countOrigins(rows);
    } catch (error) {
      tally.putBack(rows);
      throw error;
    }
  };
  const report = async () => store.reportProcess({ ...about, ...(await state()), seenAt: clock.now() });

  while (!signal.aborted) {
    await step(async () => {
      await report();
      await keepCounts();
    });
    await clock.sleep(intervalMs, signal).catch(() => {});
  }
  await step(keepCounts);
  await step(() => store.dropProcess(about.id));
}
