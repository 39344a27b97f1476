import { describe, expect, test } from 'vitest';
import { findJobType } from '../job-types.ts';
import { readCsv, unitsOfCsv } from './csv.ts';

const jobType = (market: string, kind: string) => findJobType({ market, kind })!;
const items = jobType('mkta', 'variant_sold');

describe('unitsOfCsv()', () => {
  test('reads columns in any order with the lines of the rows, and leaves empty cells out', () => {
    expect(unitsOfCsv(items, '\ufeffshop_id,country,item_id\r\n7, sg ,12\r\n\r\n8,,13\r\n')).toEqual({
      units: [
        { item_id: '12', shop_id: '7', country: 'sg' },
        { item_id: '13', shop_id: '8' },
      ],
      lines: [2, 4],
    });
  });

  test.each([
    ['address\nhttps://a.test\n', [2]],
    ['note,url\nx,https://a.test\n', [2]],
    ['https://a.test\n', [1]],
  ])('reads strings from %j', (text, lines) => {
    expect(unitsOfCsv(jobType('mkta', 'search_items'), text)).toEqual({ units: ['https://a.test'], lines });
  });

  test('reads the only field of a unit from addresses without a header', () => {
    expect(unitsOfCsv(jobType('mktf', 'search_bulk'), 'https://a.test/1\n\nhttps://a.test/2\n')).toEqual({
      units: [{ url: 'https://a.test/1' }, { url: 'https://a.test/2' }],
      lines: [1, 3],
    });
  });

  test.each([
    ['', 'empty', undefined],
    ['item_id,shop_id\n', 'no rows below the header', undefined],
    ['item_id,item_id\n1,2\n', 'duplicate column "item_id"', undefined],
    ['item_id\n1\n1,2\n', '2 cells, but 1 columns', 3],
    ['shop\n1\n', 'mkta variant_sold has no field "shop" (item_id, shop_id, country)', undefined],
    [
      'item_id;shop_id\n1;2\n',
      'mkta variant_sold has no field "item_id;shop_id" (item_id, shop_id, country). Separate columns by commas, not by ";"',
      undefined,
    ],
    ['https://a.test\n', 'variant_sold requires the columns item_id, shop_id, country', undefined],
  ])('refuses %j', (text, message, line) => {
    expect(() => unitsOfCsv(items, text)).toThrow(expect.objectContaining({ message, line }));
  });

  test('refuses several columns without one for the strings', () => {
    expect(() => unitsOfCsv(jobType('mkta', 'search_items'), 'a,b\nc,d\n')).toThrow(
      'search_items takes one column, or the column url, not 2 columns',
    );
  });
});

test('readCsv() refuses malformed text with the reason', () => {
  expect(() => readCsv('item_id,shop_id\n1,"2\n')).toThrow(/^not valid CSV: .*quote/i);
});
