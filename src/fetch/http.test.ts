import http from 'node:http';
import type { AddressInfo } from 'node:net';
import zlib from 'node:zlib';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createLog } from '../base/log.ts';
import { parseOrigins } from '../base/origins.ts';
import { followRedirects } from './fetch-session.ts';
import { createHttpFetcher, type Fetcher, type FetchLimits } from './http.ts';
import type { PageRequest } from './page.ts';
import { createPageMemory } from './page-memory.ts';

const text = 'x'.repeat(100_000);
const seen: http.IncomingMessage[] = [];
const clock = { now: () => 1234, steady: () => 1234, sleep: async () => {} };

/** A server whose responses depend on the path only. */
const server = http.createServer((request, response) => {
  seen.push(request);
  const url = new URL(request.url!, 'http://here');
  const send = (body: Buffer | string, headers: http.OutgoingHttpHeaders = {}) =>
    response.writeHead(200, headers).end(body);
  switch (url.pathname) {
    case '/gzip':
      return send(zlib.gzipSync(text), { 'content-encoding': 'gzip' });
    case '/br':
      return send(zlib.brotliCompressSync(text), { 'content-encoding': 'br' });
    case '/zstd':
      return send(zlib.zstdCompressSync(text), { 'content-encoding': 'zstd' });
    case '/deflate':
      return send(zlib.deflateSync(text), { 'content-encoding': 'deflate' });
    case '/deflate-raw':
      return send(zlib.deflateRawSync(text), { 'content-encoding': 'deflate' });
    case '/twice':
      return send(zlib.brotliCompressSync(zlib.gzipSync(text)), { 'content-encoding': 'gzip, br' });
    case '/gzip-cut':
      return send(zlib.gzipSync(text).subarray(0, 60), { 'content-encoding': 'gzip' });
    case '/odd':
      return send('x', { 'content-encoding': 'rot13' });
    case '/large':
      return send(text);
    case '/bomb':
      return send(zlib.gzipSync(Buffer.alloc(5_000_000)), { 'content-encoding': 'gzip' });
    case '/drip':
    case '/slow': {
      const piece = url.pathname === '/drip' ? 'x' : 'x'.repeat(500);
      let left = 30;
      response.writeHead(200);
      const timer = setInterval(() => (left-- > 0 ? response.write(piece) : response.end()), 20);
      return void response.on('close', () => clearInterval(timer));
    }
    case '/stall':
      return void response.writeHead(200).write('begin');
    case '/silent':
      return undefined;
    case '/drop':
      return void request.socket.destroy();
    case '/reset':
      return void request.socket.resetAndDestroy();
    case '/cut': {
      response.writeHead(200, { 'content-length': '1000' });
      return void response.write('short', () => request.socket.destroy());
    }
    case '/cut-chunked':
      return void response.writeHead(200).write('short', () => request.socket.destroy());
    case '/garbage':
      return void request.socket.end('this is not HTTP\r\n\r\n');
    case '/refused':
      return void response.writeHead(403, { 'x-many': ['a', 'b'] }).end('no');
    case '/to': {
      const status = Number(url.searchParams.get('status') ?? 302);
      return void response.writeHead(status, { location: url.searchParams.get('url')! }).end();
    }
    case '/cookies':
      return send('welcome', {
        'set-cookie': ['visitor=7; Path=/; Expires=Wed, 01 Jan 2098 00:00:00 GMT', 'step=1'],
      });
    case '/loop':
      return void response.writeHead(302, { location: '/loop' }).end();
    default:
      return send(`${request.method} ${request.url}`);
  }
});

let address: string;
const fetchers: Fetcher[] = [];

function fetcher(
  limits: Partial<FetchLimits> = {},
  allowPrivate = true,
  maxPageBytes?: (market: string) => number,
): Fetcher {
  const made = createHttpFetcher({
    origins: parseOrigins(
      JSON.stringify({
        mkta: { sg: address, id: 'http://127.0.0.1:1' },
        mktf: { allow_private: allowPrivate },
      }),
    ),
    clock,
    log: createLog('silent', 'test'),
    userAgent: 'Gleaner/test',
    limits,
    ...(maxPageBytes ? { maxPageBytes } : {}),
    resolve: (_host, _options, callback) => callback(null, [{ address: '127.0.0.1', family: 4 }]),
  });
  fetchers.push(made);
  return made;
}

const following = (market: string, region: string) =>
  followRedirects(fetcher().for(market, region));

const get = (path: string, limits: Partial<FetchLimits> = {}) =>
  fetcher(limits).for('mkta', 'sg')({ path });

beforeAll(async () => {
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  address = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});

afterAll(async () => {
  await Promise.all(fetchers.map((one) => one.close()));
  server.closeAllConnections();
  await new Promise((done) => server.close(done));
});

