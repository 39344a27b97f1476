import type { Clock } from '../base/clock.ts';

/** Says whether something may be done now: up to `burst` times in a row, and `perSecond` times a second in
 *  the long run. Each yes counts. */
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
