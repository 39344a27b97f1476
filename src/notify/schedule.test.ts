import { expect, test } from 'vitest';
import { delayAfter, isLastAttempt, maxAttempts } from './schedule.ts';

const hour = 3_600_000;

test('delayAfter() grows and adds up to about a day', () => {
  const delays: number[] = [];
  for (let delay = delayAfter(1, 0.5); delay !== null; delay = delayAfter(delays.length + 1, 0.5))
    delays.push(delay);
  expect(delays).toHaveLength(maxAttempts - 1);
  expect(delays).toEqual(delays.toSorted((a, b) => a - b));
  expect(delays[0]).toBe(5_000);
  const sum = delays.reduce((total, delay) => total + delay, 0);
  expect(sum).toBeGreaterThan(22 * hour);
  expect(sum).toBeLessThan(26 * hour);
});

test('delayAfter() applies 10 % jitter', () => {
  expect([0, 0.5, 1].map((random) => delayAfter(4, random))).toEqual([540_000, 600_000, 660_000]);
});

test('delayAfter() honors a longer Retry-After and ignores a shorter one', () => {
  expect(delayAfter(1, 0, 120_000)).toBe(120_000);
  expect(delayAfter(1, 0.99, 120_000)).toBeGreaterThan(120_000);
  expect(delayAfter(6, 0.5, 1_000)).toBe(hour);
  expect(delayAfter(maxAttempts, 0.5, 1_000)).toBeNull();
});

test('isLastAttempt() grants fewer attempts to a receiver that is too slow', () => {
  const counts = [true, false].map((timedOut) => {
    for (let attempts = 1; ; attempts += 1) if (isLastAttempt(attempts, timedOut)) return attempts;
  });
  expect(counts).toEqual([8, maxAttempts]);
});