describe('a response', () => {
  test('is returned with lower-case headers, time, and URL, whatever its status', async () => {
    expect(await get('/refused?a=1')).toMatchObject({
      status: 403,
      headers: { 'x-many': 'a, b' },
      body: Buffer.from('no'),
      url: `${address}/refused?a=1`,
      at: 1234,
    });
  });

  test.each(['gzip', 'br', 'zstd', 'deflate', 'deflate-raw', 'twice'])(
    'is decoded: %s',
    async (encoding) => {
      expect((await get(`/${encoding}`)).body.toString()).toBe(text);
    },
  );

  test.each(['large', 'gzip'])('is rejected beyond the limit of its market: %s', async (path) => {
    const limit = (market: string) => (market === 'mkta' ? text.length - 1 : text.length);
    const fetch = fetcher({}, true, limit);
    await expect(fetch.for('mkta', 'sg')({ path: `/${path}` })).rejects.toMatchObject({
      code: 'page_too_large',
    });
    const store = await fetch.for('mktf', '')({ origin: address, path: `/${path}` });
    expect(store.body).toHaveLength(text.length);
  });

  test('is aborted long before the total timeout if it arrives too slowly', async () => {
    const limits = { totalMs: 60_000, idleMs: 30_000, slowMs: 100, minBytesPerSecond: 1_000 };
    await expect(get('/drip', limits)).rejects.toMatchObject({
      code: 'page_timeout',
      message: 'the page arrived at less than 1000 bytes per second',
    });
    expect((await get('/slow', limits)).body).toHaveLength(15_000);
  });

  test('reserves memory before it is decoded, and keeps only its decoded size', async () => {
    const memory = createPageMemory({ maxBytes: 150_000, clock });
    const fetch = fetcher({}, true, () => 120_000);
    const [one, other, third] = [memory.share(), memory.share(), memory.share()];
    await fetch.for('mkta', 'sg', undefined, one)({ path: '/gzip' });
    // 100,000 of 150,000 bytes are reserved: 50,000 more fit, but not an encoded page of up to
    // 120,000.
    await other.reserve(50_000);
    other.release();
    let isFetched = false;
    const waiting = fetch
      .for(
        'mkta',
        'sg',
        undefined,
        third,
      )({ path: '/gzip' })
      .then(() => {
        isFetched = true;
      });
    await get('/large');
    expect(isFetched).toBe(false);
    one.release();
    await waiting;
  });

  test('uses a persistent connection', async () => {
    let connections = 0;
    const count = () => {
      connections += 1;
    };
    server.on('connection', count);
    const page = fetcher().for('mkta', 'sg');
    for (let turn = 0; turn < 20; turn += 1) await page({ path: '/ok' });
    server.off('connection', count);
    // A request may start while the first connection is still busy with the end of the previous
    // response.
    expect(connections).toBeLessThanOrEqual(2);
  });

  test('is requested with its method, body, and headers and an honest User-Agent, without cookies', async () => {
    const response = await fetcher().for(
      'mkta',
      'sg',
    )({ path: '/echo', method: 'POST', body: '{}', headers: { 'x-a': 'b' } });
    expect(response.body.toString()).toBe('POST /echo');
    const { headers } = seen.findLast(({ url }) => url === '/echo')!;
    expect(headers).toMatchObject({
      'user-agent': 'Gleaner/test',
      'x-a': 'b',
      'content-length': '2',
    });
    expect(headers).not.toHaveProperty('cookie');
  });
});

