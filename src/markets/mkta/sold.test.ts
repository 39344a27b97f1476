import { expect, test } from 'vitest';
import { countInText, soldCount } from './sold.ts';

test.each([
  ['30k+', 30_000],
  ['10RB+', 10_000],
  ['1,2RB', 1_200],
  ['2JT', 2_000_000],
  ['1,5jt+', 1_500_000],
  ['548', 548],
  ['1.234', 1_234],
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
  ['New', null],
  ['', null],
])('parses %j as %j', (text, count) => {
  expect(countInText(text)).toBe(count);
});

test.each([
  [288, ['30k+'], 288],
  [0, ['30k+'], 30_000],
  [null, ['1RB+'], 1_000],
  [undefined, [null, '12'], 12],
  ['2k+', [], 2_000],
  [0, [null], 0],
  [0, [], 0],
  [null, [], null],
  [undefined, ['none'], null],
  [-1, [], null],
])('resolves number %j with texts %j to %j', (number, texts, count) => {
  expect(soldCount(number, ...texts)).toBe(count);
});
