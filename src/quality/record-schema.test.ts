import { describe, expect, test } from 'vitest';
import {
  compileFields,
  createRecordCheck,
  findMismatches,
  missingShares,
  prefixFields,
  type RecordFields,
  type RecordFieldType,
} from './record-schema.ts';

describe('findMismatches()', () => {
  const listed: RecordFields = {
    a: 'string',
    'b.c': 'integer?',
    list: 'array',
    'list[].n': 'number',
    'by.*.x': 'boolean',
    any: 'any',
    o: 'object?',
    'o.p': 'string',
  };

  test('returns nothing for a record with every field in its type', () => {
    const record = {
      a: '',
      b: { c: null },
      list: [{ n: 1.5 }],
      by: { k: { x: true } },
      any: null,
      o: { p: 'x' },
    };
    expect(findMismatches(record, listed)).toEqual([]);
  });

  test('names fields that are missing, of another type, or below a missing parent', () => {
    expect(
      findMismatches({ a: 1, list: [{ n: 1 }, { n: '2' }, {}], by: null, o: {} }, listed),
    ).toEqual([
      'a is 1, not string',
      'b.c is undefined, not integer?',
      'list[].n is "2", not number',
      'list[].n is undefined, not number',
      'by.*.x is undefined, not boolean',
      'any is undefined, not any',
      'o.p is undefined, not string',
    ]);
  });

  test.each([
    [{ a: '', b: { c: null }, list: [{ n: 1.5 }], by: {}, any: null, o: { p: 'x' } }, true],
    [{ a: '', b: { c: 1 }, list: [], by: {}, any: 1, o: null }, true],
    [{ a: 1, b: { c: 1 }, list: [], by: {}, any: 1, o: null }, false],
    [{ a: '', b: null, list: [], by: {}, any: 1, o: null }, false],
    [null, false],
  ])('createRecordCheck() accepts a record without mismatches: %j, %s', (record, accepted) => {
    expect(createRecordCheck(compileFields(listed)).check(record)).toBe(accepted);
    expect(findMismatches(record, listed).length === 0).toBe(accepted);
  });

  test('skips fields below a nullable field that is null', () => {
    const record = { a: '', b: { c: 1 }, list: [], by: {}, any: 1, o: null };
    expect(findMismatches(record, listed)).toEqual([]);
    expect(findMismatches({ ...record, b: null }, listed)).toEqual([
      'b.c is undefined, not integer?',
    ]);
  });

  test('names fields below a parent that is missing or null without being nullable', () => {
    expect(findMismatches({ a: {} }, { 'a.b.c': 'string' })).toEqual([
      'a.b.c is undefined, not string',
    ]);
    expect(findMismatches({ a: { b: null } }, { 'a.b.c': 'string' })).toEqual([
      'a.b.c is undefined, not string',
    ]);
    expect(
      findMismatches(
        { a: [{ b: null }, { b: { c: 1 } }] },
        { 'a[].b': 'object?', 'a[].b.c': 'string' },
      ),
    ).toEqual(['a[].b.c is 1, not string']);
    expect(findMismatches({}, { 'a[].b': 'string' })).toEqual(['a[].b is undefined, not string']);
  });

  test('prefixFields() prefixes every path', () => {
    expect(prefixFields('response', { a: 'any', 'b[].c': 'integer?' })).toEqual({
      'response.a': 'any',
      'response.b[].c': 'integer?',
    });
    expect(prefixFields('items[]', { a: 'string' })).toEqual({ 'items[].a': 'string' });
  });
});

describe('missingShares()', () => {
  const lack = (record: unknown, path: string, type: RecordFieldType = 'string') =>
    missingShares(
      createRecordCheck(compileFields({ [path]: type === 'any' ? type : `${type}?` })),
      [record],
    )[0];

  test.each([
    [{ a: 'x' }, 'a', 0],
    [{ a: 1 }, 'a', 1],
    [{ a: null }, 'a', 1],
    [{ a: '' }, 'a', 1],
    [{}, 'a', 1],
    [null, 'a', 1],
    [{ a: null }, 'a.b.c', 1],
    [{ a: { b: { c: 'x' } } }, 'a.b.c', 0],
    [{ l: [{ a: 'x' }, { a: null }, {}, { a: 'y' }] }, 'l[].a', 0.5],
    [{ l: [] }, 'l[].a', null],
    [{ l: null }, 'l[].a', null],
    [{}, 'k.l[].a', null],
  ])('record %j, path %s: share %j', (record, path, share) =>
    expect(lack(record, path)).toBe(share),
  );

  test.each<[value: unknown, type: RecordFieldType, share: number]>([
    [[], 'array', 1],
    [[0], 'array', 0],
    [{}, 'object', 1],
    [0, 'integer', 0],
    [1.5, 'integer', 1],
    [false, 'any', 0],
    [null, 'any', 1],
  ])('value %j, type %s: share %j', (value, type, share) =>
    expect(lack({ a: value }, 'a', type)).toBe(share),
  );

  test('returns the mean of several records, by the position of the field', () => {
    const check = createRecordCheck(
      compileFields({ a: 'string', l: 'array', 'l[].b': 'integer?', 'm.*': 'array', 'o.p': 'any' }),
    );
    const records = [
      { a: 'x', l: [{ b: null }, { b: 2 }], m: { k: [1], n: [] }, o: null },
      { a: null, l: [], m: {}, o: { p: 1 } },
    ];
    expect(missingShares(check, records)).toEqual([0.5, 0.5, 0.5, 0.5, 0.5]);
    expect(missingShares(check, [])).toEqual([null, null, null, null, null]);
  });

  test('checks only the first elements of an array', () => {
    const list = Array.from({ length: 500 }, (_, at) => ({ a: at < 10 ? 'x' : null }));
    expect(lack({ list }, 'list[].a')).toBe(0);
  });
});
