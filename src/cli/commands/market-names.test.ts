import { expect, test } from 'vitest';
import { marketPath, regionCode, requireMarket } from './market-names.ts';

test.each([
  ['mkte', 'mkte'],
  ['MKT-E', 'mkte'],
  ['Amazon', 'mkte'],
  ['shop', 'shop'],
  ['', ''],
])('marketPath() resolves %j to %j', (text, path) => {
  expect(marketPath(text)).toBe(path);
});

test('requireMarket() lists the markets with their names', () => {
  expect(requireMarket('blibli')).toBe('mktc');
  expect(() => requireMarket('ebay')).toThrow('No market "ebay" (mkta Shopee, mktb Tokopedia, ');
});

test.each([
  ['Germany', 'de'],
  ['ID', 'id'],
  ['nowhere', 'nowhere'],
  ['', ''],
])('regionCode() resolves %j to %j', (text, code) => {
  expect(regionCode(text)).toBe(code);
});
