import { expect, test } from 'vitest';
import { offers } from '../offers/offers.ts';
import { buildBody } from './body.ts';
import { type ListShape, readRequestShape } from './fields.ts';
import { countRows, csvColumns, csvTemplate, parseCsv, templateColumns } from './table.ts';

const shape = (kind: string, market = 'mkta') =>
  readRequestShape(offers.find((offer) => offer.market === market && offer.kind === kind)!.method.input);
const items = shape('variant_sold').list as ListShape;

test('csvTemplate() has every column and parses as a file without rows', () => {
  expect(csvTemplate(templateColumns(items))).toBe('item_id,shop_id,country\r\n');
  expect(parseCsv(csvTemplate(templateColumns(items)), items).problems).toEqual([
    'The file has no rows below the header.',
  ]);
});

test('parseCsv() reads columns in any order and skips empty cells', () => {
  const { units, problems } = parseCsv('\ufeffshop_id,country,item_id\n7, sg ,12\n\n8,,13\n', items);
  expect(problems).toEqual([]);
  expect(buildBody(shape('variant_sold'), { country: 'id' }, units)).toEqual({
    country: 'id',
    items: [
      { item_id: '12', shop_id: '7', country: 'sg' },
      { item_id: '13', shop_id: '8' },
    ],
  });
});

test('buildBody() converts integers and flags', () => {
  const list = shape('search_bulk', 'mktb').list as ListShape;
  const { units } = parseCsv('keyword,product_limit\n"kopi, bubuk",90\n', list);
  expect(buildBody(shape('search_bulk', 'mktb'), {}, units)).toEqual({
    items: [{ keyword: 'kopi, bubuk', product_limit: 90 }],
  });
});

test('parseCsv() reads plain texts from the only column or from url', () => {
  const list = shape('search_items').list as ListShape;
  expect(parseCsv('address\nhttps://a.test\n', list).units).toEqual(['https://a.test']);
  expect(parseCsv('note,url\nx,https://a.test\n', list).units).toEqual(['https://a.test']);
  expect(parseCsv('note,address\nx,y\n', list).problems).toEqual(['Column url is missing.']);
  expect(csvColumns(list)).toEqual(['url*']);
});

test.each([
  ['item_id\n12\n', ['Column shop_id is missing.']],
  ['item_id,shop_id,colour\n1,2,red\n', ['Unknown column colour.']],
  ['item_id,shop_id\n', ['The file has no rows below the header.']],
  ['item_id,shop_id\n1,\nx,2\n', ['Line 2, shop_id: Required', 'Line 3, item_id: Must match ^[0-9]{1,20}$']],
])('parseCsv() rejects %j with its problems', (text, expected) => {
  expect(parseCsv(text, items)).toEqual({ units: [], problems: expected });
});

test('parseCsv() rejects malformed CSV with the reason', () => {
  const { units, problems } = parseCsv('item_id,shop_id\n1,"2\n', items);
  expect(units).toEqual([]);
  expect(problems[0]).toMatch(/quote/i);
});

test('parseCsv() rejects more rows than one request takes', () => {
  const list = shape('search_items').list as ListShape;
  expect(parseCsv(`url\n${'https://a.test\n'.repeat(51)}`, list).problems).toEqual([
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
