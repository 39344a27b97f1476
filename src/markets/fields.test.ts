import { describe, expect, it } from 'vitest';
import {
  absoluteUrl,
  count,
  firstInteger,
  integer,
  integers,
  list,
  number,
  object,
  objects,
  percent,
  positive,
  rupiah,
  text,
  texts,
  without,
} from './fields.ts';

const oddities = [
  undefined,
  null,
  true,
  {},
  [],
  [1],
  Number.NaN,
  Number.POSITIVE_INFINITY,
  '',
  ' ',
  'abc',
];

describe('coercions', () => {
  it('return null for blank values', () => {
    for (const odd of oddities) {
      for (const coerce of [number, integer, positive, rupiah, percent, count])
        expect(coerce(odd)).toBeNull();
    }
    for (const odd of oddities.slice(0, -1)) expect(text(odd)).toBeNull();
  });

  it('navigate missing objects and lists without throwing', () => {
    expect(object(null)).toEqual({});
    expect(list('x')).toEqual([]);
    expect(objects([1, { a: 1 }, null])).toEqual([{ a: 1 }]);
  });

  it('text() keeps text and formats numbers', () => {
    expect(text(' a ')).toBe(' a ');
    expect(text(0)).toBe('0');
  });

  it.each([
    ['4.9', 4.9],
    ['4,9', 4.9],
    [8000.0, 8000],
    ['-1', -1],
  ])('number(%j) is %d', (value, expected) => expect(number(value)).toBe(expected));

  it('percent() rejects long white space at once', () => {
    expect(percent(`-${' '.repeat(1_000_000)}1${' '.repeat(1_000_000)}x`)).toBeNull();
  });

  it('number() reads no number that has lost digits', () => {
    expect(number('9007199254740991')).toBe(Number.MAX_SAFE_INTEGER);
    for (const value of ['9007199254740993', '99999999999999999999', 1e21, '-9007199254740992'])
      expect(number(value)).toBeNull();
  });

  it('number() does not read a comma that can separate thousands as a decimal comma', () => {
    expect(number('1,299')).toBeNull();
    expect(positive('12,345')).toBeNull();
  });

  it('integer() rejects fractions and unsafe integers', () => {
    expect(integer('12')).toBe(12);
    expect(integer('4.9')).toBeNull();
    expect(integer(1.5)).toBeNull();
    expect(integer('9007199254740993')).toBeNull();
  });

  it.each([
    ['Rp1.234.000', 1234000],
    ['Rp 4.000 - Rp 8.000', 4000],
    ['IDR 12.500,00', 12500],
    ['Rp500', 500],
    [20784.0, 20784],
    [20784.5, null],
    ['Rp0', null],
    [0, null],
    [-1, null],
  ])('rupiah(%j) is %j', (value, expected) => expect(rupiah(value)).toBe(expected));

  it.each([
    ['20%', 20],
    ['-7%', 7],
    [15, 15],
    ['0', 0],
  ])('percent(%j) is %d', (value, expected) => expect(percent(value)).toBe(expected));

  it.each([
    ['548', 548],
    ['1.234', 1234],
    ['2rb+ terjual', 2000],
    ['1,4 rb', 1400],
    ['2,1 k', 2100],
    ['5 k', 5000],
    ['30k+', 30000],
    ['Terjual 10RB+', 10000],
    ['1,2 jt', 1200000],
    ['100+ terjual', 100],
    ['7 karung', 7],
    ['10RB+', 10_000],
    ['1,2RB', 1_200],
    ['2JT', 2_000_000],
    ['1,5jt+', 1_500_000],
    ['1,234,567', 1_234_567],
    ['Terjual 4,7 rb', 4_700],
    ['Đã bán 30k+', 30_000],
    ['Đã bán 1,2k', 1_200],
    ['Đã bán 288/tháng', 288],
    ['Đã bán 1,1tr', 1_100_000],
    ['3.4K sold', 3_400],
    ['25 knots', 25],
    ['ขายแล้ว 1.2พัน ชิ้น', 1_200],
    ['ขายแล้ว 3หมื่น ชิ้น', 30_000],
    ['已售出 1.2萬', 12_000],
    ['月銷量 1,234', 1_234],
    ['10mil+ vendidos', 10_000],
    ['1,2mil vendidos', 1_200],
    ['2mi vendidos', 2_000_000],
    [52, 52],
    ['1 234 avis', 1_234],
    ['1\u00a0234\u202f567', 1_234_567],
    ["12'500", 12_500],
  ])('count(%j) is %d', (value, expected) => expect(count(value)).toBe(expected));

  it.each(['4.5 (12 reviews)', '4,5', 4.5, -1, '-1', ' − 3'])('count(%j) is null', (value) =>
    expect(count(value)).toBeNull(),
  );

  it.each([
    ['https://x.test/a b', 'https://x.test/a b'],
    ['//x.test/a', 'https://x.test/a'],
    [' http://x.test/ ', 'http://x.test/'],
    ['/p/1', 'https://site.test/p/1'],
    ['p/1', 'https://site.test/p/1'],
    ['data:image/gif;base64,R0', null],
    ['javascript:x()', null],
    ['', null],
    [null, null],
  ])('absoluteUrl(%j) is %j', (value, expected) =>
    expect(absoluteUrl(value, 'https://site.test/q')).toBe(expected),
  );

  it('absoluteUrl() has no relative addresses without a base', () => {
    expect(absoluteUrl('/p/1')).toBeNull();
    expect(absoluteUrl('//x.test/a')).toBe('https://x.test/a');
  });

  it('integers(), texts() and firstInteger() skip other values', () => {
    expect(integers([1, '2', null, 1.5, 'x'])).toEqual([1, 2]);
    expect(texts(['a', '', 7, null, {}])).toEqual(['a', '7']);
    expect(firstInteger(null, 'x', '3', 4)).toBe(3);
    expect(firstInteger(undefined, 1.5)).toBeNull();
  });

  it('without() drops names at every depth and keeps its argument', () => {
    const value = { keep: 1, user: 2, deep: [{ user: 3, keep: 4 }] };
    expect(without(value, new Set(['user']))).toEqual({ keep: 1, deep: [{ keep: 4 }] });
    expect(value.deep[0]).toEqual({ user: 3, keep: 4 });
  });
});
