import { timestampDate } from '@bufbuild/protobuf/wkt';
import { expect, test } from 'vitest';
import { timeOf } from './command.ts';

test('timeOf() refuses a day that its month does not have', () => {
  expect(timestampDate(timeOf('--since', '2032-02-29', 'a date'))).toEqual(new Date('2032-02-29'));
  expect(() => timeOf('--since', '2030-02-30', 'a date')).toThrow(
    '--since: "2030-02-30" is not a date',
  );
});
