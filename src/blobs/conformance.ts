import { createHash, randomUUID } from 'node:crypto';
import type { Readable } from 'node:stream';
import { buffer, text } from 'node:stream/consumers';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { collectGarbage } from '../base/heap-size.ts';
import type { Blobs } from './blobs.ts';

/** An empty result storage. */
export interface OpenedBlobs {
  blobs: Blobs;
  /** Closes the storage and deletes its data. */
  remove(): Promise<void>;
}

/** Yields the chunks. */
export async function* chunksOf(
  ...chunks: (string | Uint8Array)[]
): AsyncGenerator<string | Uint8Array> {
  yield* chunks;
}

/** Returns the bytes that buffers hold, without garbage. */
function bufferBytes(): number {
  collectGarbage();
  return process.memoryUsage().arrayBuffers;
}

const sha256 = (data: string | Uint8Array) => createHash('sha256').update(data).digest('hex');

/** Defines the contract tests of the blobs port. Every adapter's test file calls this. */
export function blobsConformance(open: () => Promise<OpenedBlobs>): void {
  let opened: OpenedBlobs;
  let blobs: Blobs;
  let job: string;

  beforeAll(async () => {
    opened = await open();
    blobs = opened.blobs;
  });
  beforeEach(() => {
    job = randomUUID();
  });
  afterAll(() => opened?.remove());

  const write = (path: string, ...chunks: (string | Uint8Array)[]) =>
    blobs.write(path, 'text/plain', chunksOf(...chunks), () => chunks.length);
  const content = async (path: string) => text(await blobs.read(path));

  test('write() returns items, bytes and digest, and read() returns the content', async () => {
    const path = `${job}/result.json`;
    let ended = false;
    async function* chunks() {
      yield '[{"name":"ก๋วยเตี๋ยว"},\n';
      yield '';
      yield new TextEncoder().encode('{"name":"bánh mì"}]');
      ended = true;
    }
    const stored = await blobs.write(path, 'application/json', chunks(), () => (ended ? 2 : -1));
    const whole = '[{"name":"ก๋วยเตี๋ยว"},\n{"name":"bánh mì"}]';
    const bytes = Buffer.byteLength(whole);
    expect(stored).toEqual({
      path,
      contentType: 'application/json',
      items: 2,
      bytes,
      sha256: sha256(whole),
    });
    expect(await content(path)).toBe(whole);
    expect(await blobs.size(path)).toBe(bytes);
  });

  test('stores an empty file', async () => {
    const stored = await write(`${job}/empty.jsonl`);
    expect(stored).toMatchObject({ items: 0, bytes: 0, sha256: sha256('') });
    expect(await blobs.size(`${job}/empty.jsonl`)).toBe(0);
    expect(await content(`${job}/empty.jsonl`)).toBe('');
  });

  test.each(['ผลลัพธ์ 結果 - kết quả.json', 'a b(1)+c=d,e@f.csv', 'q'.repeat(200)])(
    'a file may be called %s',
    async (name) => {
      const path = `${job}/${name}`;
      await write(path, 'content');
      expect(await content(path)).toBe('content');
    },
  );

  test('read() returns a range with both ends included', async () => {
    await write(`${job}/digits`, '0123456789');
    const range = async (start: number, end: number) =>
      text(await blobs.read(`${job}/digits`, { start, end }));
    expect(await range(0, 0)).toBe('0');
    expect(await range(3, 6)).toBe('3456');
    expect(await range(8, 9)).toBe('89');
    expect(await range(8, 50)).toBe('89');
  });

  test('write() replaces an existing file', async () => {
    await write(`${job}/file`, 'old and long');
    await write(`${job}/file`, 'new');
    expect(await content(`${job}/file`)).toBe('new');
  });

  test('readers see the old content until a write ends', async () => {
    const path = `${job}/file`;
    await write(path, 'old');
    const resume = Promise.withResolvers<void>();
    const halfway = Promise.withResolvers<void>();
    async function* slow() {
      yield Buffer.alloc(1_000_000);
      halfway.resolve();
      await resume.promise;
      yield 'end';
    }
    const writing = blobs.write(path, 'text/plain', slow(), () => 1);
    await halfway.promise;
    expect(await content(path)).toBe('old');
    resume.resolve();
    await writing;
    expect(await blobs.size(path)).toBe(1_000_003);
  });

  test.each([0, 10_000_000])(
    'a write that fails after %i bytes leaves the old file unchanged',
    async (bytes) => {
      async function* failing() {
        yield Buffer.alloc(bytes);
        throw new Error('the source failed');
      }
      await write(`${job}/there`, 'old');
      await expect(blobs.write(`${job}/there`, 'text/plain', failing(), () => 1)).rejects.toThrow(
        'the source failed',
      );
      await expect(blobs.write(`${job}/none`, 'text/plain', failing(), () => 1)).rejects.toThrow(
        'the source failed',
      );
      expect(await content(`${job}/there`)).toBe('old');
      expect(await blobs.size(`${job}/none`)).toBeNull();
    },
  );

  test('concurrent writes of one file leave the complete content of one of them', async () => {
    const fill = (letter: string) => Array.from({ length: 40 }, () => letter.repeat(50_000));
    const stored = await Promise.all(
      ['a', 'b', 'c'].map((letter) => write(`${job}/file`, ...fill(letter))),
    );
    const digest = sha256(await buffer(await blobs.read(`${job}/file`)));
    expect(stored.map((file) => file.sha256)).toContain(digest);
  });

  test('streams a file of 50 MB without holding it in memory', async () => {
    const path = `${job}/large.jsonl`;
    const record = `${JSON.stringify({ title: 'x'.repeat(990) })}\n`;
    const count = Math.ceil(50_000_000 / record.length);
    const hash = createHash('sha256');
    let most = 0;
    async function* records() {
      for (let index = 0; index < count; index += 1) {
        hash.update(record);
        yield record;
        if (index % 5_000 === 0) most = Math.max(most, bufferBytes());
      }
    }
    const before = bufferBytes();
    const stored = await blobs.write(path, 'application/jsonl', records(), () => count);
    expect(stored).toMatchObject({
      bytes: count * record.length,
      items: count,
      sha256: hash.digest('hex'),
    });
    expect(await computeDigest(await blobs.read(path))).toBe(stored.sha256);
    expect(most - before).toBeLessThan(45_000_000);
  }, 30_000);

  test('a reader may stop early', async () => {
    await write(`${job}/file`, Buffer.alloc(5_000_000));
    const stream = await blobs.read(`${job}/file`);
    stream.destroy();
    await new Promise((resolve) => stream.once('close', resolve));
    await write(`${job}/file`, 'new');
    expect(await content(`${job}/file`)).toBe('new');
  });

  test('removeJob() removes all files of the job and no others', async () => {
    const other = randomUUID();
    for (const path of [`${job}/a`, `${job}/b`, `${other}/a`, `${job}x/a`]) await write(path, path);
    await blobs.removeJob(job);
    expect(await blobs.size(`${job}/a`)).toBeNull();
    expect(await blobs.size(`${job}/b`)).toBeNull();
    expect(await content(`${other}/a`)).toBe(`${other}/a`);
    expect(await content(`${job}x/a`)).toBe(`${job}x/a`);
    await blobs.removeJob(job);
  });

  test('list() yields the files of every job', async () => {
    const paths = [`${job}/a`, `${job}/b`, `${randomUUID()}/c`];
    for (const path of paths) await write(path, 'x');
    const listed = await Array.fromAsync(blobs.list());
    expect(listed.filter((path) => paths.includes(path)).toSorted()).toEqual(paths.toSorted());
    expect(new Set(listed).size).toBe(listed.length);
    for (const path of listed) expect(await blobs.size(path)).not.toBeNull();
  });

  test('listJob() returns all files of the job and no others', async () => {
    expect(await blobs.listJob(job)).toEqual([]);
    const paths = [`${job}/a`, `${job}/ผลลัพธ์ 結果.json`, `${job}/part_1`];
    for (const path of [...paths, `${job}x/a`]) await write(path, path);
    expect((await blobs.listJob(job)).sort()).toEqual(paths.sort());
  });

  test('remove() removes the named files and ignores missing ones', async () => {
    for (const name of ['a', 'b', 'c']) await write(`${job}/${name}`, name);
    await blobs.remove([`${job}/a`, `${job}/none`, `${job}/c`]);
    expect(await blobs.listJob(job)).toEqual([`${job}/b`]);
    await blobs.remove([]);
    await expect(blobs.remove(['../secret'])).rejects.toMatchObject({ code: 'not_found' });
    await expect(blobs.listJob('..')).rejects.toMatchObject({ code: 'not_found' });
  });

  test('read() rejects with not_found for a missing file', async () => {
    await expect(blobs.read(`${job}/none`)).rejects.toMatchObject({ code: 'not_found' });
    expect(await blobs.size(`${job}/none`)).toBeNull();
  });

  test.each([
    '../secret',
    'job/../secret',
    'job/..',
    './file',
    'job/.hidden',
    '/etc/passwd',
    'job//file',
    'job/a/b',
    'job',
    '',
    'job/',
    'job/a\u0000b',
    'job/a\\b',
    'job/a\nb',
    'job/%2e%2e',
    `job/${'x'.repeat(201)}`,
  ])('the path %j leads nowhere', async (path) => {
    await expect(write(path, 'x')).rejects.toMatchObject({ code: 'not_found' });
    await expect(blobs.read(path)).rejects.toMatchObject({ code: 'not_found' });
    expect(await blobs.size(path)).toBeNull();
    await expect(blobs.removeJob(path.split('/').length > 1 ? path : '..')).rejects.toMatchObject({
      code: 'not_found',
    });
  });

  test('ping() resolves while the engine is available', async () => {
    await expect(blobs.ping()).resolves.toBeUndefined();
  });
}

async function computeDigest(stream: Readable): Promise<string> {
  const hash = createHash('sha256');
  for await (const chunk of stream) hash.update(chunk);
  return hash.digest('hex');
}
