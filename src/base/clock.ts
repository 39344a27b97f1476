import { setTimeout as wait } from 'node:timers/promises';

/** Source of time. Injected everywhere, so that tests control it. */
export interface Clock {
  /** Milliseconds since the epoch, UTC. */
  now(): number;
  /** Resolves after `ms` milliseconds. Rejects with the signal's reason if the signal aborts first. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
}

/** The system clock. A pending sleep keeps the process alive until its signal is aborted. */
export const systemClock: Clock = {
  now: () => Date.now(),
  sleep: async (ms, signal) => {
    await wait(ms, undefined, signal ? { signal } : {});
  },
};
