import { expect, test } from 'vitest';
import { columnsOf } from './columns.ts';
import { createFillCounter } from './fill.ts';
import { pickColumns } from './pick.ts';

test('createFillCounter() counts null, empty values, and values of another type as missing', () => {
  const counter = createFillCounter(
    columnsOf('title: string?; price.amount: number?; images: array; seller: object?'),
  );
  for (const row of [
    { title: 'a', price: { amount: 0 }, images: ['x'], seller: { name: 'b' } },
    { title: '', price: null, images: [], seller: {} },
    { price: { amount: '1' }, images: null },
    { title: 'b', price: { amount: 1 } },
  ])
    counter.add(row);
  expect(counter.rows).toBe(4);
  expect(counter.rates().map(({ column: { name }, fill }) => [name, fill])).toEqual([
    ['title', 0.5],
    ['price.amount', 0.5],
    ['images', 0.25],
    ['seller', 0.25],
  ]);
});

test('createFillCounter() reports 0 without rows', () => {
  expect(
    createFillCounter(columnsOf('title: string'))
      .rates()
      .map(({ fill }) => fill),
  ).toEqual([0]);
});

test('pickColumns() keeps the structure of the record', () => {
  const columns = columnsOf(
    'title: string; price.amount: number; price.currency: string; seller.name: string',
  );
  const record = { title: 'a', price: { amount: 1, currency: null, more: 2 }, seller: null, other: 1 };
  expect(pickColumns(record, columns)).toEqual({ title: 'a', price: { amount: 1, currency: null } });
});
