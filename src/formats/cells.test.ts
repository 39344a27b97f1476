import { expect, test } from 'vitest';
import { cellReader, pickColumns } from './cells.ts';
import { type Column, createColumns, othersColumn } from './columns.ts';
import { type ExactObject, parseExact } from './json-text.ts';

const column = (name: string, type: Column['type']): Column => ({
  name,
  steps: name.split('.'),
  type,
});
const columns = [
  column('title', 'string'),
  column('price.amount', 'number'),
  column('price.tiers', 'json'),
  column('stock', 'integer'),
  column('toString', 'string'),
  column('__proto__.x', 'json'),
];

test.each<[string, unknown[]]>([
  ['{"title":"a","price":{"amount":1.5,"tiers":[1]},"stock":2}', ['a', 1.5, '[1]', 2, null, null]],
  ['{"title":1,"price":{"amount":"1"},"stock":1.5}', [null, null, null, null, null, null]],
  ['{"price":7,"stock":9007199254740993}', [null, null, null, 9007199254740993n, null, null]],
  ['{"price":[{"amount":1}],"__proto__":{"x":1}}', [null, null, null, null, null, '1']],
  ['{"price":{"amount":1e21},"stock":1e21}', [null, 1e21, null, null, null, null]],
  ['{"price":null,"stock":12345678901234567890}', [null, null, null, null, null, null]],
])('reads the cells of %s, with and without a column of other members', (text, cells) => {
  const row = parseExact(text) as ExactObject;
  expect(cellReader(columns)(row)).toEqual(cells);
  expect(cellReader([...columns, othersColumn])(row).slice(0, -1)).toEqual(cells);
});

test('formats members without a column, and values of another type, as other members', () => {
  const row = { title: 1, more: [2], price: { amount: 1, currency: 'EUR' } };
  expect(cellReader([...columns, othersColumn])(row).at(-1)).toBe(
    '{"title":1,"more":[2],"price.currency":"EUR"}',
  );
});

test('reads a list of scalars as JSON text; one with other elements is an other member', () => {
  const list: Column = { name: 'images', steps: ['images'], type: 'json', elements: 'string' };
  const read = cellReader([list, othersColumn]);
  expect(read({ images: ['a', null] })).toEqual(['["a",null]', null]);
  expect(read({ images: [] })).toEqual(['[]', null]);
  expect(read({ images: ['a', 2] })).toEqual([null, '{"images":["a",2]}']);
  expect(read({ images: 'a' })).toEqual([null, '{"images":"a"}']);
});

test('pickColumns() keeps the structure of the record', () => {
  const columns = createColumns({
    title: 'string',
    'price.amount': 'number',
    'price.currency': 'string',
    'seller.name': 'string',
  });
  const record = {
    title: 'a',
    price: { amount: 1, currency: null, more: 2 },
    seller: null,
    other: 1,
  };
  expect(pickColumns(record, columns)).toEqual({
    title: 'a',
    price: { amount: 1, currency: null },
  });
});
