import { expect, test } from 'vitest';
import { createBatchLimit, minBatchLimit } from './batch-limit.ts';

/** A limit, and its size as one user alone reaches it. */
function open() {
  let now = 0;
  let growths = 0;
  const clock = { steady: () => now };
  const onGrown = () => {
    growths += 1;
  };
  const limit = createBatchLimit({ clock, onGrown });
  /** Makes ten calls of `ms` in each of `seconds`, while as many batches as possible are begun. */
  const work = (seconds: number, ms: number, isReached = true) => {
    for (let call = 0; call < 10 * seconds; call += 1) {
      now += 100;
      if (isReached) limit.allows(Number.MAX_SAFE_INTEGER, 0);
      limit.observe(ms);
    }
  };
  const size = () => {
    let batches = 0;
    while (limit.allows(batches, 0)) batches += 1;
    return batches;
  };
  return { limit, work, size, growths: () => growths };
}

test('one user alone gets half of the limit, two users a third each', () => {
  const { limit, size } = open();
  const half = size() / 2;
  const third = Math.ceil(size() / 3);
  expect(limit.allows(half - 1, half - 1)).toBe(true);
  expect(limit.allows(half, half)).toBe(false);
  expect(limit.allows(0, half)).toBe(true);
  expect(limit.allows(third, 2 * third)).toBe(false);
});

test('the limit shrinks while the store responds slowly, down to its minimum', () => {
  const { work, size } = open();
  const before = size();
  work(10, 1_000);
  expect(size()).toBeLessThan(before);
  work(100, 1_000);
  expect(size()).toBe(minBatchLimit);
});

test('the limit grows if it is reached and the store responds fast, and says so', () => {
  const { work, size, growths } = open();
  const before = size();
  work(10, 5);
  expect(size()).toBeGreaterThan(2 * before);
  expect(growths()).toBeGreaterThanOrEqual(9);
  work(100, 5);
  expect(size()).toBe(8_192);
});

test('the limit stays while it is not reached', () => {
  const { work, growths } = open();
  work(10, 5, false);
  expect(growths()).toBe(0);
});

test('the limit stays while the store responds neither fast nor slowly', () => {
  const { work, size, growths } = open();
  const before = size();
  work(10, 180, false);
  work(10, 180);
  expect([size(), growths()]).toEqual([before, 0]);
});
