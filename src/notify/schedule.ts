const second = 1_000;
const minute = 60 * second;
const hour = 60 * minute;

/** Delay after each attempt: a day in total, with most attempts in the first hour. */
const delaysMs = [
  5 * second,
  30 * second,
  2 * minute,
  10 * minute,
  30 * minute,
  hour,
  2 * hour,
  4 * hour,
  8 * hour,
  8 * hour,
];

/** Maximum attempts per message. */
export const maxAttempts = delaysMs.length + 1;

/** Maximum attempts to send a file if the last one took too long: each holds a slot for uploads. */
const maxSlowAttempts = 8;
/** Minimum delay after such an attempt, in milliseconds. */
export const slowDelayMs = hour;

/** Returns true if no attempt follows attempt number `attempts` (from 1) to send a file. */
export function isLastAttempt(attempts: number, timedOut = false): boolean {
  return attempts >= (timedOut ? maxSlowAttempts : maxAttempts);
}

/**
 * Jitter as a fraction of the delay, so that deliveries that failed together are not retried
 * together.
 */
const jitter = 0.1;

/**
 * Returns the milliseconds between attempt number `attempts` (from 1) and the next, or null after
 * the last attempt. The receiver's Retry-After (`retryAfterMs`) can lengthen the delay, never
 * shorten it. `random` is in [0, 1).
 */
export function delayAfter(attempts: number, random: number, retryAfterMs = 0): number | null {
  const delay = delaysMs[attempts - 1];
  if (delay === undefined) return null;
  return Math.round(
    Math.max(delay * (1 - jitter + 2 * jitter * random), retryAfterMs * (1 + jitter * random)),
  );
}
