import { expect, test } from 'vitest';
import { createTestMarket } from '../../test/support/pages/market.ts';
import { parseOrigins } from '../base/origins.ts';
import { findUnknownRegions, withHosts } from './hosts.ts';
import { markets } from './list.ts';
import { mkta } from './mkta/index.ts';

const url = 'https://mkta.example.co.id/search?keyword=lampu';

test('returns the market unchanged without a list', () => {
  expect(withHosts(mkta, undefined)).toBe(mkta);
});

test('accepts a listed host regardless of case', () => {
  expect(withHosts(mkta, ['MKTA.example.co.id']).parseUrl!('search', url)).toEqual(
    mkta.parseUrl!('search', url),
  );
});

test('rejects another host by name, even one with an accepted suffix', () => {
  const narrowed = withHosts(mkta, ['example.co.id']);
  expect(() => narrowed.parseUrl!('search', url)).toThrow(
    "'mkta.example.co.id' is not one of the hosts example.co.id",
  );
});

test('keeps regions that change', () => {
  let regions = ['sg'];
  const market = createTestMarket({ parseUrl: mkta.parseUrl! });
  Object.defineProperty(market, 'regions', { get: () => regions });
  const narrowed = withHosts(market, ['example.co.id']);
  regions = ['sg', 'th'];
  expect(narrowed.regions).toEqual(['sg', 'th']);
});

test('names unknown regions of the origins file, but not shops that may be declared later', () => {
  const text =
    '{\n  "mkta": {"xx": "https://a.example"},\n  "sites": {"kiln": "https://k.example"}\n}';
  expect(findUnknownRegions(parseOrigins(text), markets)).toEqual([
    'line 2, column 18: mkta.xx: not a region of mkta (id, sg, th, ph, my, vn, tw, br).',
  ]);
});

test('names one address of a marketplace that has an address for each region', () => {
  const text = '{"mktb": "https://b.example", "mktf": "https://f.example"}';
  expect(findUnknownRegions(parseOrigins(text), markets)).toEqual([
    'line 1, column 10: mktb: an address needs a region of mktb (id).',
  ]);
});
