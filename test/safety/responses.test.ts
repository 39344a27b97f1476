import type { RequestListener } from 'node:http';
import zlib from 'node:zlib';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { openSafetyFixture, type SafetyFixture } from './fixture.ts';

let fixture: SafetyFixture;

beforeAll(async () => {
  fixture = await openSafetyFixture();
});

afterEach(async () => {
  await fixture.clear();
  expect(fixture.inside.connections()).toBe(0);
});

afterAll(() => fixture.stop());

describe('an endless catalogue', () => {
  const page = (first: number, count: number, title: string) =>
    JSON.stringify({
      products: Array.from({ length: count }, (_, at) => ({ id: first + at, title })),
    });

  test('is aborted at the size limit of a unit', async () => {
    let pages = 0;
    fixture.respond = (_request, response) => {
      pages += 1;
      response.end(page(pages * 250, 250, 'x'.repeat(2_000)));
    };
    expect(
      await fixture.read('http://shop.example/', { ...fixture.throughProxy(), concurrency: 8 }),
    ).toBe('page_too_large');
    // 4,000,000 bytes, in pages of half a million.
    expect(pages).toBe(8);
  });

  test('is aborted at the time limit of a unit, even if every page arrives in time', async () => {
    let pages = 0;
    fixture.respond = (_request, response) => {
      pages += 1;
      setTimeout(() => response.end(page(pages * 250, 250, 'x')), 300);
    };
    expect(await fixture.read('http://shop.example/')).toBe('page_timeout');
    expect(pages).toBeGreaterThan(1);
    expect(pages).toBeLessThanOrEqual(5);
  });
});

describe('a response', () => {
  /** Sends chunks until the reader disconnects. */
  const forever =
    (piece: Buffer | string, everyMs: number): RequestListener =>
    (_request, response) => {
      response.writeHead(200, { 'content-type': 'application/json' });
      const send = () => {
        if (response.destroyed) return;
        response.write(piece);
        setTimeout(send, everyMs);
      };
      send();
    };
  const encoded =
    (encoding: string, body: Buffer): RequestListener =>
    (_request, response) =>
      void response.writeHead(200, { 'content-encoding': encoding }).end(body);
  const zeros = Buffer.alloc(64 * 1024 * 1024);

  test('is aborted if it never ends', async () => {
    fixture.respond = forever(Buffer.alloc(256 * 1024, 32), 0);
    expect(await fixture.read('http://shop.example/')).toBe('page_too_large');
  });

  test('is aborted if it arrives too slowly', async () => {
    fixture.respond = forever(' ', 50);
    expect(await fixture.read('http://shop.example/')).toBe('page_timeout');
  });

  test('is aborted if it never starts or stalls', async () => {
    fixture.respond = () => {};
    expect(await fixture.read('http://shop.example/')).toBe('page_timeout');
    fixture.respond = (_request, response) =>
      void response.writeHead(200, { 'content-length': 500 }).write('{');
    expect(await fixture.read('http://shop.example/')).toBe('page_timeout');
  });

  test.each([
    ['gzip', () => zlib.gzipSync(zeros)],
    ['deflate', () => zlib.deflateSync(zeros)],
    [
      'br',
      () =>
        zlib.brotliCompressSync(zeros, { params: { [zlib.constants.BROTLI_PARAM_QUALITY]: 4 } }),
    ],
    ['zstd', () => zlib.zstdCompressSync(zeros)],
  ])('is aborted if it decompresses from %s to too many bytes', async (encoding, bomb) => {
    const body = bomb();
    expect(body.length).toBeLessThan(200_000);
    fixture.respond = encoded(encoding, body);
    const before = process.memoryUsage().rss;
    expect(await fixture.read('http://shop.example/')).toBe('page_too_large');
    expect(process.memoryUsage().rss - before).toBeLessThan(48 * 1024 * 1024);
  });

  test('is refused if it has several content encodings', async () => {
    fixture.respond = encoded('gzip, gzip', zlib.gzipSync(zlib.gzipSync(zeros)));
    expect(await fixture.read('http://shop.example/')).toBe('page_too_large');
    fixture.respond = encoded(Array(500).fill('gzip').join(', '), zlib.gzipSync('{}'));
    expect(await fixture.read('http://shop.example/')).toBe('network');
  });

  test('is refused if it has huge headers', async () => {
    fixture.respond = (_request, response) =>
      void response.writeHead(200, { 'x-large': 'a'.repeat(200_000) }).end('{}');
    expect(await fixture.read('http://shop.example/')).toBe('page_too_large');
    fixture.respond = (_request, response) => {
      for (let name = 0; name < 1_500; name += 1) response.setHeader(`x-${name}`, 'a'.repeat(50));
      response.end('{}');
    };
    expect(await fixture.read('http://shop.example/')).toBe('page_too_large');
  });

  test('is an error if it is not HTTP, or contains two responses', async () => {
    const raw =
      (bytes: string): RequestListener =>
      (request) =>
        void request.socket.end(bytes);
    fixture.respond = raw('+PONG\r\n+OK\r\n');
    expect(await fixture.read('http://shop.example/')).toBe('network');
    fixture.respond = raw(
      'HTTP/1.1 200 OK\r\ncontent-length: 5\r\ncontent-length: 90\r\n\r\n{"pro',
    );
    expect(await fixture.read('http://shop.example/')).toBe('network');
    fixture.respond = raw(
      'HTTP/1.1 200 OK\r\ncontent-length: 2\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n',
    );
    expect(await fixture.read('http://shop.example/')).toMatch(/network|page_/);
  });

  test('does no harm with deeply nested or large JSON', async () => {
    fixture.respond = (_request, response) => void response.end('['.repeat(400_000));
    expect(await fixture.read('http://shop.example/')).toBe('page_unreadable');
    fixture.respond = (_request, response) =>
      void response.end(
        `{"products":[{"id":1,"__proto__":{"polluted":true},"constructor":{"prototype":{"polluted":true}}}]}`,
      );
    expect(await fixture.read('http://shop.example/')).toBe('1 products');
    expect(({} as { polluted?: boolean }).polluted).toBeUndefined();
  });
});
