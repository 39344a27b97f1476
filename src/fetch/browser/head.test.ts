import { expect, test } from 'vitest';
import { toResponseHead } from './head.ts';

test('toResponseHead() converts names to lower case, and drops cookies and encoding headers', () => {
  const head = toResponseHead(
    200,
    [
      ['Content-Type', 'text/html'],
      ['Set-Cookie', 'a=1'],
      ['Content-Encoding', 'br'],
      ['Content-Length', '3'],
      ['X-Many', 'a\nb'],
      ['x-many', 'c'],
    ],
    'https://shop.example/path#part',
  );
  expect(head).toEqual({
    status: 200,
    headers: { 'content-type': 'text/html', 'x-many': 'a, b, c' },
    url: 'https://shop.example/path',
  });
});
