import { expect, test } from 'vitest';
import { findJobType, type JobType } from '../../../../src/contract/job-types.ts';
import { buildBody } from './body.ts';
import { type ListShape, readRequestShape } from './fields.ts';
import { pastedRows } from './form-layout.ts';
import {
  checkCsv,
  csvColumns,
  csvText,
  parseCsv,
  parseList,
  pastedUnits,
  readAddress,
  templateColumns,
} from './table.ts';

const jobType = (kind: string, market = 'mkta') => findJobType({ market, kind })!;
const shapeOf = ({ method }: JobType) => readRequestShape(method.input).list as ListShape;
const items = jobType('variant_sold');
const bytesOf = (text: string) => new TextEncoder().encode(text);
const parse = (text: string, type: JobType, fills = {}) =>
  parseCsv(bytesOf(text), type, shapeOf(type), fills);

test('csvText() writes the header of a template', () => {
  expect(csvText([templateColumns(shapeOf(items))])).toBe('item_id,shop_id,country\r\n');
  expect(csvColumns(shapeOf(jobType('search_items')))).toEqual(['url*']);
});

test('buildBody() converts integers and flags', () => {
  const bulk = jobType('search_bulk', 'mktb');
  const { units } = parse('keyword,product_limit\n"kopi, bubuk",90\n', bulk);
  expect(buildBody(readRequestShape(bulk.method.input), {}, units)).toEqual({
    items: [{ keyword: 'kopi, bubuk', product_limit: 90 }],
  });
});

test.each([
  ['item_id\n12\n', ["File: The column 'shop_id' is missing"]],
  ['item_id,shop_id\n', ['File: The file has no rows below the header']],
  [
    'item_id,shop_id\n1,\nx,2,3\n',
    [
      'Line 2, shop_id: Required',
      'Line 3: The row has 3 cells, not 2. Quote values that contain commas',
      'Line 3, item_id: Must be 1 to 20 digits',
    ],
  ],
  [
    'item_id,shop_id\n1,\nx,2\n',
    ['Line 2, shop_id: Required', 'Line 3, item_id: Must be 1 to 20 digits'],
  ],
  ['item_id,shop_id\n\n,,\n1,\n', ['Line 4, shop_id: Required']],
])('parseCsv() rejects %j with its problems', (text, problems) => {
  expect(parse(text, items)).toEqual({ units: [], problems, ignored: [] });
});

test('parseList() reports the problems of all lines at once', () => {
  const pages = jobType('pdp_bulk', 'mkte');
  const text = 'B0GLN00001\nshort\n\nhttps://www.example.org/x\nB0GLN00002, de\n';
  const options = { fills: { country: '' }, order: ['asin', 'country'] };
  expect(parseList(text, pages, shapeOf(pages), options).problems).toEqual([
    { line: 2, field: 'asin', message: 'Must be 10 letters and digits' },
    {
      line: 4,
      message: '"https://www.example.org/x" is not the address of a product',
    },
  ]);
});

test('parseCsv() names columns that no field has', () => {
  expect(parse('Item_ID,shop_id,colour\n1,2,red\n', items)).toEqual({
    units: [{ item_id: '1', shop_id: '2' }],
    problems: [],
    ignored: ['colour'],
  });
});

test.each([
  ['Product\tItem ID\tShop ID\nRack\t12\t7\nPot\tx\t7\n', ['12', 'x']],
  ['Shop ID\tItem ID\n7\t12\n7\t13\n', ['12', '13']],
  ['https://a.example.co.id/x-i.7.12\n', ['12']],
])('pastedUnits() of %j has the items %j', (text, ids) => {
  const units = pastedUnits(text, items);
  expect(units?.map((unit) => [unit.item_id, unit.shop_id])).toEqual(ids.map((id) => [id, '7']));
});

test('pastedUnits() leaves cells without a header to their positions', () => {
  expect(pastedUnits('Rack\t12\t7\n', items)).toBeNull();
});

test.each([
  ['Product link\tNote\n', []],
  ['', []],
  ['barang-9\ttoko-7\n', ['barang-9']],
])('a row with %j above addresses is the items %j', (header, ids) => {
  const pages = jobType('pdp_bulk', 'mktb');
  const address = (id: string) => `https://www.tokopedia.com/toko-7/${id}?src=ads\ta note\n`;
  const text = header + address('barang-1') + address('barang-2');
  const units =
    pastedUnits(text, pages) ??
    pastedRows(text, ['product_key', 'shop_domain'], 'product_key')!.map((row) =>
      readAddress(row, pages),
    );
  expect(units.map((unit) => unit.product_key)).toEqual([...ids, 'barang-1', 'barang-2']);
});

test('readAddress() fills the fields of a product from its address, and keeps other rows', () => {
  const pages = jobType('pdp_bulk', 'mktb');
  const row = (text: string) => ({ product_key: text, shop_domain: '' });
  expect(readAddress(row('https://www.tokopedia.com/toko-7/barang-1?src=ads'), pages)).toEqual({
    product_key: 'barang-1',
    shop_domain: 'toko-7',
  });
  for (const text of ['https://tokopedia.link/abcd', 'barang-1'])
    expect(readAddress(row(text), pages)).toEqual(row(text));
});

test('parseCsv() leaves fields to the page that asks for them', () => {
  const pages = jobType('pdp_bulk', 'mktd');
  const rows = 'product_id\n1729000076001\n';
  expect(parse(rows, pages).problems).toEqual(["File: The column 'country' is missing"]);
  expect(parse(rows, pages, { country: '' })).toMatchObject({
    units: [{ product_id: '1729000076001' }],
    problems: [],
  });
});

test('parseCsv() rejects more rows than one request takes', () => {
  const search = jobType('search_items');
  expect(parse(`url\n${'https://a.test\n'.repeat(51)}`, search).problems).toEqual([
    'File: The list has 51 units. Submit at most 50 at once.',
  ]);
});

test.each([
  ['\ufeffregion,shop_id,item_id\nsg,1,2\n\n,,\nsg,3,4\n', '', 2, []],
  ['shop_id,item_id\n1,2\n', 'sg', 1, []],
  ['shop_id,item_id\n1,2\n', '', null, ["File: The column 'region' is missing"]],
  ['', '', null, ['File: The file has no rows']],
  [
    'region,shop_id,item_id\n"sg,1,2\n',
    '',
    null,
    [
      'Line 2: The row cannot be parsed: Quote Not Closed: the parsing is finished with an opening quote',
    ],
  ],
])('checkCsv(%j) with the region "%s" finds %j rows', (text, region, rows, problems) => {
  const fills = { region, rescrape: '' };
  expect(checkCsv(bytesOf(text), jobType('get_pc_bulk'), fills)).toEqual({ rows, problems });
});
