import { describe, expect, test } from 'vitest';
import { createFailureHistory } from './failure-history.ts';

describe('createFailureHistory()', () => {
  test('distinguishes an origin that refuses requests from a single refused page', () => {
    const history = createFailureHistory();
    expect([history.refused('/a', false), history.refused('/a', false)]).toEqual([false, false]);
    expect([history.refused('/b', false), history.refused('/c', false)]).toEqual([true, true]);
    history.succeeded('/d');
    expect(history.refused('/b', false)).toBe(false);
    expect(history.refused('/e', true)).toBe(true);
  });

  test('blames the origin after five different failed pages in a row', () => {
    const history = createFailureHistory();
    const results = Array.from({ length: 7 }, (_, at) => history.failed(`/${at}`));
    expect(results).toEqual([false, false, false, false, true, true, true]);
  });

  test('evicts pages when their paths exceed the memory limit', () => {
    const history = createFailureHistory();
    const path = (at: number) => `/${'x'.repeat(4_000)}${at}`;
    for (let at = 0; at < 1_000; at += 1) history.refused(path(at), false);
    const remembered = Array.from({ length: 1_000 }, (_, at) => at).filter((at) =>
      history.has(path(at)),
    );
    expect(remembered.length).toBeGreaterThan(0);
    expect(remembered.length).toBeLessThan(20);
    expect(remembered.at(-1)).toBe(999);
  });
});
