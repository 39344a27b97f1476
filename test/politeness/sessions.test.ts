import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { direct } from '../../sandbox/in-process-origin.ts';
import { origins } from '../../sandbox/list.ts';
import { systemClock } from '../../src/base/clock.ts';
import type { JsonObject } from '../../src/base/json.ts';
import { createLog } from '../../src/base/log.ts';
import { parseOrigins } from '../../src/base/origins.ts';
import { createHttpFetcher, type Fetcher } from '../../src/fetch/http.ts';
import { createOriginScheduler, type OriginScheduler } from '../../src/fetch/origin-scheduler.ts';
import { markets } from '../../src/markets/list.ts';
import { policyOfMarket } from '../../src/markets/lookup.ts';
import type { PageName } from '../../src/markets/market.ts';
import { openSqliteStore } from '../../src/store/sqlite/open.ts';
import type { Store } from '../../src/store/store.ts';

/**
 * Permitted request headers: general HTTP headers, headers that identify the client and the
 * content, and headers that the sites' APIs require.
 */
const harmless =
  /^(?:host|connection|user-agent|accept|accept-encoding|accept-language|content-type|content-length|cookie|origin|referer|channelid|x-(?:api-source|device|source|tkpd-lite-service))$/;

let server: Server;
let address: string;
/** Headers of the received requests. */
let seen: IncomingHttpHeaders[];
/** Market and region that the site represents. */
let site: readonly [string, string];
let store: Store;
let fetcher: Fetcher;
let scheduler: OriginScheduler;

beforeEach(async () => {
  seen = [];
  server = createServer(async (request, response) => {
    const [market, region] = site;
    seen.push(request.headers);
    const body = await text(request);
    const forwarded = {
      method: request.method as 'GET',
      path: request.url!,
      ...(body === '' ? {} : { body }),
    };
    const headers = Object.fromEntries(
      Object.entries(request.headers).map(([name, value]) => [name, `${value}`]),
    );
    const { fetch } = direct(
      origins.find((origin) => origin.market === market)!,
      region,
      Date.now(),
    );
    const reply = await fetch({ ...forwarded, headers });
    // The first response assigns a visitor number.
    const known = request.headers.cookie?.includes('visitor=');
    const cookie = known ? {} : { 'set-cookie': `visitor=${seen.length}; Path=/` };
    response.writeHead(reply.status, { ...reply.headers, ...cookie }).end(reply.body);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  address = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const regions = (name: string) => markets.find((market) => market.name === name)!.regions;
  const everywhere = Object.fromEntries(
    markets.map(({ name }) => [
      name,
      {
        ...Object.fromEntries(regions(name).map((region) => [region, address])),
        ...(name === 'mktf' ? { allow_private: true } : {}),
        requests_per_second: 1_000,
      },
    ]),
  );
  const common = {
    origins: parseOrigins(JSON.stringify(everywhere)),
    clock: systemClock,
    log: createLog('silent', 'test'),
    userAgent: 'Gleaner/test (tests)',
  };
  store = openSqliteStore({ path: ':memory:' });
  fetcher = createHttpFetcher(common);
  scheduler = createOriginScheduler({ policyOf: policyOfMarket, ...common, fetcher, store });
});

afterEach(async () => {
  await scheduler.close();
  await fetcher.close();
  await store.close();
  server.closeAllConnections();
  server.close();
});

/** Reads a unit as a worker does, and returns the number of its pages. */
async function read(
  market: string,
  region: string,
  page: PageName,
  input: JsonObject,
): Promise<number> {
  site = [market, region];
  const reader = markets.find(({ name }) => name === market)!.readers[page]!;
  const session = scheduler.openSession(market, region);
  if (reader.sort === 'record') {
    await reader.read(input, { region, fetch: session.fetch });
    await session.end(null);
    return 1;
  }
  let count = 0;
  for await (const _page of reader.read(input, { region, fetch: session.fetch })) count += 1;
  await session.end(null);
  return count;
}

describe('requests of a marketplace', () => {
  test.each<[string, string, PageName, JsonObject, RegExp]>([
    ['mkta', 'sg', 'product', { shop_id: '7', item_id: '20101' }, /^en$/],
    ['mkta', 'id', 'search', { keyword: 'lamp 002' }, /^id$/],
    ['mkta', 'vn', 'merchant', { shop_id: '5003' }, /^vi$/],
    ['mkta', 'tw', 'variants', { shop_id: '7', item_id: '20101' }, /^zh-Hant$/],
    ['mkta', 'br', 'product', { shop_id: '7', item_id: '20101' }, /^pt-BR$/],
    [
      'mktb',
      'id',
      'search',
      { keyword: 'rak 101', list_type: 'search', product_limit: 70 },
      /^id-ID$/,
    ],
    ['mktc', 'id', 'product', { formattedId: 'ps--A-1-20101', sku: 'A-1-20101-00001' }, /^id-ID/],
    ['mktd', 'my', 'product', { product_id: '1729384756102938475', country: 'my' }, /^en-MY$/],
    ['mkte', 'de', 'product', { product_id: 'B000020101', country: 'de' }, /^de-DE$/],
  ])(
    '%s/%s %s use its language, identify the client, and disclose nothing else',
    async (...args) => {
      const [market, region, page, input, language] = args;
      await read(market, region, page, input).catch(({ code }) =>
        expect(code).toBe('page_not_found'),
      );
      expect(seen.length).toBeGreaterThan(0);
      for (const headers of seen) {
        expect(Object.keys(headers).filter((name) => !harmless.test(name))).toEqual([]);
        expect(headers['user-agent']).toBe('Gleaner/test (tests)');
        expect(headers['accept-language']).toMatch(language);
      }
    },
  );
});

test.each([
  ['uk', ['i18n-prefs=GBP', 'lc-acbuk=en_GB']],
  ['jp', ['i18n-prefs=JPY', 'lc-acbjp=ja_JP']],
  ['us', ['i18n-prefs=USD', 'lc-main=en_US']],
])(
  'a session of mkte/%s has cookies for the store’s currency and language',
  async (region, initial) => {
    const search = { keyword: 'lamp', list_type: 'search', country: region, pages: 2 };
    await read('mkte', region, 'search', search);
    expect(seen.map(({ cookie }) => cookie?.split('; ').sort())).toEqual([
      initial,
      [...initial, 'visitor=1'],
    ]);
  },
);

describe('the pages of one search', () => {
  test('share a session with the cookies of the first page', async () => {
    expect(await read('mkta', 'sg', 'search', { keyword: 'lamp 002' })).toBe(3);
    expect(seen.map(({ cookie }) => cookie)).toEqual([undefined, 'visitor=1', 'visitor=1']);
  });

  test('share a session with the next search of the region, but not with another region', async () => {
    await read('mkta', 'sg', 'search', { keyword: 'lamp 002' });
    await read('mkta', 'sg', 'search', { keyword: 'lamp 003' });
    expect(seen.slice(1).every(({ cookie }) => cookie === 'visitor=1')).toBe(true);
    const before = seen.length;
    await read('mkta', 'id', 'search', { keyword: 'lamp 002' });
    expect(seen[before]!.cookie).toBeUndefined();
    expect(seen[before + 1]!.cookie).toBe(`visitor=${before + 1}`);
  });
});
