import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { mkta } from '../../sandbox/mkta/index.ts';
import { type RunningOrigins, startOrigins } from '../../sandbox/server.ts';
import type { BrowserFetcherOptions } from '../../src/fetch/browser/fetcher.ts';
import type { Fetcher } from '../../src/fetch/http.ts';
import type { PageRequest, PageResponse } from '../../src/fetch/page.ts';
import { mkta as market } from '../../src/markets/mkta/index.ts';
import { freePort } from '../support/servers/ports.ts';
import { browserFetcher, skipped } from './chromium.ts';

const html = { 'content-type': 'text/html; charset=utf-8' };
const dataPath = '/data?id=1';
const cacheable = { 'cache-control': 'max-age=600' };

/** 100 MB of zeros, compressed to 100 KB. */
const bomb = gzipSync(Buffer.alloc(100_000_000));

/** Requests of pages that never received a response. */
const open: ServerResponse[] = [];
let seen: IncomingMessage[];

/** A site with pages by path, which request `/data`. */
function respond(request: IncomingMessage, response: ServerResponse): void {
  seen.push(request);
  const { pathname, searchParams } = new URL(request.url!, 'http://here');
  const page = (code: string, body = 'Loading', headers: Record<string, string> = {}) =>
    response
      .writeHead(200, { ...html, ...headers })
      .end(
        `<!doctype html><html><head><title>page</title></head><body>${body}<script>${code}</script></body></html>`,
      );
  switch (pathname) {
    case '/data':
      return void response
        .writeHead(Number(searchParams.get('status') ?? 200), {
          'content-type': 'application/json',
          'x-many': ['a', 'b'],
          'set-cookie': 'data=1',
        })
        .end(
          JSON.stringify({ id: searchParams.get('id'), cookie: request.headers.cookie ?? null }),
        );
    case '/requests':
      return void page(`fetch('${dataPath}')`);
    case '/posts':
      return void page(`fetch('/data?id=2', { method: 'POST', body: '{}' })`);
    case '/requests-late':
      return void page(`setTimeout(() => fetch('${dataPath}'), 700)`);
    case '/requests-others-first':
      return void page(
        `fetch('/data?id=7').then(() => fetch('/other')).then(() => fetch('${dataPath}'))`,
      );
    case '/requests-refused':
      return void page(`fetch('${dataPath}&status=403')`);
    case '/requests-twice':
      return void page(`fetch('/lost').catch(() => fetch('${dataPath}'))`);
    case '/retries':
      return void page(`fetch('${dataPath}&status=500')
        .then(() => setTimeout(() => fetch('${dataPath}&again=1'), 300))`);
    case '/renews-token':
      return void page(`fetch('${dataPath}&status=401')
        .then(() => fetch('/other')).then(() => fetch('${dataPath}&again=1'))`);
    case '/repeats-errors':
      return void page(`setInterval(() => fetch('${dataPath}&status=503'), 250)`);
    case '/reads-no-body':
      return void page(`fetch('/data-long')`);
    case '/stops-reading':
      return void page(`
        const controller = new AbortController();
        fetch('/data-long', { signal: controller.signal }).then(() => controller.abort());`);
    case '/data-long':
      return void response
        .writeHead(200, { 'content-type': 'application/json' })
        .end(JSON.stringify({ text: 'x'.repeat(900_000) }));
    case '/moves-on':
      return void page(`fetch('${dataPath}').then((response) => { location.href = '/other'; })`);
    case '/requests-cut':
      return void page(`fetch('/data-cut' + location.search)`);
    case '/data-cut': {
      const length = searchParams.has('length') ? { 'content-length': '100' } : {};
      const type = searchParams.get('type') ?? 'application/json';
      return void response
        .writeHead(200, { 'content-type': type, ...length })
        .write('{"a": {"b": 1}', () => request.socket.destroy());
    }
    case '/requests-call':
      return void page(`fetch('/data-call' + location.search)`);
    case '/data-call':
      return void response
        .writeHead(200, { 'content-type': searchParams.get('type') ?? 'application/json' })
        .end('call({"a": 1});');
    case '/visitor':
      return void page(`fetch('${dataPath}')`, 'Welcome', { 'set-cookie': 'visitor=7; Path=/' });
    case '/heavy': {
      const many =
        '<img src="/a.png"><video src="/b.mp4" autoplay></video><link rel="icon" href="/c.ico">';
      const frames =
        '<iframe src="/inner"></iframe><iframe src="http://elsewhere.example/"></iframe>';
      return void page(
        `new Image().src = '/d.png'; fetch('${dataPath}')`,
        `<style>
        @font-face { font-family: f; src: url(/f.woff2); } body { font-family: f; background: url(/e.png); }
        </style>${many}${frames}`,
      );
    }
    case '/inner':
      return void response.writeHead(200, html).end('inner');
    case '/builds':
      return void page(
        `fetch('/data?id=3').then((response) => response.json()).then(({ id }) => {
          document.body.innerHTML = '<p id="made">Türöffner ' + id + ' 燈</p>';
        })`,
      );
    case '/never-quiet':
      return void page(`document.title = 'ready'; setInterval(() => fetch('/other'), 20)`);
    case '/streams':
      return void page(`new EventSource('/stream'); fetch('${dataPath}')`);
    case '/stream':
      return void open.push(response.writeHead(200, { 'content-type': 'text/event-stream' }));
    case '/meddles':
      return void page(`
        Object.defineProperty(document, 'documentElement', { get: () => ({ outerHTML: 'a lie' }) });
        HTMLElement.prototype.toString = () => 'a lie';`);
    case '/grows':
      return void page(`document.body.textContent = 'x'.repeat(3_000_000)`);
    case '/loads-much':
      return void page(`(async () => { for (;;) await fetch('/large').then((r) => r.text()); })()`);
    case '/large':
      return void response.writeHead(200, html).end('y'.repeat(500_000));
    case '/requests-large':
      return void page(`fetch('/data-large')`);
    case '/data-large':
      return void response.writeHead(200).end('z'.repeat(2_000_000));
    case '/requests-bomb':
      return void page(`fetch('/data-bomb')`);
    case '/data-bomb':
      return void response.writeHead(200, { ...html, 'content-encoding': 'gzip' }).end(bomb);
    case '/hop':
      return void response.writeHead(302, { location: searchParams.get('to')! }).end();
    case '/json':
      return void response
        .writeHead(200, { 'content-type': 'application/json' })
        .end('{"a":"<b>"}');
    case '/text':
      return void response
        .writeHead(200, { 'content-type': 'text/plain' })
        .end('User-agent: *\nDisallow:');
    case '/nothing':
      return void response.writeHead(204).end();
    case '/missing':
      return void response.writeHead(404, html).end('<title>Not found</title>');
    case '/moved':
      return void response.writeHead(302, { location: '/requests', 'set-cookie': 'moved=1' }).end();
    case '/leaves':
      return void response.writeHead(302, { location: 'http://elsewhere.example/' }).end();
    case '/script-leaves':
      return void page(`location.href = 'http://elsewhere.example/'`, 'Stay a while');
    case '/reaches':
      return void page(`
        const places = ['http://169.254.169.254/latest/meta-data', 'http://localhost:${otherPort}/secret',
          'http://127.0.0.1:${otherPort}/secret', 'http://[::1]:${otherPort}/secret', 'http://inside.example:${otherPort}/secret',
          '/hop?to=http://127.0.0.1:${otherPort}/secret', '/hop?to=http://inside.example:${otherPort}/secret'];
        Promise.allSettled(places.map((place) => fetch(place, { mode: 'no-cors' })))
          .then((results) => fetch('/data?id=' + results.filter(({ status }) => status === 'fulfilled').length))`);
    case '/many-cookies':
      return void page(`
        for (let at = 0; at < 3; at += 1) document.cookie = 'large' + at + '=' + 'x'.repeat(3_000);
        fetch('${dataPath}');`);
    case '/cached':
      return void page(`fetch('/cached-data')`, `visit ${seen.length}`, cacheable);
    case '/cached-elsewhere':
      return void page(`fetch('http://127.0.0.1:${otherPort}/secret')`);
    case '/cached-data':
      return void response.writeHead(200, { ...html, ...cacheable }).end(`request ${seen.length}`);
    case '/status': {
      const status = Number(searchParams.get('status'));
      const challenge = status === 401 ? { 'www-authenticate': 'Basic realm="shop"' } : {};
      return void response.writeHead(status, { ...html, 'retry-after': '9', ...challenge }).end();
    }
    case '/polls':
      return void page(
        `fetch('/other'); setInterval(() => fetch('/other'), 100)`,
        'Are you a robot?',
      );
    case '/polls-long':
      return void page(`fetch('/stream')`, 'Are you a robot?');
    case '/works':
      return void page(
        `new Worker(URL.createObjectURL(new Blob(['setInterval(() => {}, 100)'])))`,
        'Worker',
      );
    case '/late-price':
      return void page(`setTimeout(() => { document.body.append('Price: 12.50'); }, 1_500)`);
    case '/shadows':
      return void page(
        `const open = document.querySelector('shop-card').attachShadow({ mode: 'open' });
        open.innerHTML = '<h2>Shown</h2><shop-price></shop-price><slot></slot>';
        open.querySelector('shop-price').attachShadow({ mode: 'open' }).innerHTML = '<b>9.50</b>';
        document.querySelector('shop-secret').attachShadow({ mode: 'closed' }).innerHTML = 'hidden';`,
        '<shop-card><i>light</i></shop-card><template><u>later</u></template><shop-secret></shop-secret>',
      );
    case '/waits-for-script':
      return void response
        .writeHead(200, html)
        .end('<title>page</title><script src="/silent.js"></script><p>Product</p>');
    case '/silent.js':
      return void open.push(response);
    case '/datagrams':
      return void page(`
        const connection = new RTCPeerConnection({ iceServers: [{ urls: 'stun:127.0.0.1:${datagramPort}' }] });
        connection.onicegatheringstatechange = () => {
          if (connection.iceGatheringState === 'complete') fetch('${dataPath}');
        };
        connection.createDataChannel('data');
        connection.setLocalDescription();`);
    case '/silent':
      return void open.push(response);
    case '/stall':
      return void open.push(response.writeHead(200, { ...html, 'content-length': 100 }));
    case '/drop':
    case '/lost':
      return void request.socket.destroy();
    case '/cut':
      return void response
        .writeHead(200, { ...html, 'content-length': 100 })
        .write('<p>half', () => request.socket.destroy());
    default:
      return void response.writeHead(200, html).end('other');
  }
}

