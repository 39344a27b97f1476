import { expect, test } from 'vitest';
import { matches } from './matches.ts';

test.each([
  ['', 'Jobs', true],
  ['JOB', 'Jobs', true],
  ['sold  shop', 'Variant sold Shopee', true],
  ['sold B', 'Variant Sold Shopee', false],
])('matches("%s", "%s") is %s', (term, text, expected) => {
  expect(matches(term, text)).toBe(expected);
});
