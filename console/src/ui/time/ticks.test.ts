import { expect, test } from 'vitest';
import { dateTicks, timeTicks } from './ticks.ts';

test.each([
  [0.4, [0]],
  [3, [0, 1, 2, 3]],
  [9.2, [0, 2, 4, 6, 8]],
  [95, [0, 15, 30, 45, 60, 75, 90]],
  [4_000, [0, 600, 1_200, 1_800, 2_400, 3_000, 3_600]],
  [20 * 86_400, [0, 4, 8, 12, 16, 20].map((days) => days * 86_400)],
])('timeTicks(%d) returns %j', (seconds, expected) => {
  expect(timeTicks(seconds)).toEqual(expected);
});

test.each([
  ['five minutes', 5 * 60_000],
  ['six hours', 6 * 3_600_000],
  ['a day and a half', 36 * 3_600_000],
  ['three days', 3 * 86_400_000],
  ['400 days', 400 * 86_400_000],
])('dateTicks() labels each tick of %s differently', (_title, length) => {
  // Over a change of the clock in most zones that have one.
  const from = new Date(2030, 9, 26, 21, 7).getTime();
  const ticks = dateTicks(from, from + length);
  expect(ticks.length).toBeGreaterThan(1);
  expect(ticks.length).toBeLessThan(9);
  expect(new Set(ticks.map(({ label }) => label)).size).toBe(ticks.length);
  for (const { at } of ticks) expect(at).toBeGreaterThanOrEqual(from);
});
