import { describe, expect, test } from 'vitest';
import { formatExact, parseExact } from './json-text.ts';

describe('parseExact() and formatExact()', () => {
  test.each([
    '9007199254740993',
    '-99999999999999999999999',
    '[1,{"a":12345678901234567890}]',
    '"1234567890123456789"',
  ])('keep the digits of %s', (text) => expect(formatExact(parseExact(text))).toBe(text));

  test.each([
    '\n12345678901234567',
    '[ -12345678901234567 ]',
    '{"a": 12345678901234567}',
    '[1,12345678901234567]',
  ])('keep the digits of %j with and without spaces', (text) =>
    expect(formatExact(parseExact(text))).toBe(text.replace(/\s/g, '')),
  );

  test('keep the digits of an integer at each position of a text', () => {
    for (let length = 0; length < 40; length += 1) {
      const text = `["${'x'.repeat(length)}",-9007199254740993,12]`;
      expect(formatExact(parseExact(text))).toBe(text);
    }
  });

  test('keep other numbers as doubles', () => {
    expect(parseExact('[1.5,0.1234567890123456789,1e30,9007199254740991]')).toEqual([
      1.5,
      0.12345678901234568,
      1e30,
      Number.MAX_SAFE_INTEGER,
    ]);
  });
});
