import type { Clock } from '../base/clock.ts';
import { repeat } from '../base/due-work.ts';
import type { Log } from '../base/log.ts';
import { Fault } from '../contract/fault.ts';
import { findLiveProcesses, type ProcessReport } from '../store/operations.ts';
import type { Store } from '../store/store.ts';

export interface ServingCountOptions {
  store: Pick<Store, 'processes'>;
  clock: Clock;
  log: Log;
}

/** Counts the live processes that serve the core. */
export interface ServingCount {
  /** The latest count, including this process. */
  current(): number;
  /**
   * Counts every 10 seconds until the signal aborts. Never rejects: if the store is unavailable,
   * the count does not change.
   */
  follow(signal: AbortSignal): Promise<void>;
}

/** Roles of processes that serve callers. */
const serving: ReadonlySet<string> = new Set(['serve', 'api', 'core']);
const followMs = 10_000;
/** Processes report every 10 seconds; one that missed three reports has ended. */
const silentMs = 35_000;

/** Returns the live processes that serve the core, by start time and id. */
export async function listServing(
  store: Pick<Store, 'processes'>,
  clock: Pick<Clock, 'now'>,
): Promise<ProcessReport[]> {
  const processes = await findLiveProcesses(store, clock.now(), silentMs);
  return processes.filter(({ role }) => serving.has(role));
}

/**
 * Creates a counter based on the reports that processes write to the store. The count is 1 until
 * the first query.
 */
export function createServingCount({ store, clock, log }: ServingCountOptions): ServingCount {
  let count = 1;
  const look = async () => {
    const found = Math.max(1, (await listServing(store, clock)).length);
    if (found !== count) log.info({ processes: found }, 'rate limit shared');
    count = found;
  };
  const onError = (error: unknown) =>
    log.warn({ error: Fault.from(error).message }, 'processes not counted');
  return {
    current: () => count,
    follow: (signal) => repeat(look, { clock, intervalMs: followMs, onError }, signal),
  };
}
