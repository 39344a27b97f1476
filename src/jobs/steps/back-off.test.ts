import { expect, test } from 'vitest';
import { backOffMs } from './back-off.ts';

const bounds = { firstMs: 2_000, maxMs: 300_000 };

test('backOffMs() doubles with every failure up to the maximum', () => {
  const pauses = [1, 2, 3, 8, 9, 2_000].map((failures) => backOffMs(bounds, failures, 0));
  expect(pauses).toEqual([2_000, 4_000, 8_000, 256_000, 300_000, 300_000]);
});

test('backOffMs() randomly subtracts up to half', () => {
  expect(backOffMs(bounds, 1, 0.5)).toBe(1_500);
  for (let turn = 0; turn < 100; turn += 1) {
    const ms = backOffMs(bounds, 3);
    expect(ms).toBeGreaterThan(4_000);
    expect(ms).toBeLessThanOrEqual(8_000);
  }
});
