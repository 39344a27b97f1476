import type { Clock } from '../base/clock.ts';

/**
 * Creates a token bucket: `burst` tokens at most, `perSecond` tokens added per second. The function takes a
 * token and returns true, or returns false if none is left.
 */
export function createAllowance(burst: number, perSecond: number, clock: Pick<Clock, 'now'>): () => boolean {
  let left = burst;
  let at = clock.now();
  return () => {
    if (left < 1) {
      const now = clock.now();
      left = Math.min(burst, left + ((now - at) / 1000) * perSecond);
      at = now;
    }
    if (left < 1) return false;
    left -= 1;
    return true;
  };
}
