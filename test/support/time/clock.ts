import type { Clock, ClockRecord, ClockState } from '../../../src/base/clock.ts';

/** A clock that only the test advances. */
export interface ManualClock extends Clock {
  /**
   * Advances by `ms`, waking sleepers in the order of their times, and runs the tasks that they
   * trigger.
   */
  advance(ms: number): Promise<void>;
  /** Sets the time of day forward or back; the steady time does not change. */
  step(ms: number): void;
  /** Returns the number of callers asleep. */
  sleepers(): number;
}

/**
 * Runs pending tasks, including file operations, until they wait for time or network. The speed of
 * the disk does not matter: a test that advances its clock next does not overtake a write.
 */
export async function flushTasks(): Promise<void> {
  for (let turn = 0; turn < 20; ) {
    await new Promise((resolve) => setImmediate(resolve));
    turn = hasFileOperations() ? 0 : turn + 1;
  }
}

const hasFileOperations = () =>
  process.getActiveResourcesInfo().some((name) => name.startsWith('FSReq'));

/** Creates a clock set to `start`, in milliseconds since the epoch. */
export function createManualClock(start: number): ManualClock {
  let now = start;
  let stepMs = 0;
  const sleeping = new Set<{ until: number; wake: () => void }>();
  return {
    now: () => now + stepMs,
    steady: () => now,
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
        const next = [...sleeping]
          .filter(({ until }) => until <= end)
          .sort((a, b) => a.until - b.until)[0];
        if (next === undefined) break;
        now = Math.max(now, next.until);
        sleeping.delete(next);
        next.wake();
        await flushTasks();
      }
      now = end;
      await flushTasks();
    },
    step(ms) {
      stepMs += ms;
    },
    sleepers: () => sleeping.size,
  };
}

/** Creates the record of a shared clock in memory. */
export function createMemoryClockRecord(stored: ClockState | null = null): ClockRecord {
  let state = stored;
  return {
    read: async () => state,
    create: async (created) => {
      state ??= created;
    },
    change: async (from, to) => {
      if (state?.aheadMs !== from) return false;
      state = { ...state, aheadMs: to };
      return true;
    },
    reach: async (time) => {
      if (state !== null) state = { ...state, reached: Math.max(state.reached, time) };
    },
  };
}
