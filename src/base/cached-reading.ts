import type { Clock } from './clock.ts';

/** Minimum time for which a value is reused, in milliseconds. */
const minReuseMs = 5_000;

/**
 * Multiple of a reading's duration for which its value is reused: readings take at most 5 % of the
 * time.
 */
const reusePerReading = 20;

/**
 * Returns a function that reads a value and reuses it for 5 s, or for 20 times as long as the
 * reading took if that is longer. So the cost of the value depends neither on the number of calls
 * nor on what it is read from. Concurrent calls share a reading. A failed reading is not reused.
 */
export function cacheReading<T>(
  clock: Pick<Clock, 'steady'>,
  read: () => Promise<T>,
): () => Promise<T> {
  let pending: Promise<T> | null = null;
  let reusedUntil = 0;
  return () => {
    const startedAt = clock.steady();
    if (pending !== null && startedAt < reusedUntil) return pending;
    const current = read();
    pending = current;
    reusedUntil = Number.POSITIVE_INFINITY;
    current.then(
      () => {
        const endedAt = clock.steady();
        reusedUntil = endedAt + Math.max(minReuseMs, reusePerReading * (endedAt - startedAt));
      },
      () => {
        pending = null;
      },
    );
    return current;
  };
}
