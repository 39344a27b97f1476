import type { Clock } from '../base/clock.ts';

/**
 * Limit on the batches in progress of a process. Each one costs calls to the store while it waits,
 * to renew its claim and the permits of its origin. With work for a thousand origins, a process
 * would otherwise begin more batches than it can read, until those calls take all of the time.
 */
export interface BatchLimit {
  /**
   * Returns true if a batch of a user who has `own` of the `total` batches in progress may begin.
   * One user alone gets half of the limit, two users a third each, so that there is always room for
   * another.
   */
  allows(own: number, total: number): boolean;
  /** Records how long the store took to respond to a call, in milliseconds. */
  observe(durationMs: number): void;
}

/** Options for createBatchLimit(). */
export interface BatchLimitOptions {
  clock: Pick<Clock, 'steady'>;
  /** Called when the limit has grown. */
  onGrown(): void;
}

/** The limit at the start, and its range, in batches. */
const initialLimit = 512;
export const minBatchLimit = 128;
const maxBatchLimit = 8_192;

/** Minimum interval between two changes of the limit, in milliseconds. */
const adjustMs = 1_000;
/** Weight of one call in the moving average of the durations. */
const weight = 0.1;
/** Average duration below which the limit may grow, in milliseconds. */
const fastMs = 100;
/** Average duration above which the limit shrinks, in milliseconds. */
const slowMs = 250;

/**
 * Creates a limit that adapts like the window of TCP: while the store responds slowly, or the
 * process is late to read its responses, the limit shrinks by a quarter each second. It grows by a
 * tenth each second in which it was reached and calls were fast.
 */
export function createBatchLimit({ clock, onGrown }: BatchLimitOptions): BatchLimit {
  let limit = initialLimit;
  let averageMs = 0;
  let isReached = false;
  let adjustedAt = clock.steady();

  const adjust = () => {
    adjustedAt = clock.steady();
    const wasReached = isReached;
    isReached = false;
    if (averageMs > slowMs) {
      limit = Math.max(minBatchLimit, Math.floor(limit * 0.75));
    } else if (wasReached && averageMs < fastMs && limit < maxBatchLimit) {
      limit = Math.min(maxBatchLimit, Math.ceil(limit * 1.1));
      onGrown();
    }
  };

  return {
    allows(own, total) {
      if (own < limit - total) return true;
      isReached = true;
      return false;
    },
    observe(durationMs) {
      averageMs += weight * (durationMs - averageMs);
      if (clock.steady() - adjustedAt >= adjustMs) adjust();
    },
  };
}
