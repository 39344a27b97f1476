import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { direct } from '../../sandbox/in-process-origin.ts';
import { mkta as origin } from '../../sandbox/mkta/index.ts';
import { systemClock } from '../../src/base/clock.ts';
import { createLog } from '../../src/base/log.ts';
import { parseOrigins } from '../../src/base/origins.ts';
import { createHttpFetcher, type Fetcher } from '../../src/fetch/http.ts';
import { createOriginScheduler, type OriginScheduler } from '../../src/fetch/origin-scheduler.ts';
import { policyOfMarket } from '../../src/markets/lookup.ts';
import type { PageName } from '../../src/markets/market.ts';
import { mkta } from '../../src/markets/mkta/index.ts';
import { openSqliteStore } from '../../src/store/sqlite/open.ts';
import type { Store } from '../../src/store/store.ts';
import { type InternalServer, type Site, startInternalServer, startSite } from './site.ts';

/*
 * Submitted URLs of marketplace A's searches and shops: whatever host they name, pages are only
 * requested from the region's configured origin.
 */

let site: Site;
let inside: InternalServer;
let store: Store;
let fetcher: Fetcher;
let scheduler: OriginScheduler;
/** Names that were looked up. */
const resolved: string[] = [];

beforeAll(async () => {
  const marketplace = direct(origin, 'sg');
  site = await startSite(async (request, response) => {
    const reply = await marketplace.fetch({ path: request.url! });
    response.writeHead(reply.status, reply.headers).end(reply.body);
  });
  inside = await startInternalServer();
  store = openSqliteStore({ path: ':memory:' });
  const origins = parseOrigins(
    JSON.stringify({ mkta: { sg: `http://127.0.0.1:${site.port}`, requests_per_second: 1_000 } }),
  );
  const log = createLog('silent', 'test');
  const common = { origins, clock: systemClock, log, userAgent: 'Gleaner/test' };
  fetcher = createHttpFetcher({
    ...common,
    resolve: (host, _options, callback) => {
      resolved.push(host);
      callback(Object.assign(new Error('no'), { code: 'ENOTFOUND' }), []);
    },
  });
  scheduler = createOriginScheduler({ policyOf: policyOfMarket, ...common, fetcher, store });
});

afterEach(() => {
  site.requests.length = 0;
  expect(resolved).toEqual([]);
  expect(inside.connections()).toBe(0);
});

afterAll(async () => {
  await scheduler.close();
  await fetcher.close();
  await store.close();
  await site.stop();
  await inside.stop();
});

/** Reads a submitted URL and returns the number of entries, or null for a refused URL. */
async function read(page: PageName, url: string): Promise<number | null> {
  let parsed: ReturnType<NonNullable<typeof mkta.parseUrl>>;
  try {
    parsed = mkta.parseUrl!(page, url);
  } catch {
    return null;
  }
  const reader = mkta.readers[page]!;
  if (reader.sort !== 'list') throw new Error(`${page} is no list`);
  const session = scheduler.openSession('mkta', parsed.region);
  let entries = 0;
  for await (const part of reader.read(parsed.input, {
    region: parsed.region,
    fetch: session.fetch,
  })) {
    entries += part.entries.length;
  }
  await session.end(null);
  return entries;
}

describe('refuses a host without a suffix of the marketplace', () => {
  test.each([
    'https://shopee.sg.evil.example/search?keyword=mug',
    'https://evil.example/shopee.sg/search?keyword=mug',
    'https://evil.example/search?keyword=mug&host=shopee.sg',
    'https://evil.example#.sg/search?keyword=mug',
    'https://shopee.sg@evil.example/search?keyword=mug',
    'https://shopee.sg:443@evil.example/search?keyword=mug',
    'https://shopee.sg%2f@evil.example/search?keyword=mug',
    'https://evil.example\\.shopee.sg/search?keyword=mug',
    'https://evil.example?.shopee.sg/search?keyword=mug',
    'https://shopee.sg%00.evil.example/search?keyword=mug',
    'https://shopee.sgx/search?keyword=mug',
    'https://shopeesg/search?keyword=mug',
    'https://127.0.0.1/search?keyword=mug',
    'https://[::1]/search?keyword=mug',
    'https://localhost/search?keyword=mug',
    'https://169.254.169.254/search?keyword=mug',
    'file:///search?keyword=mug&.sg',
    'gopher://shopee.sg/search?keyword=mug',
    'javascript://shopee.sg/search?keyword=mug',
    'shopee.sg/search?keyword=mug',
    '//shopee.sg/search?keyword=mug',
    '',
  ])('%j', async (url) => {
    expect(await read('search', url)).toBeNull();
    expect(await read('merchant', url.replace('/search?keyword=mug', '/shop/77'))).toBeNull();
    expect(site.connections()).toBe(0);
  });
});

describe('never sends a request to the host of a URL with a valid suffix', () => {
  test.each([
    'https://shopee.sg/search?keyword=mug',
    'http://shopee.sg/search?keyword=mug',
    'https://SHOPEE.SG/search?keyword=mug',
    'https://evil.sg/search?keyword=mug',
    'https://evil-shopee.sg:PORT/search?keyword=mug',
    'https://shopee.sg:PORT/search?keyword=mug',
    'https://user:secret@shopee.sg/search?keyword=mug',
    'https://127.0.0.1.sg:PORT/search?keyword=mug',
    'https://ｓｈｏｐｅｅ.ｓｇ/search?keyword=mug',
    'https://shopee.sg/search?keyword=mug%0d%0aX-Injected:%20yes',
    'https://shopee.sg/search?keyword=mug&minPrice=1%0d%0aHost:%20127.0.0.1:PORT',
    'https://shopee.sg/search?keyword=@127.0.0.1:PORT/',
    'https://shopee.sg/search?keyword=http://127.0.0.1:PORT/',
  ])('%s', async (text) => {
    const url = text.replace('PORT', `${inside.port}`);
    expect(await read('search', url)).toBeGreaterThanOrEqual(0);
    expect(site.requests.length).toBeGreaterThan(0);
    for (const { target, headers } of site.requests) {
      expect(target).toMatch(/^GET \/api\/v4\/search\/search_items\?[\w=&%+.*-]+$/);
      expect(headers.host).toBe(`127.0.0.1:${site.port}`);
      expect(Object.keys(headers).sort()).toEqual([
        'accept',
        'accept-encoding',
        'accept-language',
        'connection',
        'host',
        'user-agent',
        'x-api-source',
      ]);
    }
    expect(JSON.stringify(site.requests)).not.toContain('secret');
  });

  test('of a shop', async () => {
    expect(
      await read('merchant', `https://evil.sg:${inside.port}/shop/77?x=@127.0.0.1`),
    ).toBeGreaterThan(0);
    for (const { target } of site.requests) expect(target).toMatch(/^GET \/api\/v4\/shop\//);
    expect(await read('merchant', 'https://evil.sg/shop/77%0d%0aHost:%20x')).toBeNull();
    expect(await read('merchant', 'https://evil.sg/shop/../../etc/passwd')).toBeNull();
  });
});

test('reports a region without a configured origin, and sends no request to its host', async () => {
  await expect(read('search', 'https://shopee.ph/search?keyword=mug')).rejects.toMatchObject({
    code: 'origin_missing',
  });
});
