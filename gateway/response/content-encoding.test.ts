import { request as httpRequest, type IncomingMessage } from 'node:http';
import { brotliDecompressSync, createGunzip, gunzipSync } from 'node:zlib';
import { afterEach, expect, test } from 'vitest';
import {
  type Responder,
  recordedCaller,
  startTestGateway,
  type TestGateway,
} from '../fixture/gateway.ts';
import { isCompressible, preferredEncoding } from './content-encoding.ts';

let gateway: TestGateway;
afterEach(async () => gateway?.close(0));

const open = async (
  responders: Record<string, Responder>,
  options: Parameters<typeof startTestGateway>[0] = {},
) => {
  gateway = await startTestGateway({ caller: recordedCaller(responders).caller, ...options });
};

/** Sends a request without the decoding of fetch. */
function ask(
  path: string,
  headers: Record<string, string>,
  method = 'GET',
): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    const options = { method, headers: { authorization: 'Bearer key-ann', ...headers } };
    httpRequest(`${gateway.url}${path}`, options, resolve).on('error', reject).end();
  });
}

async function bytesOf(message: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of message) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks);
}

test.each([
  [undefined, undefined],
  ['', undefined],
  ['gzip', 'gzip'],
  ['x-gzip', 'gzip'],
  ['gzip, deflate, br', 'br'],
  ['br;q=0.5, gzip;q=0.8', 'gzip'],
  ['GZIP;Q=1.0', 'gzip'],
  ['br;q=0, gzip', 'gzip'],
  ['*', 'br'],
  ['*;q=0', undefined],
  ['br;q=0, *', 'gzip'],
  ['identity', undefined],
  ['gzip;q=nonsense', undefined],
  ['identity;q=1, br;q=0.1', undefined],
  ['identity, gzip;q=0.5', undefined],
  ['identity;q=0.5, gzip', 'gzip'],
  ['identity;q=0.5, br;q=0.5', 'br'],
  ['gzip;q=0.5', 'gzip'],
  ['identity, *;q=0', undefined],
  ['identity;q=0', undefined],
])('preferredEncoding(%j) returns %s', (header, encoding) => {
  expect(preferredEncoding(header)).toBe(encoding);
});

test.each([
  ['text/csv; charset=utf-8', true],
  ['TEXT/plain', true],
  ['application/json', true],
  ['application/json; charset=utf-8', true],
  ['application/x-ndjson', true],
  ['application/javascript', true],
  ['application/xml', true],
  ['application/problem+json', true],
  ['image/svg+xml', true],
  ['application/gzip', false],
  ['application/octet-stream', false],
  ['application/jsonx', false],
  ['application/problem+jsonx', false],
  ['image/png', false],
  ['image/png; note=application/json', false],
  ['x-text/plain', false],
  ['x/+json', false],
  ['application/zip; a=b+json', false],
])('isCompressible(%j) returns %s', (contentType, compressible) => {
  expect(isCompressible(contentType)).toBe(compressible);
});

