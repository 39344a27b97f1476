import { expect, test } from 'vitest';
import { missesOf } from './shapes.ts';

test('a record that has every listed field in its type misses nothing', () => {
  const shape = 'a: string; b.c: integer?; list: array; list[].n: number; by.*.x: boolean; any: any';
  expect(
    missesOf({ a: '', b: { c: null }, list: [{ n: 1.5 }], by: { k: { x: true } }, any: null }, shape),
  ).toEqual([]);
});

test('each missing field and each wrong type is told', () => {
  const misses = missesOf(
    { a: 1, b: {}, list: [{ n: 1 }, { n: '2' }, {}] },
    'a: string; b.c: integer?; list[].n: number; d: any',
  );
  expect(misses).toEqual([
    'a is 1, not string',
    'b.c is undefined, not integer?',
    'list[].n is "2", not number',
    'list[].n is undefined, not number',
    'd is undefined, not any',
  ]);
});

test('what stands below a part that is missing, or null where it may not be, is told', () => {
  expect(missesOf({ a: {} }, 'a.b.c: string')).toEqual(['a.b.c is undefined, not string']);
  expect(missesOf({ a: { b: null } }, 'a.b.c: string')).toEqual(['a.b.c is undefined, not string']);
  expect(missesOf({ a: { b: null } }, 'a.b: object?; a.b.c: string')).toEqual([]);
  expect(missesOf({ a: [{ b: null }, { b: { c: 1 } }] }, 'a[].b: object?; a[].b.c: string')).toEqual([
    'a[].b.c is 1, not string',
  ]);
});
