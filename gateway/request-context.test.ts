import { describe, expect, test } from 'vitest';
import { textTag } from './request-context.ts';

describe('textTag()', () => {
  test('is weak, and differs by text', () => {
    expect(textTag('a')).toMatch(/^W\/"[\w-]{22}"$/);
    expect(textTag('a')).toBe(textTag('a'));
    expect(textTag('a')).not.toBe(textTag('b'));
  });
});
