import { expect, test } from 'vitest';
import { headOf } from './head.ts';

test('an answer’s beginning has lower-case names, no cookies and nothing that was true on the wire only', () => {
  const head = headOf(
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
