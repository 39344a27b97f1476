import { randomBytes } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { Readable } from 'node:stream';
import { gzipSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import { contentLength, hasBody, readBody, streamBody } from './body.ts';

/** Creates a request whose body arrives in pieces. */
const requestOf = (headers: Record<string, string>, ...pieces: (string | Buffer | Error)[]) => {
  async function* arriving() {
    for (const piece of pieces) {
      if (piece instanceof Error) throw piece;
      yield Buffer.from(piece);
    }
  }
  return Object.assign(Readable.from(arriving()), { headers }) as unknown as IncomingMessage;
};

/** Reads a body and counts the calls of writeContinue(). */
async function read(request: IncomingMessage, limit = 1_000) {
  let continued = 0;
  const response = { writeContinue: () => (continued += 1) } as unknown as ServerResponse;
  const body = await readBody(request, response, limit);
  return { text: body.toString(), body, continued };
}

const zipped = { 'content-encoding': 'gzip' };
const reset = new Error('ECONNRESET');

test.each([
  [{}, 0, false],
  [{ 'content-length': '0' }, 0, false],
  [{ 'content-length': '7' }, 7, true],
  [{ 'transfer-encoding': 'chunked' }, 0, true],
])('hasBody() and contentLength() of %j', (headers, length, has) => {
  const request = requestOf(headers);
  expect([contentLength(request), hasBody(request)]).toEqual([length, has]);
});

describe('readBody()', () => {
  test.each([
    ['no piece', []],
    ['one piece', ['one']],
    ['several pieces', ['on', 'e', 'two']],
  ])('reads a body of %s', async (_what, pieces) => {
    expect(await read(requestOf({}, ...pieces))).toMatchObject({
      text: pieces.join(''),
      continued: 0,
    });
    expect((await read(requestOf({ 'content-encoding': 'identity' }, ...pieces))).text).toBe(
      pieces.join(''),
    );
  });

  test.each(['gzip', 'GZIP', 'x-gzip'])('reads the content encoding %s', async (encoding) => {
    const request = requestOf({ 'content-encoding': encoding }, gzipSync('zipped'));
    expect((await read(request)).text).toBe('zipped');
  });

  test.each([
    ['1.1', 1],
    ['1.0', 0],
  ])(
    'sends 100 Continue to a waiting client of HTTP/%s %i times',
    async (httpVersion, continued) => {
      const request = Object.assign(requestOf({ expect: '100-continue' }, 'body'), { httpVersion });
      expect(await read(request)).toMatchObject({ text: 'body', continued });
    },
  );

  test('reads gzip in many pieces that arrive faster than they are decompressed', async () => {
    const body = randomBytes(2_000_000);
    const bytes = gzipSync(body);
    const pieces = Array.from({ length: 20 }, (_, at) =>
      bytes.subarray(at * 101_000, (at + 1) * 101_000),
    );
    const warnings: Error[] = [];
    const warned = (warning: Error) => warnings.push(warning);
    process.on('warning', warned);
    expect((await read(requestOf(zipped, ...pieces), 3_000_000)).body.equals(body)).toBe(true);
    process.off('warning', warned);
    expect(warnings).toEqual([]);
  });

  test('sends 100 Continue once', async () => {
    const request = requestOf({ expect: '100-continue' }, 'x');
    expect(await read(request)).toMatchObject({ text: 'x', continued: 1 });
    expect(request.headers.expect).toBeUndefined();
  });

  test('rejects an unsupported content encoding', async () => {
    await expect(read(requestOf({ 'content-encoding': 'br' }, 'x'))).rejects.toMatchObject({
      code: 'unsupported_media',
      message: expect.stringContaining('Content-Encoding br'),
    });
  });

  const tooLarge = { code: 'too_large', message: expect.stringContaining('larger than 10 bytes') };

  test('rejects a declared length over the limit before reading', async () => {
    const request = requestOf({ 'content-length': '11', expect: '100-continue' }, 'x');
    await expect(read(request, 10)).rejects.toMatchObject(tooLarge);
    expect(request.readableDidRead).toBe(false);
    expect(request.headers.expect).toBe('100-continue');
    expect(
      (await read(requestOf({ 'content-length': '10' }, 'x'.repeat(10)), 10)).text,
    ).toHaveLength(10);
  });

  test('rejects more bytes than the limit and leaves the connection open for the response', async () => {
    const request = requestOf({}, 'x'.repeat(10), 'x');
    await expect(read(request, 10)).rejects.toMatchObject(tooLarge);
    expect(request.destroyed).toBe(false);
  });

  test('limits the body before and after decompression', async () => {
    const half = randomBytes(10);
    await expect(read(requestOf(zipped, gzipSync(half)), 10)).rejects.toMatchObject(tooLarge);
    expect((await read(requestOf(zipped, gzipSync(half)), 40)).body.equals(half)).toBe(true);
    await expect(
      read(requestOf(zipped, gzipSync(Buffer.alloc(1_001))), 1_000),
    ).rejects.toMatchObject({
      code: 'too_large',
    });
    expect((await read(requestOf(zipped, gzipSync(Buffer.alloc(1_000))), 1_000)).body).toHaveLength(
      1_000,
    );
  });

  test.each([
    ['is no gzip', [Buffer.alloc(100, 'x'), Buffer.alloc(100, 'x')]],
    ['ends too early', [gzipSync('a body').subarray(0, 20)]],
  ])('rejects gzip that %s', async (_what, pieces) => {
    await expect(read(requestOf(zipped, ...pieces))).rejects.toMatchObject({
      code: 'malformed',
      message: 'The body is not valid gzip',
    });
  });

  test.each([
    ['as it is', {}],
    ['as gzip', zipped],
  ])('reports a truncated body sent %s', async (_how, headers) => {
    const start = gzipSync('a body').subarray(0, 15);
    await expect(read(requestOf(headers, start, reset))).rejects.toMatchObject({
      code: 'malformed',
      message: 'The body ended before its end',
    });
  });
});

test('streamBody() yields each piece as it arrives', async () => {
  const response = {} as unknown as ServerResponse;
  const pieces = await Array.fromAsync(streamBody(requestOf({}, 'a', 'b'), response, 2));
  expect(pieces.map(String)).toEqual(['a', 'b']);
});
