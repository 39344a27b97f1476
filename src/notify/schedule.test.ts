import { expect, test } from 'vitest';
import { mostTries, waitAfter } from './schedule.ts';

const hour = 3_600_000;

test('tries come quickly at first and end after a day', () => {
  const waits: number[] = [];
  for (let wait = waitAfter(1, 0.5); wait !== null; wait = waitAfter(waits.length + 1, 0.5)) waits.push(wait);
  expect(waits).toHaveLength(mostTries - 1);
  expect(waits).toEqual(waits.toSorted((a, b) => a - b));
  expect(waits[0]).toBe(5_000);
  const sum = waits.reduce((total, wait) => total + wait, 0);
  expect(sum).toBeGreaterThan(22 * hour);
  expect(sum).toBeLessThan(26 * hour);
});

test('chance spreads a wait by a tenth to either side', () => {
  expect([0, 0.5, 1].map((chance) => waitAfter(4, chance))).toEqual([540_000, 600_000, 660_000]);
});

test('a receiver that asks for a longer wait is given it, never less', () => {
  expect(waitAfter(1, 0, 120_000)).toBe(120_000);
  expect(waitAfter(1, 0.99, 120_000)).toBeGreaterThan(120_000);
  expect(waitAfter(6, 0.5, 1_000)).toBe(hour);
  expect(waitAfter(mostTries, 0.5, 1_000)).toBeNull();
});
