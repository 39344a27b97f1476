import type { Clock } from '../base/clock.ts';
import type { Log } from '../base/log.ts';
import { Fault } from '../contract/fault.ts';
import type { OperationsStore } from '../store/operations.ts';

/** Options for createServingCount(). */
export interface ServingCountOptions {
  store: Pick<OperationsStore, 'listProcesses'>;
  clock: Clock;
  log: Log;
}

/** Number of live processes that serve the core. */
export interface ServingCount {
  /** The number at the last look, this process included. */
  current(): number;
  /** Looks every 10 seconds until the signal is aborted. Never rejects: while the store is away the last number stands. */
  follow(signal: AbortSignal): Promise<void>;
}

/** Roles of processes that callers reach. */
const serving: ReadonlySet<string> = new Set(['serve', 'api', 'core']);
const followMs = 10_000;
/** A process reports itself every 10 seconds; one that missed three reports has ended. */
const silentMs = 35_000;

/** Creates the count from the reports that processes keep in the store; until the first look it is 1. */
export function createServingCount({ store, clock, log }: ServingCountOptions): ServingCount {
  let count = 1;
  const look = async () => {
    try {
      const processes = await store.listProcesses(clock.now() - silentMs);
      const found = Math.max(1, processes.filter(({ role }) => serving.has(role)).length);
      if (found !== count) log.info({ processes: found }, 'rate limit shared');
      count = found;
    } catch (error) {
      log.warn({ error: Fault.from(error).message }, 'processes not counted');
    }
  };
  return {
    current: () => count,
    follow: async (signal) => {
      while (!signal.aborted) {
        await look();
        await clock.sleep(followMs, signal).catch(() => {});
      }
    },
  };
}
