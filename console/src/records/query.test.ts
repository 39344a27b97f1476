import { describe, expect, test } from 'vitest';
import { emptyRecordFilter, exportPath, formatPrice, valueText } from './query.ts';

test('exportPath() has the selection, but not the status: failed units are not exported', () => {
  expect(exportPath('j1', 'csv', emptyRecordFilter)).toBe('/v1/jobs/j1/export?format=csv');
  const filter = {
    search: ' a&b ',
    conditions: ['price>1', 'title~=;'],
    sort: '-item.price',
    status: 'FAILED',
  } as const;
  const query = new URL(exportPath('j1', 'parquet', filter), 'http://x').searchParams;
  expect([...query]).toEqual([
    ['format', 'parquet'],
    ['filter', 'price>1'],
    ['filter', 'title~=;'],
    ['search', 'a&b'],
    ['sort', '-item.price'],
  ]);
});

describe('valueText()', () => {
  const record = { title: 'a', price: { amount: 0 }, images: ['x'], empty: null };
  test.each([
    ['title', 'a'],
    ['price.amount', '0'],
    ['images', '["x"]'],
    ['empty', ''],
    ['empty.more', ''],
    ['constructor.name', ''],
  ])('of %s', (path, expected) => expect(valueText(record, path)).toBe(expected));
});

test('formatPrice() shows an unknown currency as it is', () => {
  expect(formatPrice(12.5, 'EUR')).toContain('12.5');
  expect(formatPrice(12.5, 'credits!')).toBe('12.5 credits!');
  expect(formatPrice(12.5, '')).toBe('12.5');
});
