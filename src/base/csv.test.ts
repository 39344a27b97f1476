import { parse } from 'csv-parse/sync';
import { expect, test } from 'vitest';
import { csvField, plainText } from './csv.ts';

test.each(['', 'plain', 'a,b', 'say "hi"', '"', 'two\nlines', 'two\r\nlines', ' space ', "it's; fine\t☃"])(
  'readCsvField() restores a field: %j',
  (text) => {
    const rows = parse(`${csvField(text)},${csvField('next')}\r\n`, { record_delimiter: '\r\n' });
    expect(rows).toEqual([[text, 'next']]);
  },
);

test('csvField() does not quote a field without need', () => {
  expect(csvField('mkta/sg 5')).toBe('mkta/sg 5');
});

test.each(['=1+1', '+1', '-1', '@SUM(A1)', '\t=1', '\r=1', '\n=1'])('%j is no formula any more', (text) => {
  expect(plainText(text)).toBe(`'${text}`);
});

test.each(['', 'a=1', ' =1', 'wel$come', '(x)'])('%j stays as it is', (text) => {
  expect(plainText(text)).toBe(text);
});
