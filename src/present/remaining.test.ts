import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import { describe, expect, test } from 'vitest';
import { isStalled, remainingMs } from './remaining.ts';

const points = (...list: [seconds: number, done: number][]) =>
  list.map(([seconds, success]) => ({ at: timestampFromMs(seconds * 1000), success, failed: 0 }));

describe('remainingMs()', () => {
  test('divides the remaining units by the rate of the batches that ended', () => {
    expect(remainingMs(points([0, 0], [10, 50], [20, 100], [21, 100]), 200)).toBe(20_000);
  });

  test('does not change while the job is paused', () => {
    const before = points([0, 0], [10, 50], [20, 100], [21, 100]);
    const paused = points([0, 0], [10, 50], [20, 100], [320, 100]);
    expect(remainingMs(paused, 200)).toBe(remainingMs(before, 200));
  });

  test('ignores an earlier pause', () => {
    const list = points([0, 0], [10, 50], [20, 100], [620, 150], [630, 200], [631, 200]);
    expect(remainingMs(list, 250)).toBe(10_000);
  });

  test('counts finished units of batches in progress', () => {
    expect(remainingMs(points([0, 0], [10, 50], [20, 100], [25, 125]), 200)).toBe(15_000);
  });

  test('is unknown until two batches have ended', () => {
    expect(remainingMs(points([0, 0], [10, 50], [11, 50]), 200)).toBeUndefined();
    expect(remainingMs([], 200)).toBeUndefined();
  });
});

test.each([
  [points([0, 0], [10, 50], [20, 100], [59, 100]), false],
  [points([0, 0], [10, 50], [20, 100], [71, 100]), true],
  [points([0, 0], [500, 0]), false],
  [points(), false],
])(
  'isStalled() compares the time since the last batch with the usual time, case %#',
  (list, expected) => {
    expect(isStalled(list)).toBe(expected);
  },
);
