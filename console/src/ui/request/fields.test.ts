import { expect, test } from 'vitest';
import { jobTypes } from '../../../../src/contract/job-types.ts';
import { readRequestShape } from './fields.ts';

const shape = (market: string, kind: string) =>
  readRequestShape(
    jobTypes.find((jobType) => jobType.market === market && jobType.kind === kind)!.method.input,
  );

test('offers every submit endpoint of the contract at its path', () => {
  expect(jobTypes).toHaveLength(16);
  expect(new Set(jobTypes.map(({ endpoint }) => endpoint.path)).size).toBe(16);
  for (const { endpoint } of jobTypes)
    expect(endpoint.path).toMatch(/^\/v1\/(?:mkt[a-f]|sites)\/.+\/submit$/);
});

test('readRequestShape() reads the fields of list items and their limits', () => {
  const { fields, list } = shape('mkta', 'variant_sold');
  expect(fields.map(({ name, type, required }) => [name, type, required])).toEqual([
    ['country', 'choice', false],
  ]);
  expect(list).toMatchObject({ name: 'items', max: 50_000 });
  expect(list!.fields!.map(({ name, required }) => [name, required])).toEqual([
    ['item_id', true],
    ['shop_id', true],
    ['country', false],
  ]);
  expect(list!.fields![0]!.pattern?.test('12x')).toBe(false);
});

test('every field of every submit has a label and no raw name in it', () => {
  for (const { method } of jobTypes) {
    const { fields, list } = readRequestShape(method.input);
    for (const { label, name } of [...fields, ...(list ? [list, ...(list.fields ?? [])] : [])]) {
      expect(label, name).toMatch(/^[A-Z][A-Za-z ]+$/);
    }
  }
});

test('readRequestShape() reads REST names, defaults and bounds', () => {
  expect(shape('mktc', 'pdp_bulk').list!.fields!.map(({ name }) => name)).toEqual([
    'formattedId',
    'sku',
    'pickupPointCode',
    'id',
  ]);
  const limit = shape('mktb', 'search_bulk').list!.fields!.find(
    ({ name }) => name === 'product_limit',
  );
  expect(limit).toMatchObject({ type: 'integer', defaultText: '5000', min: 1, max: 100_000 });
  const pages = shape('mktb', 'merchant_bulk').list!.fields!.find(
    ({ name }) => name === 'max_pages',
  );
  expect(pages).toMatchObject({ min: 1, max: null });
});

test('readRequestShape() reads lists of texts and file fields', () => {
  expect(shape('mkta', 'search_items').list).toMatchObject({ name: 'urls', max: 50, fields: null });
  expect(shape('mkta', 'get_pc_bulk')).toMatchObject({
    list: null,
    fields: [
      { name: 'file', type: 'file', required: true },
      { name: 'rescrape', type: 'flag' },
      { name: 'result_format', type: 'choice', defaultText: 'csv' },
      { name: 'region', type: 'choice', required: false },
    ],
  });
});
