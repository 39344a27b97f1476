import { expect, test } from 'vitest';
import { matches } from './matches.ts';

test.each([
  ['', 'Jobs', true],
  ['JOB', 'Jobs', true],
  ['sold  market', 'Variant sold Marketplace A', true],
  ['sold B', 'Variant Sold Marketplace A', false],
])('matches("%s", "%s") is %s', (term, text, expected) => {
  expect(matches(term, text)).toBe(expected);
});
