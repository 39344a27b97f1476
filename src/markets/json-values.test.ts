import { expect, test } from 'vitest';
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
    expect(() => parseJsonText(nested(levels))).toThrow(expect.objectContaining({ code: 'page_unreadable' }));
  }
});