describe('a failed request', () => {
  test.each([
    ['/drop', 'network'],
    ['/reset', 'network'],
    ['/cut', 'network'],
    ['/cut-chunked', 'network'],
    ['/gzip-cut', 'network'],
    ['/odd', 'network'],
    ['/garbage', 'network'],
  ])('rejects a request to %s with %s', async (path, code) => {
    await expect(get(path)).rejects.toMatchObject({ code });
  });

  test('is rejected if its body is too large, encoded or decoded', async () => {
    await expect(get('/large', { wireBytes: 99_999 })).rejects.toMatchObject({
      code: 'page_too_large',
    });
    await expect(get('/bomb', { bytes: 1_000_000 })).rejects.toMatchObject({
      code: 'page_too_large',
    });
    expect((await get('/large', { wireBytes: 100_000 })).body).toHaveLength(100_000);
  });

  test.each(['/stall', '/silent'])(
    'rejects a request to %s after the idle timeout or the total timeout',
    async (path) => {
      await expect(get(path, { idleMs: 60 })).rejects.toMatchObject({ code: 'page_timeout' });
      await expect(get(path, { totalMs: 60 })).rejects.toMatchObject({
        code: 'page_timeout',
        message: expect.stringContaining('60 ms'),
      });
    },
  );

  test('names the region of a refused connection and of a missing origin', async () => {
    await expect(fetcher().for('mkta', 'id')({ path: '/' })).rejects.toMatchObject({
      code: 'network',
      message: 'mkta/id: the connection was refused',
    });
    await expect(fetcher().for('mkta', 'th')({ path: '/' })).rejects.toMatchObject({
      code: 'origin_missing',
      message: expect.stringMatching(
        /^no origin is configured for mkta\/th: .*"mkta": \{"th": .*GLEANER_ORIGINS/,
      ),
    });
  });

  test('is rejected with the reason of a signal that is aborted before or during the request', async () => {
    const reason = new Error('stopping');
    const controller = new AbortController();
    const page = fetcher().for('mkta', 'sg', controller.signal);
    const pending = page({ path: '/silent' });
    controller.abort(reason);
    await expect(pending).rejects.toBe(reason);
    await expect(page({ path: '/' })).rejects.toBe(reason);
  });
});

describe('followRedirects()', () => {
  const to = (url: string, status = 302) => `/to?status=${status}&url=${encodeURIComponent(url)}`;

  test('is separate from the fetcher, which returns redirects', async () => {
    expect(await get(to('/end'))).toMatchObject({ status: 302, headers: { location: '/end' } });
  });

  test('follows up to three redirects on the same origin', async () => {
    const page = following('mkta', 'sg');
    expect(await page({ path: to(to('/end?x=1')), redirects: 'same_origin' })).toMatchObject({
      status: 200,
      body: Buffer.from('GET /end?x=1'),
      url: `${address}/end?x=1`,
    });
    expect(await page({ path: '/loop', redirects: 'same_origin' })).toMatchObject({ status: 302 });
  });

  test('keeps the method and the body for statuses 307 and 308 only', async () => {
    const page = following('mkta', 'sg');
    const post: PageRequest = { path: '', method: 'POST', body: 'b', redirects: 'same_origin' };
    expect((await page({ ...post, path: to('/end', 307) })).body.toString()).toBe('POST /end');
    expect((await page({ ...post, path: to('/end', 303) })).body.toString()).toBe('GET /end');
  });

  test('never leaves a configured origin', async () => {
    const away = to('http://localhost:1/');
    expect(await following('mkta', 'sg')({ path: away, redirects: 'anywhere' })).toMatchObject({
      status: 302,
    });
  });

  test('leaves a configured origin for a robots.txt, but not for a private address', async () => {
    const other = `${address.replace('127.0.0.1', 'localhost')}/end`;
    await expect(
      following('mkta', 'sg')({ path: to(other), redirects: 'robots_file' }),
    ).rejects.toMatchObject({ code: 'address_refused' });
    expect(
      await following('mkta', 'sg')({ path: to('/end'), redirects: 'robots_file' }),
    ).toMatchObject({
      status: 200,
    });
  });

  test('follows a store to another host if the request allows it', async () => {
    const page = following('mktf', '');
    const other = `${address.replace('127.0.0.1', 'localhost')}/moved`;
    const response = await page({ origin: address, path: to(other), redirects: 'anywhere' });
    expect(response).toMatchObject({ status: 200, url: other });
    expect(
      await page({ origin: address, path: to(other), redirects: 'same_origin' }),
    ).toMatchObject({
      status: 302,
    });
    const within = (...hosts: string[]) => ({
      origin: address,
      path: to(other),
      redirects: ({ hostname }: URL) => hosts.includes(hostname),
    });
    expect(await page(within('localhost'))).toMatchObject({ status: 200, url: other });
    expect(await page(within('127.0.0.1'))).toMatchObject({ status: 302 });
  });
});

describe('a session', () => {
  const cookie = () => seen.at(-1)!.headers.cookie;

  test('returns cookies to their origin, and omits them from the response', async () => {
    const page = fetcher().for('mkta', 'sg');
    expect((await page({ path: '/cookies' })).headers).not.toHaveProperty('set-cookie');
    await page({ path: '/ok' });
    expect(cookie()).toBe('visitor=7; step=1');
    await page({ path: '/ok', headers: { cookie: 'own=1' } });
    expect(cookie()).toBe('own=1');
  });

  test('covers all pages of a market’s region until it is discarded', async () => {
    const one = fetcher();
    await one.for('mkta', 'sg')({ path: '/cookies' });
    await one.for('mkta', 'sg')({ path: '/ok' });
    expect(cookie()).toBe('visitor=7; step=1');
    one.discardSession('mkta', 'sg');
    await one.for('mkta', 'sg')({ path: '/ok' });
    expect(cookie()).toBeUndefined();
  });

  test('sends no cookies to another origin after a redirect', async () => {
    const page = following('mktf', '');
    const other = address.replace('127.0.0.1', 'localhost');
    await page({ origin: address, path: '/cookies' });
    const path = `/to?url=${encodeURIComponent(`${other}/ok`)}`;
    expect(await page({ origin: address, path, redirects: 'anywhere' })).toMatchObject({
      url: `${other}/ok`,
    });
    expect(cookie()).toBeUndefined();
    expect(seen.at(-2)!.headers.cookie).toBe('visitor=7; step=1');
  });
});

describe('a store named by a caller', () => {
  test('is refused on a private address, given by number or by name', async () => {
    const page = fetcher({}, false).for('mktf', '');
    const { port } = new URL(address);
    for (const origin of [
      address,
      `http://2130706433:${port}`,
      `http://[::1]:${port}`,
      `http://shop.example:${port}`,
    ]) {
      await expect(page({ origin, path: '/' })).rejects.toMatchObject({ code: 'address_refused' });
    }
  });

  test('is fetched from a private address if allow_private is set', async () => {
    expect(await fetcher().for('mktf', '')({ origin: address, path: '/ok' })).toMatchObject({
      status: 200,
    });
  });
});
