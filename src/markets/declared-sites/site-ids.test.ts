import { expect, test } from 'vitest';
import { parseSites } from './site-declaration.ts';
import { recordOf } from './site-fields.ts';

const [site] = parseSites('{"kiln": {"hosts": ["kiln.example", "kiln.example:8443"]}}');
const idOf = (path: string, host = 'kiln.example') =>
  recordOf({ values: {} }, `https://${host}${path}`, site!).id;

test.each([
  ['/', 'home'],
  ['/mug', 'mug'],
  ['/p/mug', 'p-mug'],
  ['/p/red-mug-12', 'p-red-mug-12'],
])('the page %s has the id %s', (path, id) => {
  expect(idOf(path)).toBe(id);
  expect(idOf(path, 'www.kiln.example')).toBe(id);
});

test('addresses with the same words have different ids', () => {
  const paths = [
    '/p/x-1',
    '/p/x/1',
    '/p/x.1',
    '/p/x?1',
    '/p-x-1',
    '/p-x/1',
    '/p/x/1/',
    '/p/X-1',
    '/home',
    '/',
  ];
  const long = 'a'.repeat(300);
  const all = [...paths, `/p/${long}1`, `/p/${long}2`, '/p/é', '/p/è', '/~', '/-'];
  const ids = [...all.map((path) => idOf(path)), idOf('/p/x-1', 'kiln.example:8443')].map(String);
  expect(new Set(ids).size).toBe(all.length + 1);
  expect(ids.filter((id) => id.length > 200)).toEqual([]);
});
