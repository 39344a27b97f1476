import { expect, test } from 'vitest';
import { plain } from './plain.ts';

test('plain() keeps a text on its line, and from reversing the columns after it', () => {
  expect(plain('a\u2028b\n\u202e12.50\u202c \u2067x\u2069')).toBe('a b 12.50 x');
});
