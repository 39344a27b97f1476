import { expect, test } from 'vitest';
import { summarizeMinutes } from './totals.ts';

test('summarizeMinutes() weights the mean latency by requests', () => {
  const minutes = [
    { requests: 30, refused: 3, failed: 0, milliseconds: 100 },
    { requests: 10, refused: 1, failed: 2, milliseconds: 300 },
  ];
  expect(summarizeMinutes(minutes)).toEqual({
    requests: 40,
    refusedShare: 0.1,
    failedShare: 0.05,
    milliseconds: 150,
  });
});

test('summarizeMinutes() returns zeros without requests', () => {
  expect(summarizeMinutes([])).toEqual({
    requests: 0,
    refusedShare: 0,
    failedShare: 0,
    milliseconds: 0,
  });
});
