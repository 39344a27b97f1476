import { expect, test } from 'vitest';
import { timeTicks } from './ticks.ts';

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
