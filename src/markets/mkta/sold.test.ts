import { expect, test } from 'vitest';
import { soldCount } from './item.ts';

test.each([
  [288, ['30k+'], 288],
  [0, ['30k+'], 30_000],
  [null, ['1RB+'], 1_000],
  [undefined, [null, '12'], 12],
  ['2k+', [], 2_000],
  [0, [null], 0],
  [0, [], 0],
  [null, [], null],
  [undefined, ['none'], null],
  [-1, [], null],
  ['0', ['30k+'], 30_000],
  ['288', ['30k+'], 288],
])('resolves number %j with texts %j to %j', (number, texts, count) => {
  expect(soldCount(number, ...texts)).toBe(count);
});
