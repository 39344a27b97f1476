import { once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { pipeline, Readable } from 'node:stream';
import { afterEach, expect, test } from 'vitest';
import { openBucket } from './bucket.ts';

const never = new AbortController().signal;
const mebibyte = 1024 * 1024;
const closing: (() => void)[] = [];
afterEach(() => {
  for (const close of closing.splice(0)) close();
});

/** Opens a bucket of a service that responds with this function. */
async function bucketAt(respond: RequestListener) {
  const server = createServer(respond).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const address = { bucket: 'b', region: 'us-east-1', accessKey: 'k', secretKey: 's' };
  const bucket = openBucket({ ...address, endpoint: `http://127.0.0.1:${port}` }, { timeoutMs: 60_000 });
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
  const refused = bucket.beginUpload('x', 'text/plain', never);
  await expect(refused).rejects.toThrow(`the response has more than ${mebibyte} bytes`);
  // The rest is in the buffers of the connection.
  expect(sent).toBeLessThan(32 * mebibyte);
});

test('a response whose stated length is more than 1 MiB is not read', async () => {
  const bucket = await bucketAt((_, response) => {
    response.writeHead(200, { 'content-length': mebibyte + 1 });
    response.flushHeaders();
  });
  const refused = bucket.put('x', 'text/plain', Buffer.from('x'), never);
  await expect(refused).rejects.toThrow(`the response has more than ${mebibyte} bytes`);
});

test('a list of parts has 10 pages at most', async () => {
  let pages = 0;
  const part = (number: number) =>
    `<Part><PartNumber>${number}</PartNumber><ETag>"e"</ETag><Size>1</Size></Part>`;
  let last = 10;
  const bucket = await bucketAt((_, response) => {
    pages += 1;
    response.end(
      `<ListPartsResult><IsTruncated>${pages < last}</IsTruncated><NextPartNumberMarker>${pages}</NextPartNumberMarker>${part(pages)}</ListPartsResult>`,
    );
  });
  expect((await bucket.listParts('x', 'u', never))!.size).toBe(10);
  pages = 0;
  last = Number.POSITIVE_INFINITY;
  await expect(bucket.listParts('x', 'u', never)).rejects.toThrow('the list of parts has more than 10 pages');
  expect(pages).toBe(10);
});
