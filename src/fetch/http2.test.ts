import http2 from 'node:http2';
import https from 'node:https';
import type { AddressInfo, Socket } from 'node:net';
import tls from 'node:tls';
import zlib from 'node:zlib';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { certificate, trustCertificate } from '../../test/support/servers/certificate.ts';
import { systemClock } from '../base/clock.ts';
import { createLog } from '../base/log.ts';
import { parseOrigins } from '../base/origins.ts';
import { policyOfMarket } from '../markets/lookup.ts';
import { openSqliteStore } from '../store/sqlite/open.ts';
import { createHttpFetcher, type Fetcher, type FetchLimits } from './http.ts';
import { createOriginScheduler } from './origin-scheduler.ts';

trustCertificate();

const { constants } = http2;
const text = 'x'.repeat(100_000);
const clock = systemClock;
const log = createLog('silent', 'test');

/** An https site with HTTP/2 whose responses depend on the path only. */
let site: http2.Http2SecureServer;
let address: string;
let sessions: http2.ServerHttp2Session[];
let sockets: Socket[];
/** Headers of the received requests. */
let requests: http2.IncomingHttpHeaders[];
let open: number;
/** Maximum concurrent requests. */
let maxOpen: number;
/** Sends the responses of /held. */
let release: () => void;
let stops: (() => Promise<unknown> | unknown)[];

function respond(stream: http2.ServerHttp2Stream, headers: http2.IncomingHttpHeaders): unknown {
  const session = stream.session!;
  const send = (body: Buffer | string, fields: http2.OutgoingHttpHeaders = {}) => {
    stream.respond({ ':status': 200, ...fields });
    stream.end(body);
  };
  switch (headers[':path']) {
    case '/gzip':
      return send(zlib.gzipSync(text), { 'content-encoding': 'gzip' });
    case '/br':
      return send(zlib.brotliCompressSync(text), { 'content-encoding': 'br' });
    case '/zstd':
      return send(zlib.zstdCompressSync(text), { 'content-encoding': 'zstd' });
    case '/bomb':
      return send(zlib.gzipSync(Buffer.alloc(5_000_000)), { 'content-encoding': 'gzip' });
    case '/large':
      return send(text);
    case '/endless':
      stream.respond({ ':status': 200 });
      stream.on('drain', () => stream.write(text));
      return stream.write(text);
    case '/headers':
      return send('x', { 'x-long': 'y'.repeat(30_000) });
    case '/large-headers':
      return send(
        'x',
        Object.fromEntries(Array.from({ length: 40 }, (_, at) => [`x-${at}`, 'y'.repeat(2_000)])),
      );
    case '/many-headers':
      return send(
        'x',
        Object.fromEntries(Array.from({ length: 5_000 }, (_, at) => [`x-${at}`, 'y'])),
      );
    case '/held':
      return held.promise.then(() => stream.destroyed || send('held'));
    case '/silent':
      return undefined;
    case '/stall':
      stream.respond({ ':status': 200 });
      return stream.write('begin');
    case '/cut':
      stream.respond({ ':status': 200, 'content-length': '1000' });
      return stream.write('short', () => stream.close(constants.NGHTTP2_NO_ERROR));
    case '/drop':
      stream.respond({ ':status': 200 });
      return stream.write('short', () => session.destroy());
    case '/refuse':
      return stream.close(constants.NGHTTP2_REFUSED_STREAM);
    case '/refuse-once':
      if (requests.filter(({ ':path': path }) => path === '/refuse-once').length > 1)
        return send('taken');
      return stream.close(constants.NGHTTP2_REFUSED_STREAM);
    case '/leave':
      session.goaway(constants.NGHTTP2_NO_ERROR, stream.id);
      return held.promise.then(() => send('before I go'));
    case '/away':
      return session.goaway(constants.NGHTTP2_ENHANCE_YOUR_CALM, 0);
    default:
      return send('hello', { 'set-cookie': ['visitor=7', 'step=1'], 'x-many': ['a', 'b'] });
  }
}

let held: PromiseWithResolvers<void>;

