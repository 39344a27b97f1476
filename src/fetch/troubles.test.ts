import { describe, expect, test } from 'vitest';
import { createTroubles } from './troubles.ts';

describe('createTroubles()', () => {
  test('tells an origin that refuses from a page that is refused', () => {
    const troubles = createTroubles();
    expect([troubles.refused('/a', false), troubles.refused('/a', false)]).toEqual([false, false]);
    expect([troubles.refused('/b', false), troubles.refused('/c', false)]).toEqual([true, true]);
    troubles.well('/d');
    expect(troubles.refused('/b', false)).toBe(false);
    expect(troubles.refused('/e', true)).toBe(true);
  });

  test('tells an origin that does not answer by five pages in a row', () => {
    const troubles = createTroubles();
    const told = Array.from({ length: 7 }, (_, at) => troubles.failed(`/${at}`));
    expect(told).toEqual([false, false, false, false, true, true, true]);
  });

  test('forgets pages when their paths take too much memory', () => {
    const troubles = createTroubles();
    const path = (at: number) => `/${'x'.repeat(4_000)}${at}`;
    for (let at = 0; at < 1_000; at += 1) troubles.refused(path(at), false);
    const remembered = Array.from({ length: 1_000 }, (_, at) => at).filter((at) => troubles.has(path(at)));
    expect(remembered.length).toBeGreaterThan(0);
    expect(remembered.length).toBeLessThan(20);
    expect(remembered.at(-1)).toBe(999);
  });
});
