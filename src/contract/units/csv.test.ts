import { describe, expect, test } from 'vitest';
import { expectLinear } from '../../../test/support/time/cost.ts';
import { readCsv } from './csv.ts';

const bytesOf = (text: string) => new TextEncoder().encode(text);
const linesOf = (text: string) => readCsv(bytesOf(text)).map(({ line, cells }) => [line, ...cells]);

describe('readCsv()', () => {
  test.each(['\n', '\r', '\r\n'])('reads rows that end with %j, with their first lines', (end) => {
    const text = ['\ufeffa,b', '', ' 1 ," 2 "', ' ,', '"x', `y",3`, '4,27" wide', ',,'].join(end);
    expect(linesOf(text)).toEqual([
      [1, 'a', 'b'],
      [3, '1', '2'],
      [5, 'x\ny', '3'],
      [7, '4', '27" wide'],
    ]);
  });

  test('reads one row more than the maximum', () => {
    const file = bytesOf(`a\n${'\n1\n'.repeat(50)}`);
    expect(readCsv(file, { maxRows: 10 })).toHaveLength(12);
    expect(readCsv(file, { maxRows: 50 })).toHaveLength(51);
  });

  test('reads a file of 8 MB in a time that grows with its size', () => {
    const rows = Array.from({ length: 2_000 }, (_, at) => `sg,7,${at},${'x'.repeat(4_000)}\r\n`);
    const text = `region,shop_id,item_id,note\r\n${rows.join('')}`;
    const file = bytesOf(text);
    expectLinear(() => readCsv(file), [text]);
  });

  test('skips any number of empty lines, and of blank rows as wide as the header', () => {
    const file = bytesOf(`a,b${'\n'.repeat(500_000)}1,2\n${',\n'.repeat(50_000)}`);
    expect(readCsv(file)).toEqual([
      { line: 1, cells: ['a', 'b'] },
      { line: 500_001, cells: ['1', '2'] },
    ]);
  });

  test.each(['a,b\n', ',,,\na,b\n'])(
    'refuses many blank rows of another width after %j',
    (start) => {
      const file = (count: number) => bytesOf(start + ',,\n'.repeat(count));
      expect(readCsv(file(10_000))).toHaveLength(1);
      const message = 'The file has more than 10000 blank rows. Remove them';
      expect(() => readCsv(file(10_001))).toThrow(
        expect.objectContaining({ problems: [{ type: 'too_long', message }] }),
      );
    },
  );

  test.each<[string, string, object]>([
    ['a,b\n1,"2\n', 'The row cannot be parsed: Quote Not Closed', { row: 1, line: 2 }],
    ['a,b\n1,2\n"x" y,2\n', 'The row cannot be parsed: Invalid Closing Quote', { row: 2, line: 3 }],
    [`a\r\n\r\n${'x'.repeat(100_001)}`, 'Line 3 is longer than 100000 bytes', {}],
  ])('refuses %j', (text, message, place) => {
    const problem = { type: 'csv_parsing', message: expect.stringContaining(message), ...place };
    expect(() => readCsv(bytesOf(text))).toThrow(
      expect.objectContaining({ problems: [expect.objectContaining(problem)] }),
    );
  });
});
