import { stripVTControlCharacters } from 'node:util';
import { expect, test } from 'vitest';
import { count, counted, pairs, table } from './print.ts';

const columns = [
  { name: 'NAME', text: ({ name }: { name: string; n: number }) => name },
  { name: 'N', text: ({ n }: { name: string; n: number }) => count(n), isNumber: true },
];

test('table() aligns columns, and numbers to the right', () => {
  const text = table(columns, [
    { name: 'ann', n: 12_345 },
    { name: 'bartholomew', n: 6 },
  ]);
  expect(stripVTControlCharacters(text)).toBe(
    'NAME              N\nann          12,345\nbartholomew       6\n',
  );
});

test('table() returns an empty string without rows', () => {
  expect(table(columns, [])).toBe('');
});

test('table() removes control characters from untrusted text', () => {
  const text = table(columns, [{ name: 'a\u001b]0;evil\u0007\nb\u009b2J', n: 1 }]);
  expect(text.split('\n')[1]).toBe('a ]0;evil  b 2J  1');
});

test('pairs() aligns values and omits empty ones', () => {
  expect(
    stripVTControlCharacters(
      pairs([
        ['id', '1'],
        ['e-mail', ''],
        ['name', 'ann'],
      ]),
    ),
  ).toBe('id    1\nname  ann\n');
});

test('table() and pairs() keep their own colors, but not those of untrusted text', () => {
  const red = '\u001b[31mx';
  const paint = (text: string) => `<${text}>`;
  expect(pairs([['a', red, paint]])).toContain('< [31mx>\n');
  expect(table([{ name: 'A', text: () => red, paint }], [1])).toContain('< [31mx>\n');
});

test('counted() formats counts with their nouns', () => {
  expect([counted(1, 'unit'), counted(2_000, 'unit'), counted(0, 'unit')]).toEqual([
    '1 unit',
    '2,000 units',
    '0 units',
  ]);
});
