import { stripVTControlCharacters } from 'node:util';
import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import { expect, test } from 'vitest';
import { count, createDisplay } from './print.ts';

const { pairs, table, time } = createDisplay({ isTerminal: false, hasColors: false });

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

test('table() aligns wide and combining characters by their width on a terminal', () => {
  const text = table(columns, [
    { name: '商品の価格', n: 1 },
    { name: 'Zoe\u0308 👩‍👧', n: 22 },
    { name: 'abcdefghijkl', n: 3 },
  ]);
  expect(stripVTControlCharacters(text)).toBe(
    'NAME           N\n商品の価格     1\nZoe\u0308 👩‍👧        22\nabcdefghijkl   3\n',
  );
});

test('time() is ISO 8601 where the output is not a terminal', () => {
  expect(time(timestampFromMs(Date.UTC(2030, 0, 7, 4, 5, 6, 789)))).toBe('2030-01-07T04:05:06Z');
  expect(time(undefined)).toBe('');
});

test('a terminal shows relative times, and colors unless it has none', () => {
  const terminal = createDisplay({ isTerminal: true, hasColors: true });
  expect(terminal.time(timestampFromMs(Date.now() - 86_400_000))).toBe('1 day ago');
  expect(terminal.state('failed')).toBe('\u001b[31mfailed\u001b[39m');
  expect(terminal.pairs([['id', '1']])).toBe('\u001b[2mid\u001b[22m  1\n');
  expect(createDisplay({ isTerminal: true, hasColors: false }).state('failed')).toBe('failed');
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
