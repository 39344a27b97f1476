import { expect, test } from 'vitest';
import { parse } from './parse.ts';
import { createTrie } from './trie.ts';

test('parse() returns segments, variables and verbs', () => {
  expect(parse('/api/orders/{parcel_id}/items/{token=a/*/**}:data')).toEqual({
    segments: [
      { kind: 'literal', text: 'api' },
      { kind: 'literal', text: 'orders' },
      { kind: '*' },
      { kind: 'literal', text: 'items' },
      { kind: 'literal', text: 'a' },
      { kind: '*' },
      { kind: '**' },
    ],
    variables: [
      { field: 'parcel_id', start: 2, end: 3 },
      { field: 'token', start: 4, end: null },
    ],
    verb: 'data',
  });
});

test.each([
  '',
  'api',
  '/',
  '/api/',
  '/api//x',
  '/api/{',
  '/api/{}',
  '/api/{a',
  '/{a}/{a}',
  '/{a={b}}',
  '/**/x',
  '/{a=**}/x',
  '/a b',
  '/a:',
  '/a:b:c',
  '/{a.b=*',
])('parse() throws an error that names the template "%s"', (template) => {
  expect(() => parse(template)).toThrow(`path template ${template}: `);
});

function trieOf(...declared: [string, string][]) {
  const trie = createTrie<string>();
  for (const [method, path] of declared) trie.insert(method, parse(path), `${method} ${path}`);
  return {
    find: (method: string, path: string) => trie.find(path.slice(1).split('/'), method),
    methods: (path: string) => trie.methods(path.slice(1).split('/')),
    insert: (method: string, path: string) => trie.insert(method, parse(path), ''),
  };
}

test('find() prefers literals to wildcards and backtracks from a literal without a match', () => {
  const trie = trieOf(['GET', '/a/{x}/c'], ['GET', '/a/b/d'], ['GET', '/a/**'], ['POST', '/a/b/c']);
  expect(trie.find('GET', '/a/b/d')).toBe('GET /a/b/d');
  expect(trie.find('GET', '/a/b/c')).toBe('GET /a/{x}/c');
  expect(trie.find('POST', '/a/b/c')).toBe('POST /a/b/c');
  expect(trie.find('GET', '/a/b/e/f')).toBe('GET /a/**');
  expect(trie.find('GET', '/a')).toBe('GET /a/**');
  expect(trie.find('GET', '/a//c')).toBe('GET /a/**');
  expect(trie.find('GET', '/b')).toBeUndefined();
});

test('methods() returns every method of a path', () => {
  const trie = trieOf(['GET', '/a/{x}'], ['POST', '/a/b'], ['DELETE', '/a/{x}:stop']);
  expect(trie.methods('/a/b')).toEqual(['POST', 'GET']);
  expect(trie.methods('/a/c')).toEqual(['GET']);
  expect(trie.methods('/a/c:stop')).toEqual(['DELETE', 'GET']);
  expect(trie.methods('/a')).toEqual([]);
  expect(trie.find('GET', '/a/')).toBeUndefined();
});

test('insert() throws for a duplicate method and path, whatever its variable names', () => {
  const trie = trieOf(['GET', '/a/{x}']);
  expect(() => trie.insert('GET', '/a/{y}')).toThrow('GET /a/* is declared twice');
  trie.insert('PUT', '/a/{y}');
});
