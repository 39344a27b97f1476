import { describe, expect, test } from 'vitest';
import { findJobType } from '../job-types.ts';
import { columnsOf } from './columns.ts';
import { readText } from './read-text.ts';

const columns = (market: string, kind: string) => columnsOf(findJobType({ market, kind })!);
const pages = columns('mkte', 'pdp_bulk');
const items = columns('mkta', 'variant_sold');
const order = ['asin', 'country'];
const read = (text: string, fills = { country: '' }) => readText(pages, text, { order, fills });

describe('readText()', () => {
  test.each([
    ['ids, one per line', 'B0GLN00001\r\n\r\n B0GLN00002 \r\n', [1, 3]],
    ['a column of a spreadsheet', 'ASIN\nB0GLN00001\nB0GLN00002\n', [2, 3]],
    ['a CSV file', 'note,asin\n"a,b",B0GLN00001\nc,B0GLN00002\n', [2, 3]],
    ['addresses without a scheme', '\nwww.amazon.de/gp/product/B0GLN00001\nB0GLN00002', [2, 3]],
    ['several ids in a line', '\nB0GLN00001, B0GLN00002\n', [2, 2]],
    [
      'a CSV file with addresses under any title',
      'Name,Link\na,https://www.amazon.de/dp/B0GLN00001\nb,www.amazon.de/dp/B0GLN00002\n',
      [2, 3],
    ],
    [
      'cells with addresses under any title',
      'Name\tLink\na\thttps://www.amazon.de/dp/B0GLN00001\nb\twww.amazon.de/dp/B0GLN00002\n',
      [2, 3],
    ],
    [
      'addresses under a title',
      'Link\nhttps://www.amazon.de/dp/B0GLN00001\nhttps://www.amazon.de/dp/B0GLN00002\n',
      [2, 3],
    ],
    ['ids in lower case', '\nb0gln00001\nB0GLN00002', [2, 3]],
    ['a CSV file with semicolons', 'asin;note\nB0GLN00001;a\nB0GLN00002;b\n', [2, 3]],
  ])('reads %s', (_what, text, lines) => {
    expect(read(text)).toMatchObject({
      units: [{ asin: 'B0GLN00001' }, { asin: 'B0GLN00002' }],
      lines,
    });
  });

  test.each([
    ['addresses, some with commas', 'https://www.e.example.de/dp/B0GLN00001?a=1,2\nB0GLN00002\n'],
    ['ids and addresses', 'B0GLN00001\nhttps://www.e.example.de/dp/B0GLN00002\n'],
    ['ids with a country', 'B0GLN00001, de\nB0GLN00002\n'],
    ['ids, of which one has a country', 'B0GLN00001\n\nB0GLN00002; DE\n'],
    ['cells of a spreadsheet', 'B0GLN00001\tDE\nB0GLN00002\tde\n'],
    ['cells of a spreadsheet with a header', 'Country\t"asin"\nDE\tB0GLN00001\nde\tB0GLN00002\n'],
  ])('reads %s', (_what, text) => {
    const { units } = read(text);
    expect(units).toMatchObject([{ asin: 'B0GLN00001' }, { asin: 'B0GLN00002' }]);
    expect(units).toContainEqual(expect.objectContaining({ country: 'de' }));
  });

  test('reads the only columns of addresses and of regions among other cells', () => {
    const address = 'https://www.e.example.de/dp/B0GLN00001';
    const unit = { asin: 'B0GLN00001', country: 'de' };
    expect(read(`Lamp\t${address}\tGermany\t12,99\nBell\t${address}\tde\t\n`).units).toEqual([
      unit,
      unit,
    ]);
    const com = 'https://www.e.example.com/dp/B0GLN00001';
    expect(read(`${com}\tLamp\tGermany\n`).units).toEqual([unit]);
    expect(read(`Lamp\t${com}\n`, { country: 'de' }).units).toEqual([unit]);
    expect(() => read(`Lamp\t${address}\tfr\n`)).toThrow(`'country' is "fr", but "de" in`);
    expect(() => read(`Lamp\t${address}\t${com}\n`)).toThrow('names no column');
  });

  test('reads ids in lower case from a column of addresses', () => {
    const address = 'https://www.e.example.de/dp/B0GLN00001';
    const unit = { asin: 'B0GLN00001', country: 'de' };
    const text = `Name\tLink\tCountry\nLamp\t${address}\tde\nLamp\tb0gln00001\tde\n`;
    expect(readText(pages, text, { order: [] }).units).toEqual([unit, unit]);
  });

  test('reads units with several fields from addresses and cells', () => {
    const fields = { order: ['item_id', 'shop_id'] };
    const fromCells = readText(items, '12\t7\n13\t7\n', fields);
    expect(fromCells.units).toEqual([
      { item_id: '12', shop_id: '7' },
      { item_id: '13', shop_id: '7' },
    ]);
    const fromAddress = readText(items, 'https://a.example.co.id/x-i.7.42\n', fields);
    expect(fromAddress.units).toEqual([{ item_id: '42', shop_id: '7', country: 'id' }]);
  });

  test('reads columns by their titles, unless others have the names of the fields', () => {
    const unit = { item_id: '12', shop_id: '7' };
    const cells = 'Shop ID\tName\tItem-ID\n7\tRack\t12\n';
    expect(readText(items, cells, { order: [] }).units).toEqual([unit]);
    const named = 'item_id,Item ID,shop_id\n12,13,7\n';
    expect(readText(items, named, { order: [] }).units).toEqual([unit]);
    const formatted = 'Formatted ID,SKU\nps--GLN-1,GLN-1\n';
    expect(readText(columns('mktc', 'pdp_bulk'), formatted, { order: [] }).units).toEqual([
      { formattedId: 'ps--GLN-1', sku: 'GLN-1' },
    ]);
  });

  test('reads strings, with a header or without', () => {
    const searches = columns('mkta', 'search_items');
    const urls = ['https://a.test/1,2', 'https://a.test/3'];
    expect(readText(searches, urls.join('\n'), { order: [] }).units).toEqual(urls);
    expect(readText(searches, 'Address\nhttps://a.test/3\n', { order: [] }).units).toEqual([
      urls[1],
    ]);
  });

  test.each([
    ['mktf', 'search_bulk', 'url', 'store.example/collections/lamps'],
    ['sites', 'pdp_bulk', 'url', 'www.shop.example/p/1'],
    ['sites', 'pdp_bulk', 'url', 'url\nwww.shop.example/p/1'],
    ['mkta', 'search_items', undefined, 'shop.example/search?keyword=a'],
    ['mkta', 'search_items', undefined, 'url\nshop.example/search?keyword=a'],
  ])('adds the scheme to addresses of %s %s without one', (market, kind, field, text) => {
    const address = `https://${text.replace('url\n', '')}`;
    const { units } = readText(columns(market, kind), text, { order: ['url'] });
    expect(units).toEqual([field === undefined ? address : { [field]: address }]);
  });

  test.each([
    ['', { message: 'The file has no rows' }],
    [
      'B0GLN00001\tde\tx\n',
      {
        line: 1,
        message: expect.stringContaining(
          'names no column. Write the names of the columns above their values: asin, country',
        ),
      },
    ],
    ['B0GLN00001,12\n', { message: expect.stringContaining("The column 'asin' is missing") }],
    [
      'https://www.e.example.de/cart\n',
      { line: 1, message: '"https://www.e.example.de/cart" is not the address of a product' },
    ],
    [
      'Product;Quantity\nB0GLN00001;2\n',
      {
        message: 'The column \'asin\' is missing. The first line has "Product", "Quantity"',
      },
    ],
  ])('refuses %j', (text, problem) => {
    expect(() => read(text)).toThrow(
      expect.objectContaining({
        problems: expect.arrayContaining([expect.objectContaining(problem)]),
      }),
    );
  });
});
