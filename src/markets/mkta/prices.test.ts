import { expect, test } from 'vitest';
import { discountPercent, unscaled } from './item.ts';

test.each([
  [63_000_000_000, 630_000],
  [1_299_000, 12.99],
  [5_000, 0.05],
  [0, null],
  [-1, null],
  [null, null],
  [undefined, null],
  ['1299000', 12.99],
  ['12.99', null],
  [1.5, null],
])('converts the scaled price %j to %j', (scaled, price) => {
  expect(unscaled(scaled)).toBe(price);
});

test.each([
  [13, 13],
  ['13%', 13],
  ['-70%', 70],
  ['12.5%', 12.5],
  [0, null],
  ['0%', null],
  ['', null],
  ['half', null],
  [null, null],
  [undefined, null],
])('converts the discount %j to %j percent', (discount, percent) => {
  expect(discountPercent(discount)).toBe(percent);
});
