import { expect, test } from 'vitest';
import { isEveryAddress, serviceAddress } from './ports.ts';

test.each([
  ['127.0.0.1', 'http://127.0.0.1:8080'],
  ['127.0.0.2', 'http://127.0.0.2:8080'],
  ['127.1', 'http://127.0.0.1:8080'],
  ['localhost', 'http://localhost:8080'],
  ['shop.example', 'http://shop.example:8080'],
  ['::1', 'http://[::1]:8080'],
  ['0:0:0:0:0:0:0:1', 'http://[::1]:8080'],
  ['fe80::1%eth0', 'http://[fe80::1%25eth0]:8080'],
  ['0.0.0.0', 'http://127.0.0.1:8080'],
  ['0', 'http://127.0.0.1:8080'],
  ['::', 'http://127.0.0.1:8080'],
  ['0:0:0:0:0:0:0:0', 'http://127.0.0.1:8080'],
  ['::ffff:0.0.0.0', 'http://127.0.0.1:8080'],
])('serviceAddress() of a port on %s is %s', (host, address) => {
  expect(serviceAddress(host, 8080)).toBe(address);
});

test('isEveryAddress() is false for one address', () => {
  expect(['0.0.0.0', '::', '127.0.0.1', '::1'].map(isEveryAddress)).toEqual([
    true,
    true,
    false,
    false,
  ]);
});
