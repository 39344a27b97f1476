import { expect, test } from 'vitest';
import { findJobType, type JobType } from '../../../../src/contract/job-types.ts';
import { buildBody } from './body.ts';
import { type ListShape, readRequestShape } from './fields.ts';
import { countRows, csvColumns, csvText, parseCsv, templateColumns } from './table.ts';

const jobType = (kind: string, market = 'mkta') => findJobType({ market, kind })!;
const shapeOf = ({ method }: JobType) => readRequestShape(method.input).list as ListShape;
const items = jobType('variant_sold');

test('csvText() writes the header of a template', () => {
  expect(csvText([templateColumns(shapeOf(items))])).toBe('item_id,shop_id,country\r\n');
  expect(csvColumns(shapeOf(jobType('search_items')))).toEqual(['url*']);
});

test('buildBody() converts integers and flags', () => {
  const bulk = jobType('search_bulk', 'mktb');
  const { units } = parseCsv('keyword,product_limit\n"kopi, bubuk",90\n', bulk, shapeOf(bulk));
  expect(buildBody(readRequestShape(bulk.method.input), {}, units)).toEqual({
    items: [{ keyword: 'kopi, bubuk', product_limit: 90 }],
  });
});

test.each([
  ['item_id\n12\n', ['Line 2, shop_id: Required']],
  [
    'item_id,shop_id,colour\n1,2,red\n',
    ['File: mkta variant_sold has no field "colour" (item_id, shop_id, country)'],
  ],
  ['item_id,shop_id\n', ['File: no rows below the header']],
  ['item_id,shop_id\n1,\nx,2,3\n', ['Line 3: 3 cells, but 2 columns']],
  ['item_id,shop_id\n1,\nx,2\n', ['Line 2, shop_id: Required', 'Line 3, item_id: Must be 1 to 20 digits']],
])('parseCsv() rejects %j with its problems', (text, expected) => {
  expect(parseCsv(text, items, shapeOf(items))).toEqual({ units: [], problems: expected });
});

test('parseCsv() rejects more rows than one request takes', () => {
  const search = jobType('search_items');
  expect(parseCsv(`url\n${'https://a.test\n'.repeat(51)}`, search, shapeOf(search)).problems).toEqual([
    'The file has 51 rows. Submit at most 50 at once.',
  ]);
});

test.each([
  ['\ufeffa,b\n1,2\n\n3,4,5\n', 2],
  ['a,b\n', 0],
  ['', 0],
  ['a\n"1', null],
])('countRows(%j) is %j', (text, expected) => {
  expect(countRows(text)).toBe(expected);
});
