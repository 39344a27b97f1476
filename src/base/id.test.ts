import { expect, test } from 'vitest';
import { keyPrefix, newApiKey, newTestKey } from './id.ts';

test('keyPrefix() shows four random characters of a generated key', () => {
  const [liveKey, testKey] = [newApiKey(), newTestKey()];
  expect(keyPrefix(liveKey)).toBe(liveKey.slice(0, 7));
  expect(keyPrefix(testKey)).toBe(testKey.slice(0, 12));
});

test.each(['choose-a-key', 'gl_summer2026', ''])('keyPrefix("%s") shows nothing', (secret) => {
  expect(keyPrefix(secret)).toBe('');
});
