import { execFile } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { replaceFile } from './replace-file.ts';

let folder: string;
let file: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'replace-'));
  file = join(folder, 'marker.json');
});
afterEach(() => rmSync(folder, { recursive: true }));

test('replaces a file with a private one, and leaves no temporary file', () => {
  writeFileSync(file, 'former', { mode: 0o644 });
  replaceFile(file, 'new');
  expect(readFileSync(file, 'utf8')).toBe('new');
  expect(statSync(file).mode & 0o777).toBe(0o600);
  expect(readdirSync(folder)).toEqual(['marker.json']);
});

test('processes that replace a file concurrently read a complete one at any time', async () => {
  const code = `
    import { readFileSync } from 'node:fs';
    import { replaceFile } from ${JSON.stringify(pathToFileURL(join(import.meta.dirname, 'replace-file.ts')))};
    for (let round = 0; round < 100; round++) {
      replaceFile(${JSON.stringify(file)}, JSON.stringify({ id: 'one' }));
      if (JSON.parse(readFileSync(${JSON.stringify(file)}, 'utf8')).id !== 'one') process.exit(1);
    }`;
  const run = () => promisify(execFile)(process.execPath, ['--input-type=module', '-e', code]);
  await Promise.all([run(), run(), run()]);
  expect(readdirSync(folder)).toEqual(['marker.json']);
});
