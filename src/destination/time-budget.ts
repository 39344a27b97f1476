/** Time that an attempt may take: a base, and the time of its bytes at a minimum rate. */
export interface TimeBudget {
  /** Aborted, with the reason that createTimeBudget() got, once the time is over. */
  readonly signal: AbortSignal;
  /** Adds the time of these bytes. */
  add(bytes: number): void;
  /** Ends the budget: its signal is not aborted any more. */
  end(): void;
}

/** Options of createTimeBudget(). */
export interface TimeBudgetOptions {
  baseMs: number;
  minBytesPerSecond: number;
  /** Creates the reason of the signal. */
  reason(totalMs: number): Error;
  /** Returns a time in milliseconds that never goes back; `performance.now` by default. */
  now?: () => number;
}

/** Starts a time budget. */
export function createTimeBudget(options: TimeBudgetOptions): TimeBudget {
  const { baseMs, minBytesPerSecond, reason, now = () => performance.now() } = options;
  const controller = new AbortController();
  const start = now();
  let totalMs = baseMs;
  let timer: NodeJS.Timeout | undefined;
  const check = () => {
    const leftMs = start + totalMs - now();
    if (leftMs <= 0) controller.abort(reason(Math.round(totalMs)));
    else timer = setTimeout(check, leftMs);
  };
  check();
  return {
    signal: controller.signal,
    // The timer rather fires early, and checks again, than being set for every chunk.
    add: (bytes) => {
      totalMs += (bytes / minBytesPerSecond) * 1_000;
    },
    end: () => clearTimeout(timer),
  };
}
