import { expect, test } from 'vitest';
import { readHold, writeHold } from './hold-text.ts';

test.each([
  ['', []],
  ['price.amount:95', [{ field: 'price.amount', percent: '95' }]],
  [
    'title:99.5,images[]:1',
    [
      { field: 'title', percent: '99.5' },
      { field: 'images[]', percent: '1' },
    ],
  ],
  [':', [{ field: '', percent: '' }]],
])('readHold(%j) and writeHold() are inverse', (text, rows) => {
  expect(readHold(text)).toEqual(rows);
  expect(writeHold(rows)).toBe(text);
});
