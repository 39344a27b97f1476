import { expect, test } from 'vitest';
import { pageTime } from './page-time.ts';

const at = Date.UTC(2026, 4, 1);

test.each([
  [undefined, 0],
  ['0', 0],
  ['86400', 86_400_000],
  [' 60 ', 60_000],
  ['60, 30', 60_000],
  ['-60', 0],
  ['1.5', 0],
  ['soon', 0],
  ['9999999999', at],
])('pageTime() of a page with the age %j is %d ms before it arrived', (age, ms) =>
  expect(pageTime({ at, headers: age === undefined ? {} : { age } })).toBe(at - ms),
);
