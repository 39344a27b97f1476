/** Bounds of an exponential back-off, in milliseconds. */
export interface BackOff {
  firstMs: number;
  maxMs: number;
}

/** Pauses of a batch, or of all of them, while results cannot be stored. */
export const storageBackOff: BackOff = { firstMs: 2_000, maxMs: 300_000 };

/**
 * Returns the pause after the `failures`-th failure in a row (from 1): doubled by every failure up to the
 * maximum, and shortened by up to half at random so that many do not come back at once.
 */
export function backOffMs({ firstMs, maxMs }: BackOff, failures: number, random = Math.random()): number {
  return Math.min(firstMs * 2 ** (failures - 1), maxMs) * (1 - random / 2);
}
