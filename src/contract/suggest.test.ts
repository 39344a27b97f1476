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

test('didYouMean() names the few that have all words of a name', () => {
  const columns = ['item.price', 'price.amount', 'title', 'sold'];
  expect(didYouMean('price', columns)).toBe(' Did you mean item.price or price.amount?');
  const settings = ['APP_HOST', 'APP_GRPC_PORT', 'APP_HTTP_PORT'];
  expect(didYouMean('APP_PORT', settings)).toBe(' Did you mean APP_GRPC_PORT or APP_HTTP_PORT?');
  expect(didYouMean('a', ['a.1', 'a.2', 'a.3', 'a.4', 'a.5'])).toBe('');
  expect(didYouMean('', columns)).toBe('');
});
