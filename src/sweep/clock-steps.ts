import type { Clock } from '../base/clock.ts';

/** Change of the time of day against the steady time that counts as a step, in milliseconds. */
const minStepMs = 1_000;

/**
 * Size of a step that always restarts the time since the last step, in milliseconds. A smaller step
 * restarts it only once this time has passed: a clock that runs at a wrong speed, and is corrected
 * often, must not restart it each time.
 */
const largeStepMs = 600_000;

/** Observer of the steps of a clock. */
export interface ClockSteps {
  /** Looks for a step of the time of day. */
  observe(): void;
  /**
   * Calls `run` the first time, and after each observed step of the time of day until a call
   * succeeds. Rejects if it does.
   */
  afterStep(run: () => Promise<void>): Promise<void>;
  /** Returns the time since the last step that was observed, in milliseconds. */
  sinceMs(): number;
}

/** Creates the observer of a process. It notices steps when it is asked. */
export function observeClockSteps(clock: Pick<Clock, 'now' | 'steady'>): ClockSteps {
  let seenMs: number | null = null;
  let handledMs: number | null = null;
  let steppedAt = Number.NEGATIVE_INFINITY;
  const isOther = (offsetMs: number, other: number) => Math.abs(offsetMs - other) >= minStepMs;
  const observe = (): number => {
    const offsetMs = clock.now() - clock.steady();
    const stepMs = seenMs === null ? 0 : Math.abs(offsetMs - seenMs);
    const isFirst = clock.steady() - steppedAt >= largeStepMs;
    if (stepMs >= largeStepMs || (stepMs >= minStepMs && isFirst)) steppedAt = clock.steady();
    seenMs = offsetMs;
    return offsetMs;
  };
  return {
    observe,
    async afterStep(run) {
      const offsetMs = observe();
      if (handledMs !== null && !isOther(offsetMs, handledMs)) return;
      await run();
      handledMs = offsetMs;
    },
    sinceMs: () => clock.steady() - steppedAt,
  };
}
