import { expect, test } from 'vitest';
import { createSecretBox } from './secret-box.ts';

const openBox = (...secrets: string[]) => createSecretBox(secrets);

test('decrypts its ciphertexts in the same context only, and never repeats a ciphertext', () => {
  const box = openBox('a secret of the tests');
  const { sealed, key } = box.seal('{"secret":"☃"}', 'destination 1');
  expect(sealed).not.toContain('☃');
  expect(box.open(sealed, 'destination 1')).toBe('{"secret":"☃"}');
  expect(box.open(sealed, 'destination 2')).toBeNull();
  expect(box.seal('{"secret":"☃"}', 'destination 1').sealed).not.toBe(sealed);
  expect(key).toBe(box.newestKey);
});

test('does not open a changed, shortened, or foreign text', () => {
  const box = openBox('a secret of the tests');
  const { sealed } = box.seal('text', 'x');
  const [id, data] = sealed.split('.') as [string, string];
  const bytes = Buffer.from(data, 'base64url');
  for (const index of bytes.keys()) {
    const changed = Buffer.from(bytes);
    changed[index]! ^= 1;
    expect(box.open(`${id}.${changed.toString('base64url')}`, 'x'), `byte ${index}`).toBeNull();
  }
  for (const text of ['', id, `${id}.`, `${id}.AAAA`, `0.${data}`])
    expect(box.open(text, 'x')).toBeNull();
  expect(openBox('another secret').open(sealed, 'x')).toBeNull();
});

test('encrypts with the newest secret and opens texts of the earlier ones', () => {
  const before = openBox('the earlier secret');
  const { sealed, key } = before.seal('text', 'x');
  const rotated = openBox('the newer secret', 'the earlier secret');
  expect(rotated.open(sealed, 'x')).toBe('text');
  expect(rotated.newestKey).not.toBe(key);
  expect(rotated.seal('text', 'x').key).toBe(rotated.newestKey);
});
