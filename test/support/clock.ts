import type { Clock } from '../../src/base/clock.ts';

/** A clock that only the test advances. */
export interface ManualClock extends Clock {
  /** Advances by `ms`, waking sleepers in the order of their times, and runs the tasks that they trigger. */
  advance(ms: number): Promise<void>;
  /** Returns the number of callers asleep. */
  sleepers(): number;
}

/**
 * Runs pending tasks, including file operations, until they wait for time or network. The speed of the disk
 * does not matter: a test that advances its clock next does not overtake a write.
 */
export async function flushTasks(): Promise<void> {
  for (let turn = 0; turn < 20; ) {
    await new Promise((resolve) => setImmediate(resolve));
    turn = hasFileOperations() ? 0 : turn + 1;
  }
}

const hasFileOperations = () => process.getActiveResourcesInfo().some((name) => name.startsWith('FSReq'));

/** Creates a clock set to `start`, in milliseconds since the epoch. */
export function createManualClock(start: number): ManualClock {
  let now = start;
  const sleeping = new Set<{ until: number; wake: () => void }>();
  return {
    now: () => now,
    sleep: (ms, signal) =>
      new Promise((resolve, reject) => {
        signal?.throwIfAborted();
        const sleeper = { until: now + ms, wake: resolve };
        sleeping.add(sleeper);
        signal?.addEventListener(
          'abort',
          () => {
            sleeping.delete(sleeper);
            reject(signal.reason);
          },
          { once: true },
        );
      }),
    async advance(ms) {
      const end = now + ms;
      for (;;) {
        const next = [...sleeping].filter(({ until }) => until <= end).sort((a, b) => a.until - b.until)[0];
        if (next === undefined) break;
        now = Math.max(now, next.until);
        sleeping.delete(next);
        next.wake();
        await flushTasks();
      }
      now = end;
      await flushTasks();
    },
    sleepers: () => sleeping.size,
  };
}
