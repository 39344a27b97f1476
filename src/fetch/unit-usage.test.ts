import { expect, test } from 'vitest';
import { createUnitUsage } from './fetch-session.ts';
import { defaultMarketLimits } from './limits.ts';

const usage = () =>
  createUnitUsage('mktf', {
    ...defaultMarketLimits,
    pageBytes: 50,
    unitBytes: 100,
    unitMs: 60_000,
  });

test.each([
  [
    'an oversized page',
    [[51, 0]],
    'page_too_large',
    'the page is larger than 50 bytes, the limit of mktf',
  ],
  [
    'too many bytes in all pages',
    [
      [50, 0],
      [50, 0],
      [1, 0],
    ],
    'page_too_large',
    'the pages of the unit exceed 100 bytes, the limit of mktf',
  ],
  [
    'slow requests',
    [
      [1, 40_000],
      [1, 20_000],
      [1, 1],
    ],
    'page_timeout',
    'the requests of the unit took longer than 60 s, the limit of mktf',
  ],
])('add() throws for %s, and the unit is not retried', (_what, pages, code, message) => {
  const { add } = usage();
  const last = pages.pop() as [number, number];
  for (const [bytes, ms] of pages) add(bytes!, ms!);
  expect(() => add(...last)).toThrow(expect.objectContaining({ code, message, retry: 'never' }));
});
