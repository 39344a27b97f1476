import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { readDotEnv } from './dot-env.ts';
import { settings } from './settings.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'gleaner-dot-env-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

describe('readDotEnv()', () => {
  test('returns settings, and the names of other variables without loading them', () => {
    writeFileSync(
      join(folder, '.env'),
      '# service\nGLEANER_HTTP_PORT=8081\nMONGODB_URI_FILE="/run/secrets/mongo"\nPATH=/evil\nNODE_OPTIONS=--inspect\n',
    );
    expect(readDotEnv(folder)).toEqual({
      path: join(folder, '.env'),
      values: { GLEANER_HTTP_PORT: '8081', MONGODB_URI_FILE: '/run/secrets/mongo' },
      ignored: ['NODE_OPTIONS', 'PATH'],
    });
  });

  test('accepts every setting', () => {
    const lines = Object.keys(settings).map((name) => `${name}=x`);
    writeFileSync(join(folder, '.env'), lines.join('\n'));
    expect(Object.keys(readDotEnv(folder)!.values)).toEqual(Object.keys(settings));
  });

  test('returns null without a file', () => {
    expect(readDotEnv(folder)).toBeNull();
    mkdirSync(join(folder, '.env'));
    expect(readDotEnv(folder)).toBeNull();
  });
});
