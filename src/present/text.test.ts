import { describe, expect, test } from 'vitest';
import { jobTypes, unitFields } from '../contract/job-types.ts';
import { rulesOf } from '../contract/rules.ts';
import { counted, formatBytes, formatPercent, formatPercentage, regionText } from './text.ts';

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
    [0.286, '29%'],
    [0.996, '99%'],
    [0.000_001, '0.0001%'],
    [1, '100%'],
  ])('formats %d as "%s"', (share, expected) => {
    expect(formatPercent(share)).toBe(expected);
  });
});

describe('formatPercentage()', () => {
  test.each([
    [61.5, '61.5%'],
    [94.994, '94.99%'],
    [94.996, '94.99%'],
    [99.999, '99.99%'],
    [0.001, '0.01%'],
    [0, '0%'],
    [100, '100%'],
  ])('formats %d as "%s"', (percent, expected) => {
    expect(formatPercentage(percent)).toBe(expected);
  });
});

test('counted() formats counts with their nouns', () => {
  expect([counted(1, 'unit'), counted(2_000n, 'unit'), counted(0, 'batch', 'batches')]).toEqual([
    '1 unit',
    '2,000 units',
    '0 batches',
  ]);
});

describe('regionText()', () => {
  test.each([
    ['id', 'Indonesia (id)'],
    ['uk', 'United Kingdom (uk)'],
    ['example', 'example'],
  ])('formats %s as "%s"', (region, expected) => {
    expect(regionText(region)).toBe(expected);
  });

  test('knows every region of the contract', () => {
    const regions = jobTypes
      .flatMap((jobType) => [...unitFields(jobType), ...jobType.options])
      .filter(({ name }) => name === 'country' || name === 'region')
      .flatMap((field) => {
        const { type } = rulesOf(field);
        return type.case === 'string' ? type.value.in.filter(Boolean) : [];
      });
    expect(regions.length).toBeGreaterThan(5);
    for (const region of regions)
      expect(regionText(region)).toMatch(/^[A-Z][a-z]+.* \([a-z]{2}\)$/);
  });
});
