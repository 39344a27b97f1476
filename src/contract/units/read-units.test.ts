import { describe, expect, test } from 'vitest';
import { findJobType } from '../job-types.ts';
import { columnsOf } from './columns.ts';
import { readUnits } from './read-units.ts';

const columns = (market: string, kind: string) => columnsOf(findJobType({ market, kind })!);
const items = columns('mkta', 'variant_sold');
const pages = columns('mkte', 'pdp_bulk');
const searches = columns('mkta', 'search_items');

const read = (ofType: typeof items, text: string, fills = {}) =>
  readUnits(ofType, new TextEncoder().encode(text), { fills });

describe('readUnits()', () => {
  test('reads columns in any order and case, and leaves empty cells out', () => {
    expect(
      read(items, '\ufeffSHOP_ID, Country ,item_id\r\n7, SG ,12\r\n\r\n,,\r\n8,,13\r\n'),
    ).toEqual({
      units: [
        { item_id: '12', shop_id: '7', country: 'sg' },
        { item_id: '13', shop_id: '8' },
      ],
      lines: [2, 5],
      ignored: [],
    });
  });

  test('finds fields that have capitals', () => {
    const { units } = read(columns('mktc', 'pdp_bulk'), 'FormattedID,sku\nps--a-1,a-1-2\n');
    expect(units).toEqual([{ formattedId: 'ps--a-1', sku: 'a-1-2' }]);
  });

  test('reads the choice that a cell names in other words', () => {
    const file = 'asin,country\nB0GLN00001,Germany\nB0GLN00002,GB\nB0GLN00003,en-CA\n';
    const { units } = read(pages, `${file}B0GLN00004,Austria\n`);
    expect(units.map((unit) => typeof unit === 'object' && unit.country)).toEqual([
      'de',
      'uk',
      'ca',
      'Austria',
    ]);
  });

  test('reads columns that semicolons separate, if it may', () => {
    const file = 'ASIN;Country;Price\nB0GLN00001;Germany;"1;2"\nB0GLN00002;de;3,50\n';
    const bytes = new TextEncoder().encode(file);
    expect(readUnits(pages, bytes, { acceptsSemicolons: true })).toEqual({
      units: [
        { asin: 'B0GLN00001', country: 'de' },
        { asin: 'B0GLN00002', country: 'de' },
      ],
      lines: [2, 3],
      ignored: ['Price'],
    });
  });

  test('ignores other columns and names them', () => {
    expect(read(items, 'item_id,Note,shop_id,,price\n1,a,2,b,\n')).toEqual({
      units: [{ item_id: '1', shop_id: '2' }],
      lines: [2],
      ignored: ['Note', 'price'],
    });
  });

  test('reads a column that occurs twice with the same values', () => {
    expect(read(items, 'item_id,shop_id,item_id\n1,2,1\n').units).toEqual([
      { item_id: '1', shop_id: '2' },
    ]);
  });

  test('adds values to rows that lack them, and needs no column then', () => {
    expect(read(pages, 'asin\nB0GLN00001\n', { country: 'de' }).units).toEqual([
      { asin: 'B0GLN00001', country: 'de' },
    ]);
    expect(
      read(pages, 'asin,country\nB0GLN00001,\nB0GLN00002,fr\n', { country: 'de' }).units,
    ).toEqual([
      { asin: 'B0GLN00001', country: 'de' },
      { asin: 'B0GLN00002', country: 'fr' },
    ]);
    expect(read(pages, 'asin\nB0GLN00001\n', { country: '' }).units).toEqual([
      { asin: 'B0GLN00001' },
    ]);
  });

  test.each([
    ['Address\nhttps://a.test\n', [2]],
    ['note,url\nx,https://a.test\n', [2]],
    ['https://a.test\n', [1]],
  ])('reads strings from %j', (text, lines) => {
    expect(read(searches, text)).toMatchObject({ units: ['https://a.test'], lines });
  });

  test('reads the only field of a unit from addresses without a header', () => {
    const { units, lines } = read(
      columns('mktf', 'search_bulk'),
      'https://a.test/1\n\nhttps://a.test/2\n',
    );
    expect(units).toEqual([{ url: 'https://a.test/1' }, { url: 'https://a.test/2' }]);
    expect(lines).toEqual([1, 3]);
  });

  test.each([
    'https://www.e.example.de/dp/B0GLN00001\n',
    'link\nhttps://www.e.example.de/gp/product/B0GLN00001?x=1\n',
    'note,url\na,https://www.e.example.de/dp/B0GLN00001\n',
    'asin\nhttps://www.e.example.de/dp/B0GLN00001\n',
    'asin,country\nhttps://www.e.example.de/dp/B0GLN00001,DE\n',
  ])('reads the address of a product from %j', (text) => {
    expect(read(pages, text).units).toEqual([{ asin: 'B0GLN00001', country: 'de' }]);
  });

  test('reads addresses for every kind whose units identify a product', () => {
    expect(read(items, 'https://a.example.co.id/x-i.7.42\n').units).toEqual([
      { item_id: '42', shop_id: '7', country: 'id' },
    ]);
    expect(items.addressFields).toEqual(['country', 'item_id', 'shop_id']);
    expect(columns('mktb', 'merchant_bulk').addressFields).toEqual([]);
    expect(searches.addressFields).toEqual([]);
  });

  test.each<[typeof items, string, object]>([
    [items, '', { message: 'The file has no rows' }],
    [items, 'item_id,shop_id\n', { message: 'The file has no rows below the header' }],
    [
      items,
      'item_id,shop_id,item_id\n1,2,3\n',
      {
        row: 1,
        line: 2,
        column: 'item_id',
        message: `The column 'item_id' occurs twice with different values: "1" and "3"`,
      },
    ],
    [
      items,
      'item_id,shop_id\n1,2\n1,2,3\n',
      { row: 2, line: 3, message: 'The row has 3 cells, not 2. Quote values that contain commas' },
    ],
    [
      items,
      'item_id,shop\n1,2\n',
      {
        row: 0,
        column: 'shop_id',
        message: `The column 'shop_id' is missing. The first line has "shop"`,
      },
    ],
    [
      items,
      'item_id,shop_id,countries\n1,2,sg\n',
      { row: 0, message: 'mkta variant_sold has no field "countries". Did you mean country?' },
    ],
    [
      items,
      'item_id;shop_id\n1;2\n',
      {
        row: 0,
        message: `The column 'item_id' is missing. Separate columns by commas, not by ";"`,
      },
    ],
    [
      items,
      'https://a.example.sg/x-i.7.42\nhttps://a.example.sg/cart\n',
      { row: 2, line: 2, message: '"https://a.example.sg/cart" is not the address of a product' },
    ],
    [
      pages,
      'asin,country\nhttps://www.e.example.de/dp/B0GLN00001,fr\n',
      { line: 2, column: 'country', message: `'country' is "fr", but "de" in the address` },
    ],
    [
      pages,
      'https://www.e.example.com/dp/B0GLN00001\n',
      { message: "The column 'country' is missing" },
    ],
    [
      columns('mktc', 'pdp_bulk'),
      'https://c.example/p/a/ps--GLN-60001-10001?ds=GLN-60001-10001-00001\nhttps://c.example/p/a/ps--GLN-60001-10002\n',
      {
        line: 2,
        column: 'sku',
        message: `'sku' is not in "https://c.example/p/a/ps--GLN-60001-10002"`,
      },
    ],
    [
      columns('mktb', 'search_bulk'),
      'https://a.test\n',
      {
        message: expect.stringMatching(
          /^mktb search_bulk requires the columns list_type, keyword, /,
        ),
      },
    ],
    [
      searches,
      'a,b\nc,d\n',
      { message: 'mkta search_items takes one column, or the column url, not 2 columns' },
    ],
    [
      searches,
      'https://a.test\nhttps://a.test/1,2\n',
      { row: 2, line: 2, message: 'The row has 2 cells, not 1. Quote values that contain commas' },
    ],
  ])('refuses with its place %#', (ofType, text, problem) => {
    expect(() => read(ofType, text)).toThrow(
      expect.objectContaining({
        problems: expect.arrayContaining([expect.objectContaining(problem)]),
      }),
    );
  });

  test.each(['My products\n', 'sep=,\n'])('reports the header only if it is %j', (title) => {
    expect(() => read(items, `${title}item_id,shop_id\n1,2\n`)).toThrow(
      expect.objectContaining({
        problems: ['item_id', 'shop_id'].map((column) =>
          expect.objectContaining({ row: 0, column, type: 'missing' }),
        ),
      }),
    );
  });

  test('reports the problems of units beside those of the columns, without repeating them', () => {
    const file = new TextEncoder().encode('item_id\n1\nx\n');
    const checkUnit = (unit: Readonly<Record<string, string>>) => [
      ...(unit.shop_id === undefined
        ? [{ column: 'shop_id', type: 'missing', message: 'lacks' }]
        : []),
      ...(unit.item_id === 'x' ? [{ column: 'item_id', type: 'enum', message: 'wrong' }] : []),
    ];
    expect(() => readUnits(items, file, { checkUnit })).toThrow(
      expect.objectContaining({
        problems: [
          {
            row: 0,
            column: 'shop_id',
            type: 'missing',
            message: "The column 'shop_id' is missing",
          },
          { row: 2, line: 3, column: 'item_id', type: 'enum', message: 'wrong' },
        ],
      }),
    );
  });
});
