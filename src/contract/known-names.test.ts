import { expect, test } from 'vitest';
import { namedChoice } from './known-names.ts';

const markets = ['mkta', 'mktb', 'mktc', 'mktd', 'mkte', 'mktf', 'sites'];
const regions = ['sg', 'jp', 'us', 'uk', 'de', 'fr', 'au', 'it', 'es', 'ca'];

test.each([
  ['mkte', 'mkte'],
  ['MKTE', 'mkte'],
  ['mkt-e', 'mkte'],
  ['Amazon', 'mkte'],
  ['tiktok', 'mktd'],
  ['TikTok Shop', 'mktd'],
  ['tiktok-shop', 'mktd'],
  ['shopify', 'mktf'],
  ['shop', undefined],
  ['ebay', undefined],
  ['', undefined],
  [' - ', undefined],
])('namedChoice() resolves the marketplace %j to %j', (text, market) => {
  expect(namedChoice(text, markets)).toBe(market);
});

test.each([
  ['DE', 'de'],
  ['Germany', 'de'],
  ['de-DE', 'de'],
  ['en_CA', 'ca'],
  ['GB', 'uk'],
  ['en-GB', 'uk'],
  ['USA', 'us'],
  ['United Kingdom', 'uk'],
  ['de-AT', undefined],
  ['Austria', undefined],
  ['Indonesia', undefined],
  ['x'.repeat(100_000), undefined],
])('namedChoice() resolves the region %.20s to %j', (text, region) => {
  expect(namedChoice(text, regions)).toBe(region);
});
