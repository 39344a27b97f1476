import fc from 'fast-check';
import { expect, test } from 'vitest';
import { checkProperty } from '../../../test/support/run/properties.ts';
import type { Json } from '../../base/json.ts';
import { parseJsonText } from './json-values.ts';

test.each(['{}', '[]', '{"a":1}'])('parseJsonText() rejects a page of %s only', (value) => {
  const page = (count: number) => `[${`${value},`.repeat(count - 1)}${value}]`;
  expect(() => parseJsonText(page(249_999))).not.toThrow();
  expect(() => parseJsonText(page(250_001))).toThrow(
    expect.objectContaining({
      code: 'page_unreadable',
      message: 'the page has more than 250000 JSON objects and arrays',
    }),
  );
});

test('parseJsonText() accepts a large page of long strings', () => {
  expect(() => parseJsonText(`["${'x'.repeat(8_000_000)}"]`)).not.toThrow();
});

test('parseJsonText() keeps all digits of integers beyond 2^53', () => {
  const text =
    '{"a":1729000000000000123,"b":[ -1729000000000000123 ],"c":9007199254740991,"d":1234567890123456.5}';
  expect(parseJsonText(text)).toEqual({
    a: '1729000000000000123',
    b: ['-1729000000000000123'],
    c: 9007199254740991,
    d: 1234567890123456.5,
  });
  expect(parseJsonText('{"in text":":1729000000000000123","e":1e300}')).toEqual({
    'in text': ':1729000000000000123',
    e: 1e300,
  });
});

test('parseJsonText() rejects excessive depth, which overflows the stack of later steps', () => {
  const nested = (levels: number) => `{"a":${'['.repeat(levels - 1)}${']'.repeat(levels - 1)}}`;
  expect(() => parseJsonText(nested(200))).not.toThrow();
  for (const levels of [201, 5000, 100_000]) {
    expect(() => parseJsonText(nested(levels))).toThrow(
      expect.objectContaining({ code: 'page_unreadable' }),
    );
  }
});

test('parseJsonText() counts levels and digits outside of strings only', () => {
  const closers = JSON.stringify(']'.repeat(300));
  const deep = `${'['.repeat(250)}${']'.repeat(250)}`;
  expect(() => parseJsonText(`[${closers},${deep}]`)).toThrow(
    expect.objectContaining({ code: 'page_unreadable' }),
  );
  const openers = { a: '['.repeat(300), b: `\\"${'{'.repeat(300)}\\\\`, c: ' 1729000000000000123' };
  expect(parseJsonText(JSON.stringify(openers))).toEqual(openers);
});

/** Digits, brackets, and escapes in strings, between which the scans have to distinguish. */
const text = fc.string({
  unit: fc.constantFrom('"', '\\', '[', ']', '{', '}', ':', ' ', '9', '1', 'a', 'é'),
});
const integer = fc.stringMatching(/^-?[1-9]\d{13,19}$/).map((digits) => `#${digits}`);
const number = fc.oneof(fc.integer(), fc.double({ noNaN: true, noDefaultInfinity: true }));

test('parseJsonText() rejects 600,000 values beside a long integer', () => {
  const values = '1,'.repeat(600_001);
  expect(parseJsonText(`[${values}1]`)).toHaveLength(600_002);
  expect(() => parseJsonText(`[${values}9999999999999999]`)).toThrow(
    expect.objectContaining({
      code: 'page_too_complex',
      message: 'the page has more than 600000 JSON values',
    }),
  );
});

test('parseJsonText() returns what a reviver for each number returns', () => {
  const { value } = fc.letrec<{ value: Json }>((tie) => ({
    value: fc.oneof(
      { maxDepth: 5 },
      integer,
      text,
      number,
      fc.constantFrom(null, true),
      fc.array(tie('value'), { maxLength: 5 }),
      fc.dictionary(text, tie('value'), { maxKeys: 5 }),
    ),
  }));
  const levelsOf = (json: Json): number =>
    typeof json === 'object' && json !== null
      ? 1 + Math.max(0, ...Object.values(json).map((member) => levelsOf(member!)))
      : 0;
  const wrapped = fc.tuple(
    value,
    fc.oneof(fc.constant(0), fc.integer({ min: 190, max: 205 })),
    fc.nat(2),
  );
  checkProperty(
    fc.property(wrapped, ([inner, levels, spaces]) => {
      // Marked strings become integers with all of their digits.
      const source = JSON.stringify([inner], null, spaces).replace(/"#(-?\d+)"/g, '$1');
      const json = `${'['.repeat(levels)}${source}${']'.repeat(levels)}`;
      const exact = (_name: string, member: unknown, { source: digits }: { source?: string }) =>
        /^-?\d+$/.test(digits ?? '') && !Number.isSafeInteger(member) ? digits : member;
      const expected = JSON.parse(json, exact as Parameters<typeof JSON.parse>[1]) as Json;
      if (levelsOf(expected) > 200) expect(() => parseJsonText(json)).toThrow('200 levels');
      else expect(parseJsonText(json)).toEqual(expected);
    }),
    200,
  );
});
