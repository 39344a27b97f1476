import { expect, test } from 'vitest';
import { didYouMean, suggest } from './suggest.ts';

test.each([
  ['validate_one', 'validate_only'],
  ['max_credit', 'max_credits'],
  ['VALIDATE_ONLY', 'validate_only'],
  ['market_di', 'market_id'],
  ['colour', undefined],
  ['', undefined],
  ['x'.repeat(100_000), undefined],
])('suggest() returns the name closest to %.20s, if one is close', (name, expected) => {
  expect(suggest(name, ['market_id', 'validate_only', 'max_credits'])).toBe(expected);
});

test('didYouMean() is empty without a close name', () => {
  expect(didYouMean('mkte1', ['mkta', 'mkte'])).toBe(' Did you mean mkte?');
  expect(didYouMean('Amazon', ['mkta', 'mkte'])).toBe(' Did you mean mkte?');
  expect(didYouMean('ebay', ['mkta', 'mkte'])).toBe('');
});
