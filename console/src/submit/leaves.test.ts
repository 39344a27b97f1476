import { expect, test } from 'vitest';
import { leavesOf } from './leaves.ts';

test('leavesOf() returns the values of a record with their paths', () => {
  const record = { title: 'Lamp', price: { amount: 5, old: null }, images: ['a', { url: 'b' }], empty: [] };
  expect(leavesOf(record)).toEqual([
    ['title', 'Lamp'],
    ['price.amount', '5'],
    ['price.old', 'null'],
    ['images[0]', 'a'],
    ['images[1].url', 'b'],
  ]);
  expect(leavesOf(undefined)).toEqual([]);
  expect(leavesOf(Array.from({ length: 400 }, (_, index) => index))).toHaveLength(300);
});
