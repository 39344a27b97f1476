import { expect, test } from 'vitest';
import { offers } from '../offers/offers.ts';
import { shapeOf } from './fields.ts';

const shape = (market: string, kind: string) =>
  shapeOf(offers.find((offer) => offer.market === market && offer.kind === kind)!.method.input);

test('every submit endpoint of the contract is offered, at its path', () => {
  expect(offers).toHaveLength(14);
  expect(new Set(offers.map(({ endpoint }) => endpoint.path)).size).toBe(14);
  for (const { endpoint } of offers) expect(endpoint.path).toMatch(/^\/v1\/mkt[a-f]\/.+\/submit$/);
});

test('a list of items has a field for each of theirs, with its limits', () => {
  const { fields, list } = shape('mkta', 'variant_sold');
  expect(fields.map(({ name, sort, required }) => [name, sort, required])).toEqual([
    ['country', 'choice', false],
  ]);
  expect(list).toMatchObject({ name: 'items', most: 50_000 });
  expect(list!.fields!.map(({ name, required }) => [name, required])).toEqual([
    ['item_id', true],
    ['shop_id', true],
    ['country', false],
  ]);
  expect(list!.fields![0]!.pattern?.test('12x')).toBe(false);
  expect(list!.fields![0]!.about).not.toBe('');
});

test('names, defaults and bounds are those of REST', () => {
  expect(shape('mktc', 'pdp_bulk').list!.fields!.map(({ name }) => name)).toEqual([
    'formattedId',
    'sku',
    'pickupPointCode',
    'id',
  ]);
  const limit = shape('mktb', 'search_bulk').list!.fields!.find(({ name }) => name === 'product_limit');
  expect(limit).toMatchObject({ sort: 'integer', fallback: '5000', least: 1, most: 100_000 });
  const pages = shape('mktb', 'merchant_bulk').list!.fields!.find(({ name }) => name === 'max_pages');
  expect(pages).toMatchObject({ least: 1, most: null });
});

test('a list of texts has no fields, and a file is one', () => {
  expect(shape('mkta', 'search_items').list).toMatchObject({ name: 'urls', most: 50, fields: null });
  expect(shape('mkta', 'get_pc_bulk')).toMatchObject({
    list: null,
    fields: [
      { name: 'file', sort: 'file', required: true },
      { name: 'rescrape', sort: 'flag' },
      { name: 'result_format', sort: 'choice', fallback: 'csv' },
    ],
  });
});
