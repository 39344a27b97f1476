import type { Clock } from '../../src/base/clock.ts';

/** A clock that stands still until the test moves it. */
export interface StandingClock extends Clock {
  /** Moves on by `ms`, waking sleepers in the order of their times, and lets what they do settle. */
  pass(ms: number): Promise<void>;
  /** Callers asleep. */
  sleeping(): number;
}

/** Lets everything that needs no time, no network and no disk run to where it waits. */
export async function settled(): Promise<void> {
  for (let turn = 0; turn < 20; turn++) await new Promise((resolve) => setImmediate(resolve));
}

/** Makes a clock that stands at `start`, milliseconds since the epoch. */
export function standingClock(start: number): StandingClock {
  let now = start;
  const sleepers = new Set<{ until: number; wake: () => void }>();
  return {
    now: () => now,
    sleep: (ms, signal) =>
      new Promise((resolve, reject) => {
        signal?.throwIfAborted();
        const sleeper = { until: now + ms, wake: resolve };
        sleepers.add(sleeper);
        signal?.addEventListener(
          'abort',
          () => {
            sleepers.delete(sleeper);
            reject(signal.reason);
          },
          { once: true },
        );
      }),
    async pass(ms) {
      const end = now + ms;
      for (;;) {
        const next = [...sleepers].filter(({ until }) => until <= end).sort((a, b) => a.until - b.until)[0];
        if (next === undefined) break;
        now = Math.max(now, next.until);
        sleepers.delete(next);
        next.wake();
        await settled();
      }
      now = end;
      await settled();
    },
    sleeping: () => sleepers.size,
  };
}
