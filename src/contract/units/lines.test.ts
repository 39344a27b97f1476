import { describe, expect, test } from 'vitest';
import { findJobType } from '../job-types.ts';
import { columnsOf } from './columns.ts';
import { cellsOfLine, unitsOfLines } from './lines.ts';

const columns = (market: string, kind: string) => columnsOf(findJobType({ market, kind })!);
const pages = columns('mkte', 'pdp_bulk');
const items = columns('mkta', 'variant_sold');

describe('unitsOfLines()', () => {
  test('reads ids and addresses of products', () => {
    const lines = [
      { line: 1, text: 'B0GLN00001' },
      { line: 4, text: 'https://www.e.example.fr/dp/B0GLN00002' },
    ];
    expect(unitsOfLines(pages, lines, { fills: { country: 'de' } })).toEqual({
      units: [
        { asin: 'B0GLN00001', country: 'de' },
        { asin: 'B0GLN00002', country: 'fr' },
      ],
      lines: [1, 4],
      ignored: [],
    });
  });

  test('reads regions of some lines', () => {
    const lines = [
      { line: 1, text: '7/42, SG' },
      { line: 2, text: 'https://a.example.co.id/x-i.7.43' },
      { line: 3, text: '7.44' },
    ];
    expect(unitsOfLines(items, lines).units).toEqual([
      { item_id: '42', shop_id: '7', country: 'sg' },
      { item_id: '43', shop_id: '7', country: 'id' },
      { item_id: '44', shop_id: '7' },
    ]);
  });

  test('refuses another region than that of the address', () => {
    const text = 'https://www.e.example.de/dp/B0GLN00001, fr';
    expect(() => unitsOfLines(pages, [{ line: 1, text }])).toThrow(
      `'country' is "fr", but "de" in the address`,
    );
  });
});

describe('cellsOfLine()', () => {
  test.each([
    ['B0GLN00001, de', ['B0GLN00001', 'de']],
    ['B0GLN00001;DE', ['B0GLN00001', 'DE']],
    ['B0GLN00001\tde', ['B0GLN00001', 'de']],
    ['short, de', ['short', 'de']],
    [
      'https://www.e.example.com/dp/B0GLN00001?a=1,2, de',
      ['https://www.e.example.com/dp/B0GLN00001?a=1,2', 'de'],
    ],
    [
      'https://www.e.example.com/dp/B0GLN00001,de',
      ['https://www.e.example.com/dp/B0GLN00001', 'de'],
    ],
  ])('separates the region of %j', (line, cells) => {
    expect(cellsOfLine(pages, line)).toEqual(cells);
  });

  test.each(['xx', 'Germany', 'United Kingdom'])('separates the unknown region %s', (region) => {
    expect(cellsOfLine(pages, `B0GLN00001, ${region}`)).toEqual(['B0GLN00001', region]);
  });

  test.each([
    'B0GLN00001',
    'B0GLN00001, ABCDEFGHIJ',
    'B0GLN00001, b0gln00002',
    'B0GLN00001, 12',
    'B0GLN00001, x, de',
    'short, xx',
    'de, B0GLN00001',
    'https://www.e.example.de/dp/B0GLN00001?a=1,de',
    'https://www.e.example.de/dp/B0GLN00001?a=1, note',
  ])('does not split %j', (line) => {
    expect(cellsOfLine(pages, line)).toEqual([line]);
  });

  test('does not split keywords and lines of kinds without a region', () => {
    expect(cellsOfLine(columns('mkte', 'search_bulk'), 'shoes, it')).toEqual(['shoes, it']);
    expect(cellsOfLine(columns('mktc', 'pdp_bulk'), 'ps--a-1, id')).toEqual(['ps--a-1, id']);
  });
});
