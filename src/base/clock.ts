import { setTimeout as wait } from 'node:timers/promises';

/** Time as the program sees it. Handed in everywhere, so that tests decide what time it is. */
export interface Clock {
  /** Milliseconds since the epoch, UTC. */
  now(): number;
  /** Resolves after `ms` milliseconds; rejects with the signal's reason when aborted before. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
}

/** The machine's own clock. A sleep keeps the process alive: whoever is to stop aborts it. */
export const systemClock: Clock = {
  now: () => Date.now(),
  sleep: async (ms, signal) => {
    await wait(ms, undefined, signal ? { signal } : {});
  },
};
