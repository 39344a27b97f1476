import type { RequestListener } from 'node:http';
import zlib from 'node:zlib';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { openSafety, type SafetyBench } from './bench.ts';

let bench: SafetyBench;

beforeAll(async () => {
  bench = await openSafety();
});

afterEach(async () => {
  await bench.clear();
  expect(bench.inside.connections()).toBe(0);
});

afterAll(() => bench.stop());

describe('a catalogue without end', () => {
  const page = (first: number, count: number, title: string) =>
    JSON.stringify({ products: Array.from({ length: count }, (_, at) => ({ id: first + at, title })) });

  test('is given up at the bytes of one unit', async () => {
    let pages = 0;
    bench.behaves = (_request, response) => {
      pages += 1;
      response.end(page(pages * 250, 250, 'x'.repeat(2_000)));
    };
    expect(await bench.read('http://shop.example/', { ...bench.throughProxy(), concurrency: 8 })).toBe(
      'page_too_large',
    );
    // 4,000,000 bytes, in pages of half a million.
    expect(pages).toBe(8);
  });

  test('whose every page is in time is given up at the time of one unit', async () => {
    let pages = 0;
    bench.behaves = (_request, response) => {
      pages += 1;
      setTimeout(() => response.end(page(pages * 250, 250, 'x')), 300);
    };
    expect(await bench.read('http://shop.example/')).toBe('page_timeout');
    expect(pages).toBeGreaterThan(1);
    expect(pages).toBeLessThanOrEqual(5);
  });
});

describe('an answer', () => {
  /** Sends pieces until the reader hangs up. */
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

  test('without end is cut off', async () => {
    bench.behaves = forever(Buffer.alloc(256 * 1024, 32), 0);
    expect(await bench.read('http://shop.example/')).toBe('page_too_large');
  });

  test('that drips is given up', async () => {
    bench.behaves = forever(' ', 50);
    expect(await bench.read('http://shop.example/')).toBe('page_timeout');
  });

  test('that never begins, or stops halfway, is given up', async () => {
    bench.behaves = () => {};
    expect(await bench.read('http://shop.example/')).toBe('page_timeout');
    bench.behaves = (_request, response) =>
      void response.writeHead(200, { 'content-length': 500 }).write('{');
    expect(await bench.read('http://shop.example/')).toBe('page_timeout');
  });

  test.each([
    ['gzip', () => zlib.gzipSync(zeros)],
    ['deflate', () => zlib.deflateSync(zeros)],
    ['br', () => zlib.brotliCompressSync(zeros, { params: { [zlib.constants.BROTLI_PARAM_QUALITY]: 4 } })],
    ['zstd', () => zlib.zstdCompressSync(zeros)],
  ])('that swells from %s is cut off', async (encoding, bomb) => {
    const body = bomb();
    expect(body.length).toBeLessThan(200_000);
    bench.behaves = encoded(encoding, body);
    const before = process.memoryUsage().rss;
    expect(await bench.read('http://shop.example/')).toBe('page_too_large');
    expect(process.memoryUsage().rss - before).toBeLessThan(48 * 1024 * 1024);
  });

  test('that is encoded many times over is refused', async () => {
    bench.behaves = encoded('gzip, gzip', zlib.gzipSync(zlib.gzipSync(zeros)));
    expect(await bench.read('http://shop.example/')).toBe('page_too_large');
    bench.behaves = encoded(Array(500).fill('gzip').join(', '), zlib.gzipSync('{}'));
    expect(await bench.read('http://shop.example/')).toBe('network');
  });

  test('with huge headers is refused', async () => {
    bench.behaves = (_request, response) =>
      void response.writeHead(200, { 'x-large': 'a'.repeat(200_000) }).end('{}');
    expect(await bench.read('http://shop.example/')).toBe('page_too_large');
    bench.behaves = (_request, response) => {
      for (let name = 0; name < 1_500; name += 1) response.setHeader(`x-${name}`, 'a'.repeat(50));
      response.end('{}');
    };
    expect(await bench.read('http://shop.example/')).toBe('page_too_large');
  });

  test('that is no HTTP, or two answers in one, is none', async () => {
    const raw =
      (bytes: string): RequestListener =>
      (request) =>
        void request.socket.end(bytes);
    bench.behaves = raw('+PONG\r\n+OK\r\n');
    expect(await bench.read('http://shop.example/')).toBe('network');
    bench.behaves = raw('HTTP/1.1 200 OK\r\ncontent-length: 5\r\ncontent-length: 90\r\n\r\n{"pro');
    expect(await bench.read('http://shop.example/')).toBe('network');
    bench.behaves = raw(
      'HTTP/1.1 200 OK\r\ncontent-length: 2\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n',
    );
    expect(await bench.read('http://shop.example/')).toMatch(/network|page_/);
  });

  test('whose JSON is deep or large is none of our trouble', async () => {
    bench.behaves = (_request, response) => void response.end('['.repeat(400_000));
    expect(await bench.read('http://shop.example/')).toBe('page_unreadable');
    bench.behaves = (_request, response) =>
      void response.end(
        `{"products":[{"id":1,"__proto__":{"polluted":true},"constructor":{"prototype":{"polluted":true}}}]}`,
      );
    expect(await bench.read('http://shop.example/')).toBe('1 products');
    expect(({} as { polluted?: boolean }).polluted).toBeUndefined();
  });
});
