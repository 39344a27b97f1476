import { describe, expect, test } from 'vitest';
import { conditionOf, conditionText, defaultSort, valueText } from './query.ts';

describe('valueText()', () => {
  const record = JSON.stringify({ title: 'a', price: { amount: 0 }, images: ['x'], empty: null });
  test.each([
    ['title', 'a'],
    ['price.amount', '0'],
    ['images', '["x"]'],
    ['empty', ''],
    ['empty.more', ''],
    ['constructor.name', ''],
  ])('of %s', (path, expected) => expect(valueText(record, path)).toBe(expected));
});

test.each([
  ['item.price>=2300', 'Price ≥ 2300'],
  ['item.title~a=b', 'Title contains a=b'],
  ['price.currency!=EUR', 'price.currency ≠ EUR'],
  ['unit_key=', 'Unit = '],
  ['item.id~77', 'ID contains 77'],
  ['anything', 'anything'],
])('conditionText(%j) is "%s"', (condition, expected) =>
  expect(conditionText(condition)).toBe(expected),
);

test.each([
  ['item.price', ' 300,000.5 ', 'item.price>=300000.5'],
  ['item.price', '300,00', 'item.price>=300,00'],
  ['item.title', '300,000', 'item.title>=300,000'],
])('conditionOf() a value in %s of "%s" is "%s"', (column, value, expected) => {
  expect(conditionOf(column, '>=', value)).toBe(expected);
});

test.each([
  [{ notRun: 186, success: 14, total: 200 }, 'unit_index'],
  [{ notRun: 0, success: 14, total: 200 }, ''],
  [{ notRun: 200, success: 0, total: 200 }, ''],
  [{ notRun: 186, success: 14, total: 200_000 }, ''],
])('defaultSort(%j) is "%s"', (job, expected) => expect(defaultSort(job)).toBe(expected));
