import { setTimeout as wait } from 'node:timers/promises';

/** Source of time. Injected everywhere, so that tests control it. */
export interface Clock {
  /**
   * Time of day in milliseconds since the epoch, UTC: for times that people read, and for deadlines
   * that they set. It may be set forward or back.
   */
  now(): number;
  /**
   * Milliseconds of a clock that never steps, for leases, delays, and durations. The processes of
   * an installation agree on it, also after a restart. It may differ from the time of day by any
   * amount.
   */
  steady(): number;
  /**
   * Resolves after `ms` milliseconds. Rejects with the signal's reason if the signal aborts first.
   */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
}

/** The system clock. A pending sleep keeps the process alive until its signal is aborted. */
export const systemClock: Clock = {
  now: () => Date.now(),
  steady: () => Math.round(performance.timeOrigin + performance.now()),
  sleep: async (ms, signal) => {
    await wait(ms, undefined, signal ? { signal } : {});
  },
};

/** Returns the time of day that a clock shows at a time of `steady()`. */
export function timeOfDay(clock: Pick<Clock, 'now' | 'steady'>, steadyTime: number): number {
  return steadyTime - clock.steady() + clock.now();
}
