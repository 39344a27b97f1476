import { expect, test } from 'vitest';
import { offers } from '../offers/offers.ts';
import { bodyOf } from './body.ts';
import { type ListShape, shapeOf } from './fields.ts';
import { columnsOf, readTable } from './table.ts';

const shape = (kind: string, market = 'mkta') =>
  shapeOf(offers.find((offer) => offer.market === market && offer.kind === kind)!.method.input);
const items = shape('variant_sold').list as ListShape;

test('rows become units, whatever the order of the columns; empty cells are left out', () => {
  const { units, problems } = readTable('\ufeffshop_id,country,item_id\n7, sg ,12\n\n8,,13\n', items);
  expect(problems).toEqual([]);
  expect(bodyOf(shape('variant_sold'), { country: 'id' }, units)).toEqual({
    country: 'id',
    items: [
      { item_id: '12', shop_id: '7', country: 'sg' },
      { item_id: '13', shop_id: '8' },
    ],
  });
});

test('integers and flags are sent as such', () => {
  const list = shape('search_bulk', 'mktb').list as ListShape;
  const { units } = readTable('keyword,product_limit\n"kopi, bubuk",90\n', list);
  expect(bodyOf(shape('search_bulk', 'mktb'), {}, units)).toEqual({
    items: [{ keyword: 'kopi, bubuk', product_limit: 90 }],
  });
});

test('texts are read from the only column, or from url', () => {
  const list = shape('search_items').list as ListShape;
  expect(readTable('address\nhttps://a.test\n', list).units).toEqual(['https://a.test']);
  expect(readTable('note,url\nx,https://a.test\n', list).units).toEqual(['https://a.test']);
  expect(readTable('note,address\nx,y\n', list).problems).toEqual(['There is no column url.']);
  expect(columnsOf(list)).toEqual(['url*']);
});

test.each([
  ['item_id\n12\n', ['The column shop_id is missing.']],
  ['item_id,shop_id,colour\n1,2,red\n', ['There is no field for the column colour.']],
  ['item_id,shop_id\n', ['The file has no rows below its header.']],
  [
    'item_id,shop_id\n1,\nx,2\n',
    ['Line 2, shop_id: Must be given.', 'Line 3, item_id: Must look like ^[0-9]{1,20}$'],
  ],
])('%j is refused whole, with what is wrong', (text, expected) => {
  expect(readTable(text, items)).toEqual({ units: [], problems: expected });
});

test('a file that is no CSV is refused with the reason', () => {
  const { units, problems } = readTable('item_id,shop_id\n1,"2\n', items);
  expect(units).toEqual([]);
  expect(problems[0]).toMatch(/quote/i);
});

test('more rows than one request takes are refused', () => {
  const list = shape('search_items').list as ListShape;
  expect(readTable(`url\n${'https://a.test\n'.repeat(51)}`, list).problems).toEqual([
    '51 rows; at most 50 can be submitted at once.',
  ]);
});
