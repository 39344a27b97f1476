import { parse } from 'csv-parse/sync';
import { expect, test } from 'vitest';
import { csvField, csvLine, plainJson, plainText } from './csv.ts';

test.each([
  '',
  'plain',
  'a,b',
  'say "hi"',
  '"',
  'two\nlines',
  'two\r\nlines',
  ' space ',
  "it's; fine\t☃",
])('readCsvField() restores a field: %j', (text) => {
  const rows = parse(`${csvField(text)},${csvField('next')}\r\n`, { record_delimiter: '\r\n' });
  expect(rows).toEqual([[text, 'next']]);
});

test('csvField() does not quote a field without need', () => {
  expect(csvField('mkta/sg 5')).toBe('mkta/sg 5');
});

test.each([
  ['=1+1', "'=1+1"],
  ['+1', "'+1"],
  ['-1', "'-1"],
  ['@SUM(A1)', "'@SUM(A1)"],
  ['\t=1', "'\t'=1"],
  ['\rx', "'\rx"],
  ['\nx', "'\nx"],
  ['＝1', "'＝1"],
  ['＠x', "'＠x"],
  ['Lamp;=cmd', "Lamp;'=cmd"],
  ['a;;-1|+2', "a;;'-1|'+2"],
  ['a\t=1\r\n@x', "a\t'=1\r\n'@x"],
])('escapes formulas in %j', (text, plain) => {
  expect(plainText(text)).toBe(plain);
  expect(plainText(plain)).toBe(plain);
});

test.each(['', 'a=1', ' =1', 'wel$come', '(x)', 'a;b', 'x|y', 'a; -1', '-', '＠'])(
  '%j stays as it is',
  (text) => {
    expect(plainText(text)).toBe(text);
  },
);

test('plainJson() keeps the value, without a formula after a semicolon or a bar', () => {
  const value = { a: 'x;=1|@y', 'k;-1': -1, b: ['＝', ';＝'] };
  const plain = plainJson(JSON.stringify(value));
  expect(plain).not.toMatch(/[;|][=+\-@＝]/);
  expect(JSON.parse(plain)).toEqual(value);
});

test('no cell of csvLine() starts a formula, whichever character separates the cells', () => {
  const hostile = ['=1', 'a;=1', 'a\t+1', 'a|@x', 'a\n-1', '"=1', '＋1'].flatMap((text) => [
    text,
    { [text]: text },
  ]);
  for (const separator of [',', ';', '\t', '|']) {
    const cells = csvLine(hostile)
      .split(/\r?\n/)
      .flatMap((line) => line.split(separator))
      .map((cell) => cell.replace(/^"(?!")/, ''));
    expect(cells.filter((cell) => /^[=+\-@＝＋－＠]/.test(cell))).toEqual([]);
  }
});

test('csvLine() distinguishes null from the empty string, and writes numbers as they are', () => {
  expect(csvLine([null, '', -1, 9007199254740993n, false, 'a,b'])).toBe(
    ',"",-1,9007199254740993,false,"a,b"\r\n',
  );
});
