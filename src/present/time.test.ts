import { describe, expect, test } from 'vitest';
import { describeHours, formatDuration, formatRelativeTime, formatUtcTime } from './time.ts';

const now = Date.UTC(2030, 0, 7, 4);

describe('formatRelativeTime()', () => {
  test.each([
    [-4_000, 'just now'],
    [900, 'just now'],
    [6_000, 'in a moment'],
    [-42_000, '42 seconds ago'],
    [-5 * 60_000 - 1_000, '5 minutes ago'],
    [3 * 3_600_000, 'in 3 hours'],
    [-26 * 3_600_000, '1 day ago'],
    [-2 * 86_400_000, '2 days ago'],
    [-31 * 86_400_000, '2029-12-07'],
  ])('formats %d ms from now as "%s"', (ms, expected) => {
    expect(formatRelativeTime(new Date(now + ms), now)).toBe(expected);
  });
});

describe('formatDuration()', () => {
  test.each([
    [0, '0 s'],
    [70, 'less than 1 s'],
    [42_400, '42 s'],
    [60_000, '1 min'],
    [125_000, '2 min 5 s'],
    [3_900_000, '1 h 5 min'],
    [7_200_000, '2 h'],
    [5 * 86_400_000, '5 days'],
  ])('formats %d ms as "%s"', (ms, expected) => {
    expect(formatDuration(ms)).toBe(expected);
  });
});

test('formatUtcTime() includes seconds', () => {
  expect(formatUtcTime(new Date(now))).toBe('2030-01-07 04:00:00 UTC');
});

test.each([
  ['08:00-18:00+08:00', '08:00 to 18:00 (UTC+08:00)'],
  ['22:30-06:00-03:30', '22:30 to 06:00 (UTC-03:30)'],
  ['off', 'off'],
])('describeHours("%s") is "%s"', (hours, text) => {
  expect(describeHours(hours)).toBe(text);
});
