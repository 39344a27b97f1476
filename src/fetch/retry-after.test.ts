import { expect, test } from 'vitest';
import { parseRetryAfter } from './retry-after.ts';

const now = Date.UTC(2026, 0, 1, 12, 0, 0);

test.each([
  [undefined, undefined],
  ['', undefined],
  ['soon', undefined],
  ['0', 0],
  ['7', 7000],
  ['99999', 900_000],
  ['Thu, 01 Jan 2026 12:00:30 GMT', 30_000],
  ['Thu, 01 Jan 2026 11:00:00 GMT', 0],
  ['Fri, 02 Jan 2026 12:00:00 GMT', 900_000],
])('parseRetryAfter() parses %j as %j ms', (header, wait) => {
  expect(parseRetryAfter(header === undefined ? {} : { 'retry-after': header }, now)).toBe(wait);
});
