import { expect, test } from 'vitest';
import { backOffMs } from './back-off.ts';

const bounds = { firstMs: 2_000, maxMs: 300_000 };

test('backOffMs() doubles with every failure up to the maximum', () => {
  const pauses = [1, 2, 3, 8, 9, 2_000].map((failures) => backOffMs(bounds, failures, 0));
  expect(pauses).toEqual([2_000, 4_000, 8_000, 256_000, 300_000, 300_000]);
});

test('backOffMs() randomly subtracts up to half', () => {
  expect([0, 0.5, 1].map((random) => backOffMs(bounds, 1, random))).toEqual([2_000, 1_500, 1_000]);
});
