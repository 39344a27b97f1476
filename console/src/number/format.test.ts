import { describe, expect, test } from 'vitest';
import { formatBytes, formatPercent, formatPercentage } from './format.ts';

describe('formatBytes()', () => {
  test.each([
    [0, '0 B'],
    [999, '999 B'],
    [1_234, '1.2 kB'],
    [838_000n, '838 kB'],
    [2_500_000_000, '2.5 GB'],
  ] as const)('formats %s as "%s"', (bytes, expected) => {
    expect(formatBytes(bytes)).toBe(expected);
  });
});

describe('formatPercent()', () => {
  test.each([
    [0, '0%'],
    [0.004, '0.4%'],
    [0.5, '50%'],
    [1, '100%'],
  ])('formats %d as "%s"', (share, expected) => {
    expect(formatPercent(share)).toBe(expected);
  });
});

describe('formatPercentage()', () => {
  test.each([
    [61.5, '61.5%'],
    [94.994, '94.99%'],
    [100, '100%'],
  ])('formats %d as "%s"', (percent, expected) => {
    expect(formatPercentage(percent)).toBe(expected);
  });
});
