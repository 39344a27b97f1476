import { expect, test } from 'vitest';
import { nearestPaths } from './nearest-path.ts';
import { parse } from './parse.ts';

const served = [
  '/shop/orders',
  '/shop/orders/{number}',
  '/shop/orders/{number}/lines',
  '/shop/orders/{number}/notes',
  '/shop/parcels/{id}',
  '/shop/bulk/parcels/submit',
  '/shop/bulk/orders/submit',
  '/health',
].map((path) => ({ path, template: parse(path) }));

test.each([
  ['/shop/bulk/parcel/submit', ['/shop/bulk/parcels/submit']],
  ['/shop/bulk_parcels/submit', ['/shop/bulk/parcels/submit']],
  ['/shop/bulk/submit', ['/shop/bulk/parcels/submit', '/shop/bulk/orders/submit']],
  ['/shop/submit', ['/shop/bulk/parcels/submit', '/shop/bulk/orders/submit']],
  ['/shop/orders/7/line', ['/shop/orders/{number}/lines']],
  ['/shop/orders/7/lines/3', ['/shop/orders/{number}/lines']],
  ['/shop/order', ['/shop/orders']],
  ['/shop/order/7', ['/shop/orders/{number}']],
  [
    '/shop/orders/7/invoice',
    ['/shop/orders/{number}', '/shop/orders/{number}/lines', '/shop/orders/{number}/notes'],
  ],
  ['/shop/deliveries/7', []],
  ['/', []],
  ['/nothing', []],
  ['/shop/a/b/c/d/e', []],
])('nearestPaths(%s) is %j', (requested, paths) => {
  expect(nearestPaths(requested.slice(1).split('/'), served)).toEqual(paths);
});

test('nearestPaths() is empty if many are near', () => {
  const many = 'abcdefg'.split('').map((letter) => `/shop/${letter}/submit`);
  const servedPaths = many.map((path) => ({ path, template: parse(path) }));
  expect(nearestPaths(['shop', '12345', 'submit'], servedPaths)).toEqual([]);
  expect(nearestPaths(['shop', '12345', 'submit'], servedPaths.slice(1))).toEqual(many.slice(1));
});
