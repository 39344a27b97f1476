import { expect, test } from 'vitest';
import { defaultMarketLimits } from './limits.ts';
import { createUnitUsage } from './unit-usage.ts';

const usage = () =>
  createUnitUsage('mktf', { ...defaultMarketLimits, pageBytes: 50, unitBytes: 100, unitMs: 60_000 });

test.each([
  ['a large page', [[51, 0]], 'page_too_large', 'the page is larger than 50 bytes, the limit of mktf'],
  [
    'many pages',
    [
      [50, 0],
      [50, 0],
      [1, 0],
    ],
    'page_too_large',
    "the unit's pages hold more than 100 bytes, the limit of mktf",
  ],
  [
    'slow pages',
    [
      [1, 40_000],
      [1, 20_000],
      [1, 1],
    ],
    'page_timeout',
    "the unit's requests took longer than 60 s, the limit of mktf",
  ],
])('createUnitUsage() ends a unit of %s, and no other try follows', (_what, pages, code, message) => {
  const { add } = usage();
  const last = pages.pop() as [number, number];
  for (const [bytes, ms] of pages) add(bytes!, ms!);
  expect(() => add(...last)).toThrow(expect.objectContaining({ code, message, retry: 'never' }));
});
