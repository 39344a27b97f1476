import { expect, test } from 'vitest';
import { nearestPath } from './nearest-path.ts';
import { parse } from './parse.ts';

const served = [
  '/shop/orders',
  '/shop/orders/{number}',
  '/shop/orders/{number}/lines',
  '/shop/orders/{number}/notes',
  '/shop/parcels/{id}',
  '/shop/bulk/parcels/submit',
  '/health',
].map((path) => ({ path, template: parse(path) }));

test.each([
  ['/shop/bulk/submit', '/shop/bulk/parcels/submit'],
  ['/shop/orders/7/line', '/shop/orders/{number}/lines'],
  ['/shop/orders/7/lines/3', '/shop/orders/{number}/lines'],
  ['/shop/order', '/shop/orders'],
  ['/shop/order/7', '/shop/orders/{number}'],
  ['/shop/orders/7/invoice', undefined],
  ['/', undefined],
  ['/nothing', undefined],
  ['/shop/a/b/c/d/e', undefined],
])('nearestPath(%s) is %s', (requested, path) => {
  expect(nearestPath(requested.slice(1).split('/'), served)).toBe(path);
});
