import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { findBrowser } from './browser-path.ts';

const folder = mkdtempSync(join(tmpdir(), 'gleaner-path-'));

afterAll(() => rmSync(folder, { recursive: true, force: true }));

test('findBrowser() prefers the first known name in any folder of PATH', () => {
  const [first, second] = ['first', 'second'].map((name) => join(folder, name)) as [string, string];
  mkdirSync(first);
  mkdirSync(second);
  const program = (path: string) => {
    writeFileSync(path, '');
    chmodSync(path, 0o755);
  };
  const path = [first, second].join(delimiter);
  expect(findBrowser(join(folder, 'empty'), [])).toBeNull();
  writeFileSync(join(first, 'chromium'), 'not a program');
  program(join(first, 'google-chrome'));
  expect(findBrowser(path)).toBe(join(first, 'google-chrome'));
  program(join(second, 'chromium'));
  expect(findBrowser(path)).toBe(join(second, 'chromium'));
});
