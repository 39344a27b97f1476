import { createHash } from 'node:crypto';
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import type { ServerResponse } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { create } from '@bufbuild/protobuf';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { type ResultFile, ResultFileSchema } from '../../gen/gleaner/job/v1/job_pb.ts';
import { createGleanerClient } from './client.ts';
import { namesOf } from './download.ts';
import { type Script, scriptedServer } from './fixture/server.ts';

const content = Buffer.from(Array.from({ length: 300_000 }, (_, index) => (index * 7) % 251));
const sha256 = createHash('sha256').update(content).digest('hex');

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'gleaner-client-'));
});
afterEach(() => rm(folder, { recursive: true }));

const resultFile = (url: string, parts: { sha256?: string } = {}) =>
  create(ResultFileSchema, {
    name: 'full.json',
    bytes: BigInt(content.length),
    sha256,
    downloadUrl: `${url}/files/full.json`,
    ...parts,
  });

const open = (url: string) =>
  createGleanerClient({
    url,
    apiKey: 'k',
    clock: { now: () => 0, sleep: async () => {} },
    random: () => 1,
  });

/** Response that breaks once the client has received `bytes`: unread bytes would be lost. */
let held: { response: ServerResponse; at: number } | undefined;
const breakOff = (_file: ResultFile, bytes: number) => {
  if (bytes === held?.at) held.response.destroy();
};

/**
 * Serves the file, by range if the client requests one; `cut`: bytes after which the connection
 * breaks.
 */
const serving =
  (
    cut: (number: number) => number = () => Number.POSITIVE_INFINITY,
    tag = (_number: number) => '"t1"',
  ): Script =>
  ({ headers }, number, response) => {
    const start = Number(/^bytes=(\d+)-$/.exec(headers.range ?? '')?.[1] ?? 0);
    const goesOn = headers.range !== undefined && headers['if-range'] === tag(number);
    const body = content.subarray(goesOn ? start : 0);
    response.writeHead(goesOn ? 206 : 200, {
      etag: tag(number),
      'content-length': body.length,
      ...(goesOn
        ? { 'content-range': `bytes ${start}-${content.length - 1}/${content.length}` }
        : {}),
    });
    if (cut(number) >= body.length) response.end(body);
    else {
      held = { response, at: content.length - body.length + cut(number) };
      response.write(body.subarray(0, cut(number)));
    }
  };

test('downloadFile() saves a file and does not fetch it again', async () => {
  await using server = await scriptedServer(serving());
  const target = join(folder, 'deep', 'full.json');
  const bytes: number[] = [];
  const first = await open(server.url).download(resultFile(server.url), target, {
    onBytes: (_, count) => bytes.push(count),
  });
  expect([first.path, first.fetched]).toEqual([target, content.length]);
  expect(content.equals(await readFile(target))).toBe(true);
  expect(await readdir(join(folder, 'deep'))).toEqual(['full.json']);
  expect([bytes[0], bytes.at(-1)]).toEqual([0, content.length]);
  expect((await open(server.url).download(resultFile(server.url), target)).fetched).toBe(0);
  expect(server.received).toHaveLength(1);
});

test('downloadFile() resumes after a broken connection', async () => {
  await using server = await scriptedServer(
    serving((number) => (number < 2 ? 100_000 : Number.POSITIVE_INFINITY)),
  );
  const target = join(folder, 'full.json');
  const { fetched } = await open(server.url).download(resultFile(server.url), target, {
    onBytes: breakOff,
  });
  expect(fetched).toBe(content.length);
  expect(content.equals(await readFile(target))).toBe(true);
  expect(server.received.map(({ headers }) => headers.range)).toEqual([
    undefined,
    'bytes=100000-',
    'bytes=200000-',
  ]);
});

test('downloadFile() resumes the partial file of an earlier process', async () => {
  const stop = new AbortController();
  const target = join(folder, 'full.json');
  await using server = await scriptedServer((got, number, response) => {
    if (number > 0) return serving()(got, number, response);
    response.writeHead(200, { etag: '"t1"', 'content-length': content.length });
    response.write(content.subarray(0, 50_000));
  });
  const broken = open(server.url).download(resultFile(server.url), target, {
    signal: stop.signal,
    onBytes: (_, bytes) => bytes === 50_000 && stop.abort(new Error('enough')),
  });
  await expect(broken).rejects.toThrow();
  expect((await readdir(folder)).toSorted()).toEqual(['full.json.part', 'full.json.part.json']);
  const { fetched } = await open(server.url).download(resultFile(server.url), target);
  expect(fetched).toBe(content.length - 50_000);
  expect(content.equals(await readFile(target))).toBe(true);
  expect(await readdir(folder)).toEqual(['full.json']);
});

test('downloadFile() discards the partial file of another version', async () => {
  await using server = await scriptedServer(
    serving(
      (number) => (number === 0 ? 100_000 : Number.POSITIVE_INFINITY),
      (number) => `"t${number}"`,
    ),
  );
  const target = join(folder, 'full.json');
  await open(server.url).download(resultFile(server.url), target, { onBytes: breakOff });
  expect(content.equals(await readFile(target))).toBe(true);
  expect(server.received[1]!.headers['if-range']).toBe('"t0"');
});

test('downloadFile() rejects content with another checksum and leaves no file', async () => {
  await using server = await scriptedServer(serving());
  const target = join(folder, 'full.json');
  await writeFile(target, 'an older one');
  const wrong = resultFile(server.url, { sha256: 'a'.repeat(64) });
  await expect(open(server.url).download(wrong, target)).rejects.toMatchObject({
    status: -1,
    detail: `full.json: its SHA-256 is ${sha256}, not ${'a'.repeat(64)}`,
  });
  expect(await readdir(folder)).toEqual(['full.json']);
  expect(await readFile(target, 'utf8')).toBe('an older one');
});

test('downloadFile() does not write more bytes than the declared size', async () => {
  await using server = await scriptedServer((_, _number, response) =>
    response.end(Buffer.alloc(400_000)),
  );
  await expect(
    open(server.url).download(resultFile(server.url), join(folder, 'f')),
  ).rejects.toMatchObject({
    status: -1,
    detail: 'full.json: it has more than 300000 bytes',
  });
});

test('downloadFile() rejects after the maximum attempts without progress', async () => {
  await using server = await scriptedServer((_, _number, response) => {
    response.writeHead(200, { 'content-length': content.length });
    response.flushHeaders();
    response.socket!.end();
  });
  await expect(
    open(server.url).download(resultFile(server.url), join(folder, 'f')),
  ).rejects.toMatchObject({
    status: 0,
  });
  expect(server.received).toHaveLength(5);
});

test('downloadFiles() keeps names inside the folder and distinct', () => {
  const names = ['../../etc/passwd', 'a.json', 'A.json', '..', '', 'C:\\x', 'b\n.csv'].map(
    (name) => ({
      name,
    }),
  );
  expect(namesOf(names)).toEqual([
    '__.._etc_passwd',
    'a.json',
    '2-A.json',
    '_',
    'file',
    'C__x',
    'b_.csv',
  ]);
});