const server = createServer(respond);
/** A server in the internal network, which no page may reach. */
let reached = 0;
const inside = createServer((_request, response) => {
  reached += 1;
  response
    .writeHead(200, { 'access-control-allow-origin': '*', ...cacheable })
    .end(`secret ${reached}`);
});
let otherPort: number;
/** Receives datagrams, which no page may send. */
const datagrams = createSocket('udp4');
let datagramPort: number;
let datagramCount = 0;
datagrams.on('message', () => {
  datagramCount += 1;
});
let closedPort: number;
let origin: string;
/** A shop with defective pages. */
let shop: RunningOrigins;
/** A timeout that is never reached. */
let fetcher: Fetcher;
/** Gives up soon on a page that does not become complete. */
let hastyFetcher: Fetcher;

async function listen(which: typeof server): Promise<number> {
  which.listen(0, '127.0.0.1');
  await once(which, 'listening');
  return (which.address() as AddressInfo).port;
}

const sites = () => ({
  ...shop.config,
  mktb: { id: origin, sg: origin, closed: `http://127.0.0.1:${closedPort}` },
  mktf: {},
});

/** Creates a fetcher that resolves every name to this machine. */
const newFetcher = (
  limits: BrowserFetcherOptions['limits'],
  more: Pick<BrowserFetcherOptions, 'onDefect'> = {},
): Fetcher =>
  browserFetcher(
    sites(),
    { quietMs: 100, ...limits },
    {
      resolve: (_host, _options, callback) => callback(null, [{ address: '127.0.0.1', family: 4 }]),
      ...more,
    },
  );

