import { describe, expect, test } from 'vitest';
import { formatPrice, valueText } from './query.ts';

describe('valueText()', () => {
  const record = { title: 'a', price: { amount: 0 }, images: ['x'], empty: null };
  test.each([
    ['title', 'a'],
    ['price.amount', '0'],
    ['images', '["x"]'],
    ['empty', ''],
    ['empty.more', ''],
    ['constructor.name', ''],
  ])('of %s', (path, expected) => expect(valueText(record, path)).toBe(expected));
});

test('formatPrice() shows an unknown currency as it is', () => {
  expect(formatPrice(12.5, 'EUR')).toContain('12.5');
  expect(formatPrice(12.5, 'credits!')).toBe('12.5 credits!');
  expect(formatPrice(12.5, '')).toBe('12.5');
});
