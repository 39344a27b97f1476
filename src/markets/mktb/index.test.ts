import { expect, test } from 'vitest';
import { mktb } from './index.ts';

const problemOf = (input: { list_type?: string; keyword?: string }) => mktb.problemOf!(input, 'id');

test.each([
  { list_type: 'category', keyword: '7400702' },
  { list_type: 'search', keyword: 'lampu' },
  { keyword: 'lampu' },
  {},
])('accepts %j', (input) => {
  expect(problemOf(input)).toBeNull();
});

test.each(['lampu', '12a', '-1', '1.5', '٣', '1'.repeat(20)])(
  'rejects a category with the keyword %s, naming the field and the value',
  (keyword) => {
    expect(problemOf({ list_type: 'category', keyword })).toEqual({
      name: 'keyword',
      msg: `Value is not the number of a category: "${keyword}"`,
    });
  },
);
