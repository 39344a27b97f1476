import type { Clock } from '../base/clock.ts';

/** Keeps waiting messages from being redelivered. */
export interface AckExtender {
  /** Runs `run` and calls `extend` every few seconds until it settles. */
  during<T>(extend: () => void, run: () => Promise<T>): Promise<T>;
}

/** Interval between extensions: the queue redelivers messages that are not extended for 18 s. */
const extendMs = 5_000;

/** Creates a hold. One timer serves all messages; it stops when none waits. */
export function createAckExtender(clock: Clock, signal: AbortSignal): AckExtender {
  const held = new Set<() => void>();
  let isRunning = false;

  const keepExtending = async () => {
    isRunning = true;
    while (held.size > 0 && !signal.aborted) {
      await clock.sleep(extendMs, signal).catch(() => {});
      for (const extend of held) extend();
    }
    isRunning = false;
  };

  return {
    async during(extend, run) {
      // Two messages may share a function.
      const own = () => extend();
      held.add(own);
      if (!isRunning) void keepExtending();
      try {
        return await run();
      } finally {
        held.delete(own);
      }
    },
  };
}
