import { describe, expect, test } from 'vitest';
import { isCalendarDay, parseJson, parseJsonLiterals } from './values.ts';

const accepted: [text: string, value: unknown][] = [
  ['null', null],
  [' true ', true],
  ['\t[\r\n]', []],
  ['""', ''],
  ['-0', -0],
  ['-0.5', -0.5],
  ['1E+2', 100],
  ['120e-1', 12],
  ['1e400', Number.POSITIVE_INFINITY],
  ['[[[]],{}]', [[[]], {}]],
  ['{"":{"a":[]}}', { '': { a: [] } }],
  ['{"a":1,"a":2}', { a: 2 }],
  [String.raw`"\"\\\/\b\f\n\r\t"`, '"\\/\b\f\n\r\t'],
  [String.raw`"\u00e9\uD83D\uDE00"`, 'é😀'],
  [String.raw`"\u0000"`, '\0'],
  ['"\u2028\u2029\u007f"', '\u2028\u2029\u007f'],
];

const refused = [
  '',
  ' ',
  '\uFEFF{}',
  '{} {}',
  '[1]x',
  '[1 2]',
  '[1,]',
  '[,1]',
  '[1,,2]',
  '[',
  ']',
  '[1}',
  '{',
  '{"a"}',
  '{"a":}',
  '{"a" 1}',
  '{"a":1,}',
  '{,}',
  '{a:1}',
  "{'a':1}",
  '{1:1}',
  '{"a":1 "b":2}',
  '{"a":1}}',
  '01',
  '-01',
  '+1',
  '.5',
  '1.',
  '1.e2',
  '1e',
  '1e+',
  '-',
  '--1',
  '0x1',
  '1_000',
  'NaN',
  'Infinity',
  '-Infinity',
  "'a'",
  '"a',
  'a"',
  '"\t"',
  '"\n"',
  '"\0"',
  String.raw`"\x41"`,
  String.raw`"\u12"`,
  String.raw`"\u{41}"`,
  String.raw`"\'"`,
  'True',
  'nul',
  'undefined',
  '/* a */ 1',
  '// a\n1',
  '1 # a',
  '\u00a01',
  '\v1',
  '\f1',
  '<a>',
];

describe.each([
  ['parseJson()', parseJson],
  ['parseJsonLiterals()', parseJsonLiterals],
])('%s', (name, parse) => {
  test.each(accepted)('reads %j', (text, value) => {
    const read = parse(text);
    if (name === 'parseJson()') expect(read).toEqual(value);
  });

  test.each(refused)('refuses %j', (text) => {
    expect(() => parse(text)).toThrow('The body is not valid JSON');
  });

  test('refuses 100,000 open lists', () => {
    expect(() => parse('['.repeat(100_000))).toThrow('The body is not valid JSON');
  });
});

test('isCalendarDay() knows the days of each month', () => {
  const days = ['2030-01-31', '2030-04-30', '2032-02-29', '2030-02-28T00:00:00Z'];
  expect(days.filter(isCalendarDay)).toEqual(days);
  const absentDays = ['2030-02-29', '2030-04-31T08:00:00+02:00', '2030-12-32', '2100-02-29'];
  expect(absentDays.filter(isCalendarDay)).toEqual([]);
});
