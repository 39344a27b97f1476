import { execFileSync } from 'node:child_process';
import { lstatSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { type CommandSession, writeStream } from './session.ts';

const folder = mkdtempSync(join(tmpdir(), 'gleaner-session-'));
afterAll(() => rmSync(folder, { recursive: true }));

const session = {
  io: { path: (path: string) => path },
  signal: new AbortController().signal,
} as unknown as CommandSession;

async function* stream() {
  yield new TextEncoder().encode('x');
}

describe('writeStream()', () => {
  test('replaces a file', async () => {
    const path = join(folder, 'file');
    await writeStream(session, stream(), path);
    await writeStream(session, stream(), path);
    expect(readFileSync(path, 'utf8')).toBe('x');
  });

  test.skipIf(process.platform === 'win32')('writes to a pipe', async () => {
    const path = join(folder, 'pipe');
    execFileSync('mkfifo', [path]);
    const read = readFile(path, 'utf8');
    await writeStream(session, stream(), path);
    expect(await read).toBe('x');
    expect(lstatSync(path).isFIFO()).toBe(true);
  });
});