test('encodes responses of 1 KB as requested, with the encoded length and a weak tag', async () => {
  await open({
    ListOrders: () => ({ numbers: Array.from({ length: 2000 }, (_, index) => BigInt(index)) }),
  });
  const plain = await ask('/shop/orders', {});
  const text = (await bytesOf(plain)).toString();
  expect([plain.headers['content-encoding'], plain.headers.vary]).toEqual([
    undefined,
    'accept-encoding',
  ]);
  const decoders = { gzip: gunzipSync, br: brotliDecompressSync };
  for (const [encoding, decode] of Object.entries(decoders)) {
    const response = await ask('/shop/orders', { 'accept-encoding': encoding });
    const bytes = await bytesOf(response);
    const { headers } = response;
    expect([headers['content-encoding'], headers['content-length'], headers.vary]).toEqual([
      encoding,
      String(bytes.length),
      'accept-encoding',
    ]);
    expect(headers.etag).toMatch(/^W\//);
    expect(bytes.length).toBeLessThan(text.length / 1.5);
    expect(decode(bytes).toString()).toBe(text);
  }
  const head = await ask('/shop/orders', { 'accept-encoding': 'br' }, 'HEAD');
  expect([head.headers['content-encoding'], (await bytesOf(head)).length]).toEqual(['br', 0]);
});

test('sends smaller responses unencoded', async () => {
  await open({ ListOrders: () => ({ numbers: [1n] }) });
  const response = await ask('/shop/orders', { 'accept-encoding': 'br, gzip' });
  expect([response.headers['content-encoding'], (await bytesOf(response)).toString()]).toEqual([
    undefined,
    '{"numbers":[1]}',
  ]);
});

test('encodes errors and the OpenAPI document, too', async () => {
  await open({});
  const error = await gateway.ask('/shop/orders', {
    method: 'POST',
    body: JSON.stringify({ lines: Array(50).fill({}) }),
    headers: { 'content-type': 'application/json', 'accept-encoding': 'gzip' },
  });
  expect([error.status, error.headers.get('content-encoding')]).toEqual([422, 'gzip']);
  expect(((await error.json()) as { detail: object[] }).detail).toHaveLength(100);
  const page = await ask('/openapi.json', { 'accept-encoding': 'gzip' });
  expect(page.headers['content-encoding']).toBe('gzip');
  expect(gunzipSync(await bytesOf(page)).length).toBeGreaterThan(10_000);
});

test('flushes an encoded stream when it pauses', async () => {
  let goOn = () => {};
  const held = new Promise<void>((resolve) => {
    goOn = resolve;
  });
  await open({
    GetData: async function* () {
      yield { contentType: 'application/x-ndjson', data: Buffer.from('{"first":1}\n') };
      await held;
      yield { data: Buffer.from('{"second":2}\n') };
    },
  });
  const response = await ask('/shop/data/x', { 'accept-encoding': 'gzip' });
  expect([response.headers['content-encoding'], response.headers.vary]).toEqual([
    'gzip',
    'accept-encoding',
  ]);
  const decoded = response.pipe(createGunzip()).setEncoding('utf8')[Symbol.asyncIterator]();
  expect((await decoded.next()).value).toBe('{"first":1}\n');
  goOn();
  expect((await decoded.next()).value).toBe('{"second":2}\n');
  expect((await decoded.next()).done).toBe(true);
});

test('encodes a long stream completely and with backpressure', async () => {
  await open({
    GetData: async function* () {
      for (let count = 0; count < 200; count += 1)
        yield { contentType: 'text/csv', data: Buffer.from(`${count},`.repeat(5000)) };
    },
  });
  const response = await ask('/shop/data/x', { 'accept-encoding': 'br' });
  const text = brotliDecompressSync(await bytesOf(response)).toString();
  expect([text.length, text.startsWith('0,0,'), text.endsWith('199,199,')]).toEqual([
    3_450_000,
    true,
    true,
  ]);
});

test('sends compressed content unencoded, and ends an encoded stream when the client disconnects', async () => {
  let ended = 0;
  let chunks = 0;
  await open({
    GetData: async function* ({ name }) {
      const contentType = name === 'a' ? 'application/gzip' : 'text/plain';
      try {
        while (name !== 'a') {
          chunks += 1;
          yield { contentType, data: Buffer.alloc(100_000, `${Math.sqrt(chunks)}`) };
        }
        yield { contentType, data: Buffer.alloc(5000) };
      } finally {
        ended += 1;
      }
    },
  });
  const archive = await ask('/shop/data/a', { 'accept-encoding': 'gzip' });
  expect([archive.headers['content-encoding'], (await bytesOf(archive)).length]).toEqual([
    undefined,
    5000,
  ]);
  const endless = await ask('/shop/data/b', { 'accept-encoding': 'gzip' });
  expect(endless.headers['content-encoding']).toBe('gzip');
  endless.destroy();
  await expect.poll(() => ended).toBe(2);
});