/** Closes a fetcher, and with it its browser, at the end of the test. */
function closeAfterTest(one: Fetcher): Fetcher {
  onTestFinished(() => one.close());
  return one;
}

const responseOf = (path: string, more: Partial<PageRequest> = {}): PageRequest => ({
  path: dataPath,
  page: { path, take: 'response', same: ['id'] },
  ...more,
});

describe.skipIf(skipped)(`a page in the browser${skipped}`, () => {
  beforeAll(async () => {
    seen = [];
    const port = await listen(server);
    otherPort = await listen(inside);
    datagrams.bind(0, '127.0.0.1');
    await once(datagrams, 'listening');
    datagramPort = datagrams.address().port;
    closedPort = await freePort();
    origin = `http://127.0.0.1:${port}`;
    shop = await startOrigins({ origins: [mkta], browserOnly: true, retryAfter: 7 });
    fetcher = newFetcher({});
    hastyFetcher = newFetcher({ responseQuietMs: 300, settleMs: 500 });
  });

  beforeEach(() => {
    seen = [];
  });

  afterAll(async () => {
    await Promise.all([fetcher.close(), hastyFetcher.close()]);
    await shop.stop();
    for (const response of open) response.destroy();
    datagrams.close();
    for (const one of [server, inside]) {
      one.closeAllConnections();
      one.close();
    }
  });

  const get = (request: PageRequest, region = 'id') => fetcher.for('mktb', region)(request);
  const paths = () => seen.map(({ url }) => url);

  /** Reads a product page of the shop, selected by the last digits of its id. */
  const read = (digits: string, one = fetcher) => {
    const input = { shop_id: '1000100', item_id: `30000000${digits}` };
    return market.readers.product!.read(input, { region: 'sg', fetch: one.for('mkta', 'sg') });
  };

  describe('that requests the wanted data', () => {
    test('returns the response, as plain HTTP would', async () => {
      expect(await get(responseOf('/requests'))).toEqual({
        status: 200,
        headers: expect.objectContaining({ 'content-type': 'application/json', 'x-many': 'a, b' }),
        body: Buffer.from('{"id":"1","cookie":null}'),
        url: `${origin}${dataPath}`,
        at: expect.any(Number),
      });
    });

    test.each([
      ['/requests-late', '1'],
      ['/requests-others-first', '1'],
      ['/requests-twice', '1'],
      ['/moved', '1'],
      ['/streams', '1'],
    ])('%s: waits for the response and finds it among others', async (path, id) => {
      const { body, headers } = await get(responseOf(path));
      expect(JSON.parse(body.toString())).toMatchObject({ id });
      expect(headers).not.toHaveProperty('set-cookie');
    });

    test('may use POST, and may be refused', async () => {
      const posted = await get({
        path: '/data',
        method: 'POST',
        page: { path: '/posts', take: 'response' },
      });
      expect(posted.body.toString()).toContain('"id":"2"');
      const page = hastyFetcher.for('mktb', 'id');
      expect(await page(responseOf('/requests-refused'))).toMatchObject({ status: 403 });
    });

    test.each(['/retries', '/renews-token'])('%s: is the first good response', async (path) => {
      const { status, url } = await get(responseOf(path));
      expect([status, url]).toEqual([200, `${origin}${dataPath}&again=1`]);
    });

    test('is the last error of a page that gets no good response', async () => {
      const page = newFetcher({ responseSettleMs: 1_500 }).for('mktb', 'id');
      expect(await page(responseOf('/repeats-errors'))).toMatchObject({ status: 503 });
    });

    test.each(['/reads-no-body', '/stops-reading'])(
      '%s: is complete whatever the page reads',
      async (path) => {
        const { body } = await get({ path: '/data-long', page: { path, take: 'response' } });
        expect(JSON.parse(body.toString())).toEqual({ text: 'x'.repeat(900_000) });
      },
    );

    test('is returned even if the page navigates away after it', async () => {
      for (let attempt = 0; attempt < 5; attempt += 1)
        expect(await get(responseOf('/moves-on'))).toMatchObject({
          status: 200,
          url: origin + dataPath,
        });
    });

    test.each(['application/json', 'text/plain'])('may be a call with JSON as %s', async (type) => {
      const path = `/requests-call?type=${type}`;
      const { body } = await get({ path: '/data-call', page: { path, take: 'response' } });
      expect(body.toString()).toBe('call({"a": 1});');
    });

    test.each(['?length=1', '?type=application/json', '?type=text/plain'])(
      'is not taken if its connection is cut: %s',
      async (search) => {
        const page = hastyFetcher.for('mktb', 'id');
        const cut = {
          path: '/data-cut',
          page: { path: `/requests-cut${search}`, take: 'response' },
        } as const;
        await expect(page(cut)).rejects.toMatchObject({
          code: 'network',
          message: `${new URL(origin).host}: the connection closed before the response was complete`,
        });
      },
    );

    test('identifies itself honestly, and uses the requested language', async () => {
      await get(
        responseOf('/requests', { headers: { 'accept-language': 'id-ID,id;q=0.9,en;q=0.8' } }),
      );
      for (const { headers } of seen) {
        expect(headers['user-agent']).toMatch(/HeadlessChrome\/\S+ .*Gleaner\/test \(tests\)$/);
        expect(headers['accept-language']).toMatch(/^id-ID,id;q=0\.9,en;q=0\.8/);
        const usual =
          /^(?:cache-control|host|connection|accept.*|upgrade-insecure-requests|sec-.*|user-agent|referer|cookie)$/;
        expect(Object.keys(headers).filter((name) => !usual.test(name))).toEqual([]);
      }
    });

    test('loads no images, media, fonts, or cross-site frames', async () => {
      await get(responseOf('/heavy'));
      await get({ path: '/heavy' });
      const loaded = new Set(paths());
      expect([...loaded].filter((path) => /\.(png|mp4|woff2)$/.test(path!))).toEqual([]);
      expect(loaded).toContain('/inner');
    });
  });

  describe('that the site lets browsers keep', () => {
    test.each([
      ['document', 'visit', { path: '/cached' }],
      [
        'response',
        'request',
        { path: '/cached-data', page: { path: '/cached', take: 'response' } },
      ],
    ] as [string, string, PageRequest][])(
      'is requested again as a %s',
      async (_, word, request) => {
        const pages = [await get(request), await get(request)];
        const [first, second] = pages.map(
          ({ body }) => new RegExp(`${word} \\d+`).exec(body.toString())?.[0],
        );
        expect(second).not.toBe(first);
        expect(pages[1]!.at).toBeGreaterThan(pages[0]!.at);
      },
    );
  });

  test('is requested again, and counted, if the browser took it from its cache', async () => {
    reached = 0;
    const defects: string[] = [];
    const open = closeAfterTest(
      browserFetcher(
        { mktb: { id: origin, allow_private: true } },
        { quietMs: 100 },
        { onDefect: (...defect) => defects.push(defect.join(' ')) },
      ),
    );
    const fetch = open.for('mktb', 'id');
    const request = responseOf('/cached-elsewhere', { path: '/secret' });
    expect((await fetch(request)).body.toString()).toBe('secret 1');
    expect(defects).toEqual([]);
    expect((await fetch(request)).body.toString()).toBe('secret 2');
    expect(defects).toEqual(['mktb cached']);
  });

  test('sends no datagrams', async () => {
    await get(responseOf('/datagrams'));
    expect(datagramCount).toBe(0);
  });

  describe('read as a document', () => {
    test('is returned in UTF-8 after its scripts have run', async () => {
      const { body, headers, status } = await get({ path: '/builds' });
      expect(body.toString()).toContain('<p id="made">Türöffner 3 燈</p>');
      expect(body.toString()).toMatch(/^<!DOCTYPE html><html>/);
      expect(status).toBe(200);
      expect(headers['content-type']).toBe('text/html; charset=utf-8');
    });

    test('is returned after a timeout if its network never becomes idle', async () => {
      const page = hastyFetcher.for('mktb', 'id');
      expect((await page({ path: '/never-quiet' })).body.toString()).toContain(
        '<title>ready</title>',
      );
    });

    test('is read in a context that its scripts cannot manipulate', async () => {
      expect((await get({ path: '/meddles' })).body.toString()).toContain('<title>page</title>');
    });

    test.each([
      ['/json', '{"a":"<b>"}'],
      ['/text', 'User-agent: *\nDisallow:'],
    ])('%s is returned unchanged if it is not HTML', async (path, body) => {
      expect((await get({ path })).body.toString()).toBe(body);
    });

    test('has the status and the address of its response', async () => {
      expect(await get({ path: '/missing' })).toMatchObject({
        status: 404,
        url: `${origin}/missing`,
      });
      expect(await get({ path: '/nothing' })).toMatchObject({ status: 204, body: Buffer.alloc(0) });
    });

    test('returns redirects within the site and to other sites', async () => {
      expect(await get({ path: '/moved', redirects: 'same_origin' })).toMatchObject({
        status: 302,
        headers: { location: '/requests' },
        url: `${origin}/moved`,
      });
      const away = { status: 302, headers: { location: 'http://elsewhere.example/' } };
      expect(await get({ path: '/leaves' })).toMatchObject(away);
      expect(await get(responseOf('/leaves'))).toMatchObject(away);
    });

    test.each([
      ['as a document', { path: '/script-leaves' }],
      ['for a response', responseOf('/script-leaves')],
    ])(
      'does not follow a script to another site, and returns a redirect: %s',
      async (_, request) => {
        expect(await get(request)).toMatchObject({
          status: 302,
          headers: { location: 'http://elsewhere.example/' },
          url: `${origin}/script-leaves`,
        });
      },
    );

    test.each([400, 401, 403, 404, 410, 429, 500, 503])(
      'has the status %i without a body',
      async (status) => {
        for (const request of [
          { path: `/status?status=${status}` },
          responseOf(`/status?status=${status}`),
        ]) {
          expect(await get(request)).toMatchObject({
            status,
            headers: { 'retry-after': '9' },
            body: Buffer.alloc(0),
          });
        }
      },
    );

    test('does not wait for workers', async () => {
      const page = closeAfterTest(newFetcher({ settleMs: 40_000 })).for('mktb', 'id');
      await page({ path: '/' });
      const msOf = async (path: string, text: string) => {
        const startedAt = performance.now();
        expect((await page({ path })).body.toString()).toContain(text);
        return performance.now() - startedAt;
      };
      const withoutWorkerMs = await msOf('/', 'other');
      // Other requests in progress are only ignored after 3 s.
      expect(await msOf('/works', 'Worker')).toBeLessThan(withoutWorkerMs + 3_000);
    });

    test('waits for what its reader expects of it', async () => {
      const isReady = ({ body }: PageResponse) => body.includes('12.50');
      const page = closeAfterTest(newFetcher({ readyMs: 20_000 })).for('mktb', 'id');
      expect((await page({ path: '/late-price', isReady })).body.toString()).toContain(
        'Price: 12.50',
      );
      const defects: string[] = [];
      const onDefect: BrowserFetcherOptions['onDefect'] = (...defect) =>
        defects.push(defect.join(' '));
      const hasty = closeAfterTest(newFetcher({ readyMs: 200 }, { onDefect })).for('mktb', 'id');
      const pending = await hasty({ path: '/requests', isReady });
      expect(pending.body.toString()).toContain('Loading');
      expect([pending.isPending, defects]).toEqual([true, ['mktb pending']]);
    });

    test('has the contents of open shadow roots', async () => {
      const html = (await get({ path: '/shadows' })).body.toString();
      expect(html).toContain(
        '<shop-card><h2>Shown</h2><shop-price><b>9.50</b></shop-price><slot></slot><i>light</i></shop-card>',
      );
      expect(html).toContain('<template><u>later</u></template><shop-secret></shop-secret>');
      expect(html).toMatch(/^<!DOCTYPE html><html>/);
    });

    test('is returned as it was received if a script keeps it from being parsed', async () => {
      const page = hastyFetcher.for('mktb', 'id');
      const { body, headers } = await page({ path: '/waits-for-script' });
      expect(body.toString()).toContain('<p>Product</p>');
      expect(headers['content-type']).toBe('text/html; charset=utf-8');
    });
  });

  describe('keeps a session', () => {
    const cookieAt = async (path: string, region = 'id', one = fetcher) => {
      const { body } = await one.for('mktb', region)(responseOf(path));
      const cookie = JSON.parse(body.toString()).cookie as string | null;
      return cookie?.split('; ').sort() ?? [];
    };

    test('is discarded if it has more cookies than sites accept', async () => {
      fetcher.discardSession('mktb', 'id');
      expect(await cookieAt('/visitor')).toEqual(['visitor=7']);
      await get(responseOf('/many-cookies'));
      expect(await cookieAt('/requests')).toEqual([]);
    });

    test('for the pages of a region, until it is discarded', async () => {
      fetcher.discardSession('mktb', 'id');
      expect(await cookieAt('/requests')).toEqual([]);
      expect(await cookieAt('/visitor')).toEqual(['data=1', 'visitor=7']);
      expect(await cookieAt('/requests')).toEqual(['data=1', 'visitor=7']);
      expect(await cookieAt('/requests', 'sg')).toEqual([]);
      fetcher.discardSession('mktb', 'id');
      expect(await cookieAt('/requests')).toEqual([]);
      expect(await cookieAt('/requests', 'sg')).toEqual(['data=1']);
    });

    test('with preset cookies, until the site changes them', async () => {
      fetcher.discardSession('mktb', 'id');
      const preferences = { money: 'GBP', data: '0' };
      const cookieOf = async (path: string) => {
        const { body } = await fetcher.for('mktb', 'id')({ ...responseOf(path), preferences });
        return (JSON.parse(body.toString()).cookie as string).split('; ').sort();
      };
      expect(await cookieOf('/requests')).toEqual(['data=0', 'money=GBP']);
      expect(await cookieOf('/requests')).toEqual(['data=1', 'money=GBP']);
    });

    test('across the end of its context and of its browser', async () => {
      const one = closeAfterTest(newFetcher({ contextPages: 1, browserPages: 2 }));
      await cookieAt('/visitor', 'id', one);
      expect(await cookieAt('/requests', 'id', one)).toEqual(['data=1', 'visitor=7']);
      expect(await cookieAt('/requests', 'id', one)).toEqual(['data=1', 'visitor=7']);
    });
  });

  describe('reaches nothing in the internal network', () => {
    test('by scripts, addresses, names, or redirects', async () => {
      reached = 0;
      const { body } = await get(responseOf('/reaches', { path: '/data?id=0' }));
      expect(JSON.parse(body.toString())).toMatchObject({ id: '0' });
      expect(reached).toBe(0);
    });

    test('by an address from a caller', async () => {
      const store = (host: string) =>
        fetcher.for('mktf', '')({ origin: `http://${host}:${otherPort}`, path: '/' });
      await expect(store('127.0.0.1')).rejects.toMatchObject({ code: 'address_refused' });
      await expect(store('inside.example')).rejects.toMatchObject({
        code: 'address_refused',
        message:
          'inside.example resolves to 127.0.0.1, which is not an address of the public internet',
      });
      expect(reached).toBe(0);
    });
  });

  describe('that fails has a fault code', () => {
    test.each([
      ['/drop', 'network'],
      ['/cut', 'network'],
    ])('%s is %s', async (path, code) => {
      await expect(get(responseOf(path))).rejects.toMatchObject({ code });
    });

    test('reports a host that refuses connections', async () => {
      await expect(get({ path: '/' }, 'closed')).rejects.toMatchObject({
        code: 'network',
        message: '127.0.0.1: the connection was refused',
      });
    });

    test('reports an incomplete page as a timeout, and returns a complete one', async () => {
      const limitedFetcher = closeAfterTest(newFetcher({ totalMs: 1_000 }));
      const page = limitedFetcher.for('mktb', 'id');
      await expect(page({ path: '/stall' })).rejects.toMatchObject({
        code: 'page_timeout',
        message: expect.stringContaining('1000 ms'),
      });
      const { body } = await page(responseOf('/never-quiet'));
      expect(body.toString()).toContain('<title>ready</title>');
      await expect(read('830', limitedFetcher)).rejects.toMatchObject({ code: 'page_timeout' });
    });

    test('reports a site that does not respond as a timeout, whatever the browser waits for', async () => {
      const page = closeAfterTest(newFetcher({ totalMs: 16_500 })).for('mktb', 'id');
      await expect(page({ path: '/silent' })).rejects.toMatchObject({ code: 'page_timeout' });
    });

    test.each(['/polls', '/polls-long'])('shows a check for robots that %s', async (path) => {
      const page = hastyFetcher.for('mktb', 'id');
      expect((await page(responseOf(path))).body.toString()).toContain('Are you a robot?');
    });

    test('aborts a page that is too large', async () => {
      const page = closeAfterTest(
        newFetcher({ bytes: 1_000_000, pageBytes: 4_000_000, requests: 50 }),
      ).for('mktb', 'id');
      const large = {
        path: '/data-large',
        page: { path: '/requests-large', take: 'response' },
      } as const;
      const swells = {
        path: '/data-bomb',
        page: { path: '/requests-bomb', take: 'response' },
      } as const;
      const documents = [{ path: '/grows' }, { path: '/data-bomb' }];
      const requests = [
        large,
        swells,
        ...documents,
        responseOf('/loads-much'),
        responseOf('/never-quiet'),
      ];
      const outcomes = await Promise.allSettled(requests.map(page));
      for (const outcome of outcomes)
        expect(outcome).toMatchObject({ reason: { code: 'page_too_large' } });
    });

    test('rejects with the reason of an aborted signal, before and during the page', async () => {
      const reason = new Error('stopping');
      const controller = new AbortController();
      const page = fetcher.for('mktb', 'id', controller.signal);
      const arrived = once(server, 'request');
      const outcome = expect(page({ path: '/stall' })).rejects.toBe(reason);
      await arrived;
      controller.abort(reason);
      await outcome;
      await expect(page({ path: '/' })).rejects.toBe(reason);
    });

    test('reports a missing origin and a missing browser with a remedy', async () => {
      await expect(get({ path: '/' }, 'th')).rejects.toMatchObject({
        code: 'origin_missing',
      });
      const none = browserFetcher(sites(), {}, { path: null });
      await expect(none.for('mktb', 'id')({ path: '/' })).rejects.toMatchObject({
        code: 'browser_missing',
        message: expect.stringMatching(/apt-get install chromium.*GLEANER_BROWSER/),
      });
      for (const path of ['/bin/false', '/bin/true']) {
        const wrong = browserFetcher(sites(), {}, { path });
        await expect(wrong.for('mktb', 'id')({ path: '/' })).rejects.toMatchObject({
          code: 'browser_failed',
          message: `the browser ${path} did not start: it ended`,
        });
      }
    });
  });

  describe('of a defective shop', () => {
    let limitedFetcher: Fetcher;

    beforeAll(() => {
      limitedFetcher = newFetcher({ responseQuietMs: 400, requests: 100 });
    });
    afterAll(() => limitedFetcher.close());

    test.each([
      ['820', 'a login', 'page_login'],
      ['821', 'a challenge opened by a script', 'page_blocked'],
      ['822', 'a CAPTCHA', 'page_blocked'],
      ['823', 'an empty shell', 'page_empty'],
      ['824', 'a script that fails', 'page_empty'],
      ['825', 'endless redirects', 'page_failed'],
      ['826', 'endless navigation by a script', 'page_empty'],
      ['827', 'a huge page', 'page_too_large'],
      ['829', 'a file', 'page_unreadable'],
      ['831', 'a redirect to another site', 'page_failed'],
      ['833', '404', 'page_failed'],
      ['834', 'endless requests', 'page_too_large'],
      ['800', 'a response for a missing item', 'page_not_found'],
      ['807', 'a refusal', 'page_blocked'],
      ['902', 'a missing response', 'network'],
      ['907', 'a throttled response', 'page_throttled'],
    ])('%s: %s is %s', async (digits, _what, code) => {
      await expect(read(digits, limitedFetcher)).rejects.toMatchObject({ code });
    });

    test.each([
      ['828', 'dialogs and popups'],
      ['832', 'an earlier request for another item'],
      ['835', 'a moved address'],
      ['836', 'downloads, images, and cross-site frames'],
      ['837', 'requests that it cancels'],
      ['901', 'a connection lost once'],
    ])('%s: reads the record despite %s', async (digits) => {
      expect(await read(digits)).toMatchObject({
        data: { item: { item_id: Number(`30000000${digits}`) } },
      });
    });

    test('loads no popups or images', () => {
      const requested = Object.keys(shop.counters()).join('\n');
      expect(requested).not.toMatch(/picture|film|keyword|\/search/);
    });
  });
});