async function listening(server: tls.Server): Promise<string> {
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  stops.push(() => new Promise((done) => server.close(done)));
  return `https://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

beforeEach(async () => {
  [sessions, sockets, requests, stops, open, maxOpen] = [[], [], [], [], 0, 0];
  held = Promise.withResolvers();
  release = held.resolve;
  const settings = { maxSendHeaderBlockLength: 1024 * 1024, peerMaxHeaderListSize: 1024 * 1024 };
  site = http2.createSecureServer({ ...certificate, ...settings, allowHTTP1: true });
  site.on('connection', (socket: Socket) => sockets.push(socket));
  site.on('session', (session) => {
    sessions.push(session);
    session.on('error', () => {});
  });
  site.on('stream', (stream, headers) => {
    requests.push(headers);
    open += 1;
    maxOpen = Math.max(maxOpen, open);
    stream.on('error', () => {});
    stream.on('close', () => {
      open -= 1;
    });
    respond(stream, headers);
  });
  address = await listening(site);
});

afterEach(async () => {
  release();
  const [closeSite, ...others] = stops;
  for (const stop of others) await stop();
  // A connection can get its session after the test: destroying sessions would miss it.
  for (const socket of sockets) socket.destroy();
  await closeSite!();
});

function fetcher(limits: Partial<FetchLimits> = {}, to = address): Fetcher {
  const made = createHttpFetcher({
    origins: parseOrigins(JSON.stringify({ mkta: { sg: to } })),
    clock,
    log,
    userAgent: 'Gleaner/test',
    limits,
    resolve: (_host, _options, callback) => callback(null, [{ address: '127.0.0.1', family: 4 }]),
  });
  stops.push(made.close);
  return made;
}

const pages = (limits: Partial<FetchLimits> = {}) => {
  const fetch = fetcher(limits).for('mkta', 'sg');
  return (path: string) => fetch({ path });
};

describe('a site with HTTP/2', () => {
  test('receives the same headers as over HTTP/1.1, and its response is returned', async () => {
    const fetch = fetcher().for('mkta', 'sg');
    const headers = { accept: '*/*', 'accept-language': 'en' };
    const { status, headers: received, body } = await fetch({ path: '/a?b=1', headers });
    expect([status, body.toString(), received['x-many']]).toEqual([200, 'hello', 'a, b']);
    expect(received['set-cookie']).toBeUndefined();
    await fetch({ path: '/a', method: 'POST', body: '{}', headers });
    const defaults = {
      'user-agent': 'Gleaner/test',
      'accept-encoding': 'gzip, deflate, br, zstd',
      ...headers,
    };
    const common = { ':scheme': 'https', ':authority': new URL(address).host, ...defaults };
    expect(requests.map((request) => Object.fromEntries(Object.entries(request)))).toEqual([
      { ...common, ':method': 'GET', ':path': '/a?b=1' },
      {
        ...common,
        ':method': 'POST',
        ':path': '/a',
        cookie: 'visitor=7; step=1',
        'content-length': '2',
      },
    ]);
  });

  test.each(['gzip', 'br', 'zstd'])('may use the encoding %s', async (encoding) => {
    expect((await pages()(`/${encoding}`)).body.toString()).toBe(text);
  });

  test('receives concurrent requests on one connection, up to the concurrency of its origin', async () => {
    const store = openSqliteStore({ path: ':memory:' });
    const settings = { sg: address, concurrency: 5, requests_per_second: 10_000 };
    const origins = parseOrigins(JSON.stringify({ mkta: settings }));
    const made = createHttpFetcher({ origins, clock, log, userAgent: 'Gleaner/test' });
    const scheduler = createOriginScheduler({
      policyOf: policyOfMarket,
      fetcher: made,
      origins,
      store,
      clock,
      log,
      userAgent: 'Gleaner/test',
    });
    const all = Array.from({ length: 40 }, (_, at) =>
      scheduler.openSession('mkta', 'sg').fetch({ path: `/${at}` }),
    );
    const bodies = (await Promise.all(all)).map(({ body }) => body.toString());
    expect(bodies).toEqual(Array(40).fill('hello'));
    expect(maxOpen).toBeGreaterThan(1);
    expect(maxOpen).toBeLessThanOrEqual(5);
    expect(sessions.length).toBe(1);
    await scheduler.close();
    await made.close();
    await store.close();
  });

  test('keeps other requests when one is aborted', async () => {
    const fetch = fetcher();
    const stop = new AbortController();
    const stopped = fetch.for('mkta', 'sg', stop.signal)({ path: '/held' });
    const other = fetch.for('mkta', 'sg')({ path: '/held' });
    await expect.poll(() => open).toBe(2);
    stop.abort(new Error('enough'));
    await expect(stopped).rejects.toThrow('enough');
    await expect.poll(() => open).toBe(1);
    release();
    expect((await other).body.toString()).toBe('held');
    expect(sessions.length).toBe(1);
  });
});

describe('a limit over HTTP/2', () => {
  test.each([
    ['encoded bytes', '/large', { wireBytes: 50_000 }, 'larger than 50000'],
    ['an endless body', '/endless', { wireBytes: 1_000_000 }, 'larger than 1000000'],
    ['decoded bytes', '/bomb', { bytes: 1_000_000 }, 'larger than 1000000'],
  ])('applies to %s', async (_what, path, limits, words) => {
    const page = pages(limits);
    const other = page('/held');
    await expect(page(path)).rejects.toMatchObject({
      code: 'page_too_large',
      message: expect.stringContaining(words),
    });
    release();
    expect((await other).body.toString()).toBe('held');
  });

  test('applies to headers: 64 KB, and 128 of them', async () => {
    const page = pages();
    expect((await page('/headers')).headers['x-long']).toHaveLength(30_000);
    await expect(page('/large-headers')).rejects.toMatchObject({
      code: 'page_too_large',
      message: 'the headers of the response are too large',
    });
    await expect(page('/many-headers')).rejects.toMatchObject({ code: 'network' });
    expect((await page('/')).status).toBe(200);
  });

  test.each([
    ['a response that does not start', '/silent', 'did not start in time'],
    ['a response that stalls', '/stall', 'stalled'],
  ])('applies to %s', async (_what, path, words) => {
    await expect(pages({ idleMs: 50 })(path)).rejects.toMatchObject({
      code: 'page_timeout',
      message: expect.stringContaining(words),
    });
  });

  test('applies to the total duration', async () => {
    await expect(pages({ totalMs: 50 })('/silent')).rejects.toMatchObject({
      code: 'page_timeout',
      message: 'the page took longer than 50 ms',
    });
  });
});

describe('a failing HTTP/2 site', () => {
  test.each([
    ['truncates a page', '/cut'],
    ['drops the connection', '/drop'],
    ['refuses the request', '/refuse'],
    ['closes the session with ENHANCE_YOUR_CALM', '/away', 'page_throttled'],
  ])(
    'causes a fault if it %s, and the next request succeeds',
    async (_how, path, code = 'network') => {
      const page = pages();
      await expect(page(path)).rejects.toMatchObject({ code });
      expect((await page('/')).body.toString()).toBe('hello');
    },
  );

  test('receives a request that it refused unprocessed once more', async () => {
    const page = pages();
    expect((await page('/refuse-once')).body.toString()).toBe('taken');
    await expect(page('/refuse')).rejects.toMatchObject({ code: 'network' });
    expect(requests.map(({ ':path': path }) => path)).toEqual(
      Array(2).fill('/refuse-once').concat(Array(2).fill('/refuse')),
    );
  });

  test('completes its accepted requests after GOAWAY, and the others use a new connection', async () => {
    const page = pages();
    expect((await page('/')).status).toBe(200);
    const taken = page('/leave');
    await expect.poll(() => requests.length).toBe(2);
    const rest = await Promise.all(Array.from({ length: 10 }, () => page('/')));
    expect(rest.map(({ body }) => body.toString())).toEqual(Array(10).fill('hello'));
    release();
    expect((await taken).body.toString()).toBe('before I go');
    expect(sessions.length).toBe(2);
    expect(requests.length).toBe(12);
  });

  test.each([
    ['uses another protocol', Buffer.from('HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nhi')],
    // Each frame starts with nine bytes: length, type, flags, and stream.
    [
      'pushes an unrequested response',
      Buffer.from('000000040000000000' + '000005050400000001' + '0000000288', 'hex'),
    ],
    ['sends an endless frame', Buffer.from('000000040000000000' + 'ffffff000000000001', 'hex')],
    ['allows no streams', Buffer.from('000006040000000000' + '000300000000', 'hex')],
  ])('causes a fault in time if it %s', async (_what, reply) => {
    const odd = tls.createServer({ ...certificate, ALPNProtocols: ['h2'] }, (socket) => {
      socket.on('error', () => {});
      socket.once('data', () => socket.write(reply));
    });
    const page = fetcher({ idleMs: 100, totalMs: 500 }, await listening(odd)).for('mkta', 'sg');
    const faults = await Promise.all(
      [1, 2, 3].map(() => page({ path: '/' }).catch(({ code }) => code)),
    );
    for (const code of faults) expect(['network', 'page_timeout']).toContain(code);
  });
});

test('a site without HTTP/2 receives HTTP/1.1 requests', async () => {
  const versions: string[] = [];
  const old = https.createServer(certificate, (request, response) => {
    versions.push(request.httpVersion);
    response.end('old');
  });
  stops.push(() => old.closeAllConnections());
  const fetch = fetcher({}, await listening(old)).for('mkta', 'sg');
  const all = await Promise.all(Array.from({ length: 6 }, () => fetch({ path: '/' })));
  expect(all.map(({ body }) => body.toString())).toEqual(Array(6).fill('old'));
  expect(versions).toEqual(Array(6).fill('1.1'));
});

test('the address of a store is checked before any data is sent', async () => {
  const fetch = fetcher().for('mktf', '');
  const port = new URL(address).port;
  for (const host of ['shop.example', '127.0.0.1']) {
    await expect(fetch({ path: '/', origin: `https://${host}:${port}` })).rejects.toMatchObject({
      code: 'address_refused',
    });
  }
  expect(sessions).toEqual([]);
});
