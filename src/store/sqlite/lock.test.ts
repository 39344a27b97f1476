import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { type FolderLock, lockFolder } from './lock.ts';

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'gleaner-lock-'));
});
afterEach(() => rm(folder, { recursive: true }));

const lock = () => lockFolder(join(folder, 'data'));

describe('lockFolder()', () => {
  test('locks a folder until the lock is released', () => {
    const held = lock() as FolderLock;
    expect(lock()).toEqual({ pid: process.pid });
    held.release();
    const again = lock() as FolderLock;
    expect(again).toHaveProperty('release');
    again.release();
  });

  test('locks each folder separately', () => {
    const held = lock() as FolderLock;
    const other = lockFolder(join(folder, 'other')) as FolderLock;
    expect(other).toHaveProperty('release');
    other.release();
    held.release();
  });

  test('throws an error that names a folder that cannot be created', async () => {
    await writeFile(join(folder, 'data'), '');
    expect(lock).toThrow(/data/);
  });

  test('throws an error that names a file with other contents', async () => {
    (lock() as FolderLock).release();
    await writeFile(join(folder, 'data/gleaner.lock'), 'garbage '.repeat(100));
    expect(lock).toThrow(/gleaner\.lock is damaged\. .* delete the file/);
  });

  test('is released when the process is killed', async () => {
    const program = `
      import { lockFolder } from ${JSON.stringify(new URL('./lock.ts', import.meta.url).href)};
      lockFolder(${JSON.stringify(join(folder, 'data'))});
      // The lock does not depend on whether its holder still refers to it.
      globalThis.gc();
      setImmediate(() => console.log('locked'));
      setInterval(() => {}, 1000);`;
    const parameters = ['--expose-gc', '--input-type=module-typescript', '-e', program];
    const child = spawn(process.execPath, parameters);
    const exited = once(child, 'exit');
    await once(child.stdout, 'data');
    expect(lock()).toEqual({ pid: child.pid });
    child.kill('SIGKILL');
    await exited;
    const held = lock() as FolderLock;
    expect(held).toHaveProperty('release');
    held.release();
  });
});
