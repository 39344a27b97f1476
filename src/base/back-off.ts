/** Bounds of an exponential back-off, in milliseconds. */
export interface BackOff {
  firstMs: number;
  maxMs: number;
}

/**
 * Returns the milliseconds to wait after the `failures`-th consecutive failure (from 1): doubled by
 * each failure up to the maximum, less a part of up to half so that callers do not return at the
 * same time. `random` is in [0, 1); 0 for callers that must wait as long.
 */
export function backOffMs({ firstMs, maxMs }: BackOff, failures: number, random: number): number {
  return Math.min(firstMs * 2 ** (failures - 1), maxMs) * (1 - random / 2);
}
