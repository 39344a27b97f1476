import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  renameSync,
  rmSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { blobsConformance, chunksOf } from '../conformance.ts';
import { openFiles } from './open.ts';

const folder = () => mkdtempSync(join(tmpdir(), 'gleaner-files-'));

blobsConformance(async () => {
  const directory = folder();
  const blobs = openFiles({ directory: join(directory, 'made', 'here') });
  return {
    blobs,
    async remove() {
      await blobs.close();
      rmSync(directory, { recursive: true });
    },
  };
});

let directory: string;
beforeEach(() => {
  directory = folder();
});
afterEach(() => rmSync(directory, { recursive: true, force: true }));

test('write() leaves no temporary files, whether it succeeds or fails', async () => {
  const blobs = openFiles({ directory });
  await blobs.write('job/file', 'text/plain', chunksOf('x'), () => 1);
  async function* failing() {
    yield 'x';
    throw new Error('broken');
  }
  await expect(blobs.write('job/other', 'text/plain', failing(), () => 1)).rejects.toThrow(
    'broken',
  );
  expect(readdirSync(join(directory, '.writing'))).toEqual([]);
  expect(readdirSync(join(directory, 'job'))).toEqual(['file']);
});

test('removes the temporary files of a dead process after a day', async () => {
  mkdirSync(join(directory, '.writing'));
  for (const [name, ageMs] of [
    ['old', 25 * 3_600_000],
    ['recent', 3_600_000],
  ] as const) {
    writeFileSync(join(directory, '.writing', name), 'half');
    utimesSync(join(directory, '.writing', name), 0, (Date.now() - ageMs) / 1_000);
  }
  await openFiles({ directory }).close();
  expect(readdirSync(join(directory, '.writing'))).toEqual(['recent']);
});

test('presign() returns null', async () => {
  expect(await openFiles({ directory }).presign('job/file', 'file', 60)).toBeNull();
});

test('is unavailable while its folder is missing', async () => {
  const blobs = openFiles({ directory: join(directory, 'results') });
  await blobs.write('job/kept', 'text/plain', chunksOf('x'), () => 1);
  renameSync(join(directory, 'results'), join(directory, 'away'));
  await expect(blobs.ping()).rejects.toMatchObject({
    code: 'unavailable',
    clientMessage: 'The file store is unavailable.',
  });
  const calls = [
    () => blobs.write('job/file', 'text/plain', chunksOf('x'), () => 1),
    () => blobs.read('job/kept'),
    () => blobs.size('job/kept'),
    () => blobs.listJob('job'),
    () => blobs.remove(['job/kept']),
    () => blobs.removeJob('job'),
  ];
  for (const call of calls) await expect(call()).rejects.toMatchObject({ code: 'unavailable' });
  renameSync(join(directory, 'away'), join(directory, 'results'));
  await blobs.ping();
});

test('an error of the disk while a file is read is unavailable', async () => {
  const blobs = openFiles({ directory });
  await blobs.write('job/large', 'text/plain', chunksOf('x'.repeat(1_000_000)), () => 1);
  const content = await blobs.read('job/large');
  content.destroy(new Error('EIO: i/o error, read'));
  await expect(text(content)).rejects.toMatchObject({ code: 'unavailable' });
});

test('a folder without permission is unavailable', async () => {
  const blobs = openFiles({ directory });
  chmodSync(join(directory, '.writing'), 0o500);
  const isRoot = process.getuid?.() === 0;
  const write = () => blobs.write('job/file', 'text/plain', chunksOf('x'), () => 1);
  try {
    // Permissions do not apply to root.
    if (isRoot) process.seteuid?.('nobody');
    await expect(write()).rejects.toMatchObject({ code: 'unavailable' });
  } finally {
    if (isRoot) process.seteuid?.(0);
    chmodSync(join(directory, '.writing'), 0o700);
  }
  await write();
});
