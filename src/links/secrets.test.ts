import { execFile } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { deriveLinkSecrets, openSecrets, secretsFile } from './secrets.ts';

let folder: string;
let file: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'secrets-'));
  file = join(folder, secretsFile);
});
afterEach(() => rmSync(folder, { recursive: true }));

describe('openSecrets()', () => {
  test('creates one secret that only the owner can read, and no other file', () => {
    const dataDir = join(folder, 'new', 'data');
    const secrets = openSecrets(null, dataDir);
    expect(secrets.map((secret) => Buffer.from(secret, 'base64url').length)).toEqual([32]);
    expect(openSecrets(null, dataDir)).toEqual(secrets);
    expect(statSync(join(dataDir, secretsFile)).mode & 0o777).toBe(0o600);
    expect(readdirSync(dataDir)).toEqual([secretsFile]);
  });

  test('creates no file beside configured secrets, and keeps the secrets of an earlier one', () => {
    const configured = ['a configured secret of 32 letters'];
    expect(openSecrets(configured, folder)).toEqual(configured);
    expect(existsSync(file)).toBe(false);
    const generated = openSecrets(null, folder);
    expect(openSecrets(configured, folder)).toEqual([...configured, ...generated]);
  });

  test('reads the lines of the file in order, and restricts it to its owner', () => {
    writeFileSync(file, `${'a'.repeat(32)}\n\n  ${'b'.repeat(33)}\r\n`);
    chmodSync(file, 0o644);
    expect(openSecrets(null, folder)).toEqual(['a'.repeat(32), 'b'.repeat(33)]);
    expect(statSync(file).mode & 0o777).toBe(0o600);
  });

  test.each(['', '\n', 'x'.repeat(31), `${'x'.repeat(32)}\nshort`])(
    'rejects a file with %j',
    (text) => {
      writeFileSync(file, text);
      expect(() => openSecrets(null, folder)).toThrow(
        `${file}: expected secrets of at least 32 characters`,
      );
    },
  );

  test('processes that start concurrently agree on the secret', async () => {
    const source = `
      import { openSecrets } from ${JSON.stringify(join(import.meta.dirname, 'secrets.ts'))};
      console.log(openSecrets(null, process.argv[1])[0]);`;
    const parameters = ['--input-type=module-typescript', '-e', source, folder];
    const run = () => promisify(execFile)(process.execPath, parameters);
    const outputs = await Promise.all([run(), run(), run(), run()]);
    expect(new Set(outputs.map(({ stdout }) => stdout.trim()))).toEqual(
      new Set(openSecrets(null, folder)),
    );
    expect(readdirSync(folder)).toEqual([secretsFile]);
  });
});

describe('deriveLinkSecrets()', () => {
  const period = 30 * 86_400_000;
  const at = (now: number, ...secrets: string[]) => deriveLinkSecrets(secrets, { now: () => now });

  test('derives the same keys in every process, and others from another secret', () => {
    expect(at(5, 'one').all()).toEqual(at(6, 'one').all());
    expect(new Set([...at(5, 'one').all(), ...at(5, 'other').all()])).toHaveProperty('size', 6);
    expect(at(5, 'one').all()).not.toContain('one');
  });

  test('accepts a key in its period and the next one, and from clocks that are behind', () => {
    const key = at(10 * period, 'one').newest();
    const accepted = [8, 9, 10, 11, 12].filter((each) =>
      at(each * period, 'one')
        .all()
        .includes(key),
    );
    expect(accepted).toEqual([9, 10, 11]);
  });

  test('signs with the first secret, and accepts keys of all', () => {
    const earlier = at(0, 'earlier').newest();
    expect(at(0, 'newer', 'earlier').all()).toContain(earlier);
    expect(at(0, 'newer', 'earlier').newest()).toBe(at(0, 'newer').newest());
  });

  test('changes the keys of a running process', () => {
    let now = 0;
    const secrets = deriveLinkSecrets(['one'], { now: () => now });
    const first = secrets.newest();
    now = period;
    expect(secrets.newest()).not.toBe(first);
    expect(secrets.all()[1]).toBe(first);
  });
});
