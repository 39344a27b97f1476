import { describe, expect, test } from 'vitest';
import { misses } from './compare.ts';

const root = {
  price: { amount: 8000, note: null },
  names: ['a', 'b'],
  products: [
    { id: '1', prime: true },
    { id: '2', prime: false },
    { id: '3', prime: true },
  ],
};

describe('expected values', () => {
  test('match equal values at any depth, and numbers by value', () => {
    const expected = JSON.parse(
      '{"price.amount": 8000.0, "names": ["a", "b"], "names.1": "b", "names.length": 2}',
    );
    expect(misses(root, { expect: expected })).toEqual([]);
  });

  test.each([
    ['price.amount', '8000'],
    ['products.0.prime', 1],
    ['price.note', 0],
    ['price.other', null],
    ['names.2', null],
    ['names', ['b', 'a']],
    ['names.-1', 'b'],
  ])('report a mismatch at %s expecting %j', (path, value) => {
    expect(misses(root, { expect: { [path]: value } })).toHaveLength(1);
  });

  test('report the path, the expectation and the actual value', () => {
    expect(misses(root, { expect: { 'price.amount': 1, 'price.none': 2 } })).toEqual([
      { path: 'price.amount', expected: '1', got: '8000' },
      { path: 'price.none', expected: '2', got: 'nothing' },
    ]);
  });

  test('count and access the elements that pass a filter', () => {
    const expected = {
      'products[prime=true].length': 2,
      'products[prime=true].1.id': '3',
      'products[id="2"].0.prime': false,
      'products[id=2].length': 0,
    };
    expect(misses(root, { expect: expected })).toEqual([]);
  });
});

describe('other rules', () => {
  test('any accepts each listed value, and a missing key if null is listed', () => {
    expect(misses(root, { any: { 'names.0': ['x', 'a'], 'price.none': [1, null] } })).toEqual([]);
    expect(misses(root, { any: { 'names.0': ['x'], 'price.none': [1] } })).toHaveLength(2);
  });

  test('match applies a pattern to text, and to the JSON of other values', () => {
    expect(misses(root, { match: { 'names.0': '^a$', products: '"id":"3"' } })).toEqual([]);
    expect(
      misses(root, { match: { 'names.0': 'b', 'names.7': '.*', 'price.note': 'null' } }),
    ).toHaveLength(3);
  });

  test('min accepts numbers only', () => {
    expect(misses(root, { min: { 'price.amount': 8000 } })).toEqual([]);
    expect(misses(root, { min: { 'price.amount': 8001, 'names.0': 0 } })).toHaveLength(2);
  });

  test('null accepts null, a missing key and a missing parent', () => {
    expect(misses(root, { null: ['price.note', 'price.none', 'none.at.all'] })).toEqual([]);
    expect(
      misses({ zero: 0, empty: '', no: false }, { null: ['zero', 'empty', 'no'] }),
    ).toHaveLength(3);
  });

  test('absent rejects a key with null', () => {
    expect(misses(root, { absent: ['price.none', 'products.3'] })).toEqual([]);
    expect(misses(root, { absent: ['price.note'] })).toHaveLength(1);
  });

  test('an invalid path throws', () => {
    expect(() => misses(root, { expect: { 'names[': 1 } })).toThrow('names[');
  });
});
