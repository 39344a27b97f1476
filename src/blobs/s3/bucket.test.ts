import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { pipeline, Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { afterAll, afterEach, describe, expect, test, vi } from 'vitest';
import { startS3 } from '../../../test/engines/s3.ts';
import { openBucket } from './bucket.ts';
import { partBytes } from './client.ts';
import { openS3 } from './open.ts';

const never = new AbortController().signal;
const mebibyte = 1024 * 1024;
const closing: (() => void)[] = [];
afterEach(() => {
  for (const close of closing.splice(0)) close();
});

/** Contents that differ in every part. */
function contentsOf(bytes: number): Buffer {
  const contents = Buffer.alloc(bytes);
  for (let at = 0; at + 4 <= bytes; at += 4_096) contents.writeUInt32LE(at, at);
  return contents;
}

async function* inChunks(contents: Buffer, size = 300_001): AsyncGenerator<Buffer> {
  for (let start = 0; start < contents.length; start += size)
    yield contents.subarray(start, start + size);
}

/** Opens a bucket of a service that responds with this function. */
async function bucketAt(respond: RequestListener, timeoutMs = 60_000) {
  const server = createServer(respond).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const address = { bucket: 'b', region: 'us-east-1', accessKey: 'k', secretKey: 's' };
  const bucket = openBucket({ ...address, endpoint: `http://127.0.0.1:${port}` }, { timeoutMs });
  closing.push(() => {
    bucket.close();
    server.closeAllConnections();
    server.close();
  });
  return bucket;
}

test.each([200, 400])('a response %i without an end is an error after 1 MiB', async (status) => {
  const chunk = Buffer.alloc(64 * 1024, ' ');
  let sent = 0;
  const endless = function* () {
    for (; ; sent += chunk.length) yield chunk;
  };
  const bucket = await bucketAt((_, response) => {
    response.writeHead(status);
    pipeline(Readable.from(endless()), response, () => {});
  });
  const refused = bucket.remove('x', never);
  await expect(refused).rejects.toThrow(`the response has more than ${mebibyte} bytes`);
  // The rest is in the buffers of the connection.
  expect(sent).toBeLessThan(32 * mebibyte);
});

test('a response whose stated length is more than 1 MiB is not read', async () => {
  const bucket = await bucketAt((_, response) => {
    response.writeHead(200, { 'content-length': mebibyte + 1 });
    response.flushHeaders();
  });
  const refused = bucket.put('x', 'text/plain', inChunks(Buffer.from('x')), never);
  await expect(refused).rejects.toThrow(`the response has more than ${mebibyte} bytes`);
});

test('a response that does not arrive in time is a timeout', async () => {
  const bucket = await bucketAt(() => {}, 50);
  await expect(bucket.remove('x', never)).rejects.toMatchObject({ status: null, timedOut: true });
});

test('every part has its MD5', async () => {
  const received: unknown[] = [];
  const bucket = await bucketAt((request, response) => {
    request.resume().on('end', () => {
      received.push(request.headers['content-md5']);
      response.setHeader('etag', '"1"').end();
    });
  });
  await bucket.put('x', 'text/plain', inChunks(Buffer.from('x')), never);
  expect(received).toEqual([createHash('md5').update('x').digest('base64')]);
});

test('an object is written with the time of the service if the clock of this host is wrong', async () => {
  const time = new Date(Date.now() + 7_200_000);
  const dates: unknown[] = [];
  const bucket = await bucketAt((request, response) => {
    request.resume().on('end', () => {
      dates.push(request.headers['x-amz-date']);
      const isFirst = dates.length === 1;
      response.writeHead(isFirst ? 403 : 200, { date: time.toUTCString(), etag: '"1"' });
      response.end(isFirst ? '<Error><Code>RequestTimeTooSkewed</Code></Error>' : '');
    });
  });
  await bucket.put('x', 'text/plain', inChunks(Buffer.from('x')), never);
  const [first, second] = dates.map((date) =>
    Date.parse(String(date).replace(/^(....)(..)(..T..)(..)(..Z)$/, '$1-$2-$3:$4:$5')),
  );
  expect(Math.abs(second! - first! - 7_200_000)).toBeLessThan(60_000);
});

test('a refused request is not repeated', async () => {
  let requests = 0;
  const bucket = await bucketAt((_request, response) => {
    requests += 1;
    response.writeHead(503).end('<Error><Code>SlowDown</Code></Error>');
  });
  await expect(bucket.remove('x', never)).rejects.toThrow('SlowDown');
  expect(requests).toBe(1);
});

test('the page of another service is no written object', async () => {
  const bucket = await bucketAt((request, response) => {
    request.resume().on('end', () => response.end('<!doctype html>'));
  });
  const written = bucket.put('x', 'text/plain', inChunks(Buffer.from('x')), never);
  await expect(written).rejects.toThrow('the response has no ETag');
});

const s3 = await startS3();

describe.skipIf('missing' in s3)(`put()${'missing' in s3 ? ` (${s3.missing})` : ''}`, () => {
  if ('missing' in s3) return;
  const address = {
    endpoint: `http://127.0.0.1:${s3.port}`,
    bucket: 'results',
    region: 'us-east-1',
    accessKey: 'gleaner',
    secretKey: 'gleaner/secret',
  };
  const bucket = openBucket(address, { timeoutMs: 30_000 });
  const reader = openS3({ url: s3.url });
  afterAll(async () => {
    bucket.close();
    await reader.close();
    await s3.stop();
  });
  const jobId = '5b1f0b86-4c0e-4d55-9d5f-2f4a3f4a8f10';
  const key = (name: string) => `${jobId}/${name}`;

  test.each([0, 5, partBytes, partBytes + 1, 2 * partBytes + 12_345])(
    'writes %i bytes',
    async (bytes) => {
      const contents = contentsOf(bytes);
      await bucket.put(key('a.csv'), 'text/csv', inChunks(contents), never);
      expect((await buffer(await reader.read(key('a.csv')))).equals(contents)).toBe(true);
    },
  );

  test.each(['fails', 'is aborted'])('leaves neither an object nor parts if it %s', async (how) => {
    const stop = new AbortController();
    const reason = new Error('stopped');
    async function* chunks() {
      yield* inChunks(contentsOf(partBytes + 10));
      if (how === 'fails') throw reason;
      stop.abort(reason);
    }
    await expect(bucket.put(key('b.csv'), 'text/csv', chunks(), stop.signal)).rejects.toBe(reason);
    await vi.waitFor(async () => expect(await s3.unfinishedUploads()).toEqual([]), {
      timeout: 20_000,
    });
    expect(await reader.listJob(jobId)).not.toContain(key('b.csv'));
  });

  test('rejects with the status and the error code of the service', async () => {
    for (const [other, status, words] of [
      [{ secretKey: 'wrong' }, 403, 'SignatureDoesNotMatch'],
      [{ bucket: 'absent' }, 404, 'NoSuchBucket'],
    ] as const) {
      const refused = openBucket({ ...address, ...other }, { timeoutMs: 5_000 });
      const message = expect.stringContaining(words);
      const chunks = inChunks(Buffer.from('x'));
      await expect(refused.put('x', 'text/plain', chunks, never)).rejects.toMatchObject({
        status,
        message,
      });
      refused.close();
    }
  });
});
