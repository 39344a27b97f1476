import { existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { createManualClock } from '../../test/support/clock.ts';
import { encryptionFile, openSecretBox } from './secret-box.ts';

let dataDir: string;
beforeEach(() => {
  dataDir = mkdtempSync(join(tmpdir(), 'gleaner-box-'));
});
afterEach(() => rmSync(dataDir, { recursive: true }));

const clock = createManualClock(1_000_000);
const openBox = (configured: readonly string[] | null = null) =>
  openSecretBox({ configured, dataDir, clock });

test('opens what it sealed, only in the same context, and never repeats a ciphertext', () => {
  const box = openBox(['a secret of the tests']);
  const { sealed, key } = box.seal('{"secret":"☃"}', 'destination 1');
  expect(sealed).not.toContain('☃');
  expect(box.open(sealed, 'destination 1')).toBe('{"secret":"☃"}');
  expect(box.open(sealed, 'destination 2')).toBeNull();
  expect(box.seal('{"secret":"☃"}', 'destination 1').sealed).not.toBe(sealed);
  expect(key).toBe(box.newestKey());
  expect(existsSync(join(dataDir, encryptionFile))).toBe(false);
});

test('does not open a changed, shortened, or foreign text', () => {
  const box = openBox(['a secret of the tests']);
  const { sealed } = box.seal('text', 'x');
  const [id, data] = sealed.split('.') as [string, string];
  const bytes = Buffer.from(data, 'base64url');
  for (const index of bytes.keys()) {
    const changed = Buffer.from(bytes);
    changed[index]! ^= 1;
    expect(box.open(`${id}.${changed.toString('base64url')}`, 'x'), `byte ${index}`).toBeNull();
  }
  for (const text of ['', id, `${id}.`, `${id}.AAAA`, `0.${data}`]) expect(box.open(text, 'x')).toBeNull();
  expect(openBox(['another secret']).open(sealed, 'x')).toBeNull();
});

test('encrypts with the newest secret and opens texts of the earlier ones', () => {
  const before = openBox(['the earlier secret']);
  const { sealed, key } = before.seal('text', 'x');
  const rotated = openBox(['the newer secret', 'the earlier secret']);
  expect(rotated.open(sealed, 'x')).toBe('text');
  expect(rotated.newestKey()).not.toBe(key);
  expect(rotated.seal('text', 'x').key).toBe(rotated.newestKey());
});

test('creates a private file with the first text, which other processes read', () => {
  const [one, other] = [openBox(), openBox()];
  expect(other.newestKey()).toBeNull();
  expect(existsSync(join(dataDir, encryptionFile))).toBe(false);
  const { sealed } = one.seal('text', 'x');
  expect(statSync(join(dataDir, encryptionFile)).mode & 0o777).toBe(0o600);
  expect(other.open(sealed, 'x')).toBe('text');
  expect(openBox().open(sealed, 'x')).toBe('text');
  // The secrets of the file are still used after secrets are configured.
  expect(openBox(['a configured secret']).open(sealed, 'x')).toBe('text');
});

test('reads a secret that was added to the file after a minute', async () => {
  const box = openBox();
  const { key } = box.seal('text', 'x');
  const file = join(dataDir, encryptionFile);
  const { secrets } = JSON.parse(readFileSync(file, 'utf8'));
  const added = { secret: 'x'.repeat(32), created_at: new Date(clock.now() + 1).toISOString() };
  writeFileSync(file, JSON.stringify({ secrets: [added, ...secrets] }));
  expect(box.newestKey()).toBe(key);
  await clock.advance(60_000);
  expect(box.newestKey()).not.toBe(key);
});

test('names a damaged file', () => {
  writeFileSync(join(dataDir, encryptionFile), '{');
  expect(() => openBox().seal('text', 'x')).toThrow(
    /encryption-secrets\.json: .*remove it to start with new secrets \(secrets encrypted so far must be entered again\)/,
  );
});
