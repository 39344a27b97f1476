import { describe, expect, test } from 'vitest';
import { createBoundedMap } from './bounded-map.ts';

const textMap = (maxBytes: number) =>
  createBoundedMap<{ text: string }>({ maxBytes, sizeOf: ({ text }) => 2 * text.length });

describe('createBoundedMap()', () => {
  test('stays within its byte limit for any keys and values', () => {
    const map = textMap(1_000_000);
    for (let count = 0; count < 5_000; count += 1)
      map.set(`key ${count}`, { text: 'x'.repeat(count) });
    for (let count = 0; count < 20_000; count += 1)
      map.set('k'.repeat(count % 4_096) + count, { text: '' });
    expect(map.bytes).toBeLessThanOrEqual(1_000_000);
    expect(map.size).toBeGreaterThan(100);
  });

  test('evicts the least recently used entry', () => {
    const map = textMap(3 * (128 + 2 + 200));
    for (const key of ['a', 'b', 'c']) map.set(key, { text: 'x'.repeat(100) });
    map.get('a');
    map.peek('b');
    map.set('d', { text: 'x'.repeat(100) });
    expect(['a', 'b', 'c', 'd'].map((key) => map.peek(key) !== undefined)).toEqual([
      true,
      false,
      true,
      true,
    ]);
  });

  test('also evicts above the maximum number of entries', () => {
    const map = createBoundedMap<number>({ maxBytes: 10_000, maxEntries: 2, sizeOf: () => 0 });
    for (const key of ['a', 'b', 'c']) map.set(key, 1);
    expect([...map.keys()].toSorted()).toEqual(['b', 'c']);
  });

  test('measures a stored value again after it has grown', () => {
    const map = textMap(10_000);
    const value = { text: '' };
    map.set('a', value);
    value.text = 'x'.repeat(1_000);
    map.set('a', value);
    expect(map.bytes).toBe(128 + 2 + 2_000);
  });

  test('does not keep an entry larger than the whole map', () => {
    const map = textMap(1_000);
    map.set('small', { text: '' });
    map.set('large', { text: 'x'.repeat(1_000) });
    expect([map.peek('small') !== undefined, map.peek('large')]).toEqual([true, undefined]);
  });
});
