import { expect, test } from 'vitest';
import { readCursor, rowsToRead, toPage } from './cursor.ts';

const place = ({ at, id }: { at: number; id: string }) => ({ at, id });
const rows = [3, 2.5, 1].map((at) => ({ at, id: `grant:é-${at}` }));

test('the token of a page leads to its last item', () => {
  const page = toPage(rows, { limit: 2 }, place);
  expect(page.items).toEqual(rows.slice(0, 2));
  expect(readCursor({ limit: 2, after: page.next })).toEqual(rows[1]);
});

test('the last page has no token, nor does an empty one', () => {
  expect(toPage(rows, { limit: 3 }, place)).toEqual({ items: rows, next: null });
  expect(toPage([], { limit: 3 }, place)).toEqual({ items: [], next: null });
});

test('rowsToRead() returns one more than the page, at least two', () => {
  expect([50, 1, 0, -4].map((limit) => rowsToRead({ limit }))).toEqual([51, 2, 2, 2]);
});

test('the start position precedes everything', () => {
  expect(readCursor({ limit: 1, after: '' })).toEqual(readCursor({ limit: 1 }));
  expect(readCursor({ limit: 1, after: null }).at).toBeGreaterThan(8e15);
});

test.each([
  'x',
  'MTIz',
  Buffer.from('-5-a').toString('base64url'),
  Buffer.from('1e9-a').toString('base64url'),
])('the token %s is refused with its place in the request', (after) => {
  const problems = [expect.objectContaining({ loc: ['body', 'page_token'] })];
  expect(() => readCursor({ limit: 1, after })).toThrow(
    expect.objectContaining({ code: 'invalid', problems }),
  );
});
