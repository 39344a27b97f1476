import { expect, test } from 'vitest';
import { createColumns } from './columns.ts';
import { pickColumns } from './pick.ts';

test('pickColumns() keeps the structure of the record', () => {
  const columns = createColumns(
    'title: string; price.amount: number; price.currency: string; seller.name: string',
  );
  const record = { title: 'a', price: { amount: 1, currency: null, more: 2 }, seller: null, other: 1 };
  expect(pickColumns(record, columns)).toEqual({ title: 'a', price: { amount: 1, currency: null } });
});
