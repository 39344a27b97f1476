import { describe, expect, test } from 'vitest';
import type { RecordFields } from '../quality/record-schema.ts';
import { createColumns } from './columns.ts';

const typesOf = (listed: RecordFields) =>
  createColumns(listed).map(({ name, type }) => `${name}: ${type}`);

describe('createColumns()', () => {
  test('returns dotted names for members of objects', () => {
    expect(
      typesOf({ title: 'string?', 'price.amount': 'number?', 'price.currency': 'string' }),
    ).toEqual(['title: string', 'price.amount: number', 'price.currency: string']);
  });

  test('returns one column for a list, whatever is listed inside of it', () => {
    expect(
      typesOf({
        images: 'array',
        'images[]': 'string',
        'models[].price': 'number',
        'a.*.b': 'string',
      }),
    ).toEqual(['images: json', 'models: json', 'a: json']);
  });

  test('keeps the type of the elements of a list of scalars', () => {
    const columns = createColumns({
      a: 'array',
      'a[]': 'string',
      'b[]': 'integer',
      c: 'array?',
      'd[].e': 'string',
      'f[].g[]': 'string',
    });
    expect(columns.map(({ name, elements }) => [name, elements])).toEqual([
      ['a', 'string'],
      ['b', 'integer'],
      ...['c', 'd', 'f'].map((name) => [name, undefined]),
    ]);
  });

  test('returns no column for an object with listed members, and a JSON column for one without', () => {
    expect(
      typesOf({ data: 'object', 'data.id': 'string', seller: 'object?', status: 'any' }),
    ).toEqual(['data.id: string', 'seller: json', 'status: json']);
  });
});
