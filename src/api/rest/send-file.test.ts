import { expect, test } from 'vitest';
import { parseRange } from './send-file.ts';

test.each([
  [undefined, { kind: 'whole' }],
  ['bytes=0-4', { kind: 'part', start: 0, end: 4 }],
  ['bytes=0-0', { kind: 'part', start: 0, end: 0 }],
  ['bytes=5-', { kind: 'part', start: 5, end: 9 }],
  ['bytes=5-99', { kind: 'part', start: 5, end: 9 }],
  ['bytes=-3', { kind: 'part', start: 7, end: 9 }],
  ['bytes=-30', { kind: 'part', start: 0, end: 9 }],
  ['BYTES=1-2', { kind: 'part', start: 1, end: 2 }],
  ['bytes=-0', { kind: 'unsatisfiable' }],
  ['bytes=10-', { kind: 'unsatisfiable' }],
  ['bytes=99999999999999999999-', { kind: 'unsatisfiable' }],
  ['bytes=4-2', { kind: 'whole' }],
  ['bytes=-', { kind: 'whole' }],
  ['bytes=a-b', { kind: 'whole' }],
  ['bytes=0-1,3-4', { kind: 'whole' }],
  ['items=0-1', { kind: 'whole' }],
  ['xbytes=0-1', { kind: 'whole' }],
  [`bytes=${'\t'.repeat(8_000)}-${'\t'.repeat(8_000)}-`, { kind: 'whole' }],
])('parses %s of ten bytes', (header, expected) => {
  expect(parseRange(header, 10)).toEqual(expected);
});

test('finds no satisfiable range of an empty file', () => {
  expect(parseRange('bytes=0-0', 0)).toEqual({ kind: 'unsatisfiable' });
  expect(parseRange('bytes=-1', 0)).toEqual({ kind: 'unsatisfiable' });
});
