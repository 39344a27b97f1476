import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { origins } from '../../sandbox/list.ts';
import { type RunningOrigins, startOrigins } from '../../sandbox/server.ts';
import { systemClock } from '../../src/base/clock.ts';
import type { JsonObject } from '../../src/base/json.ts';
import { createLog } from '../../src/base/log.ts';
import { parseOrigins } from '../../src/base/origins.ts';
import { createHttpFetcher, type Fetcher } from '../../src/fetch/http.ts';
import { markets } from '../../src/markets/list.ts';
import type { PageName } from '../../src/markets/market.ts';
import { browserFetcher, skipped } from './chromium.ts';

/** The marketplaces in two variants: one serves every client, the other browsers only. */
let open: RunningOrigins;
let closed: RunningOrigins;
let http: Fetcher;
let plain: Fetcher;
let browser: Fetcher;

function httpFetcher(running: RunningOrigins): Fetcher {
  return createHttpFetcher({
    origins: parseOrigins(JSON.stringify(running.config)),
    clock: systemClock,
    log: createLog('silent', 'test'),
    userAgent: 'Gleaner/test (tests)',
  });
}

/** Reads a page without its timestamp. The pages of a listing are merged. */
async function read(
  fetcher: Fetcher,
  [name, region, page]: readonly [string, string, PageName],
  input: JsonObject,
): Promise<unknown> {
  const reader = markets.find((market) => market.name === name)!.readers[page]!;
  const context = { region, fetch: fetcher.for(name, region) };
  if (reader.sort === 'record') {
    const { collected_at, _scraped_at, ...record } = await reader.read(input, context);
    return record;
  }
  const lists: Record<string, JsonObject[]> = {};
  const pages = reader.read(input, context);
  for (;;) {
    const next = await pages.next();
    // The number of pages of a list may differ.
    if (next.done) return { lists, summary: { ...next.value, pages_fetched: null } };
    const { list, entries } = next.value;
    lists[list] = [...(lists[list] ?? []), ...entries];
  }
}

describe.skipIf(skipped)(`a market that serves browsers only${skipped}`, () => {
  beforeAll(async () => {
    const shops = origins.filter(({ plain }) => plain !== undefined);
    open = await startOrigins({ origins: shops });
    closed = await startOrigins({ origins: shops, browserOnly: true });
    http = httpFetcher(open);
    plain = httpFetcher(closed);
    browser = browserFetcher(closed.config);
  });

  afterAll(async () => {
    await Promise.all([http, plain, browser].map((fetcher) => fetcher.close()));
    await Promise.all([open.stop(), closed.stop()]);
  });

  test.each<[readonly [string, string, PageName], JsonObject, string]>([
    [['mkta', 'sg', 'product'], { shop_id: '1000100', item_id: '30000000007' }, 'page_blocked'],
    [['mkta', 'br', 'variants'], { shop_id: '1000100', item_id: '30000000705' }, 'page_blocked'],
    [['mkta', 'tw', 'search'], { keyword: '燈 002', by: 'price', order: 'asc' }, 'page_blocked'],
    [['mkta', 'my', 'search'], { category_id: '11001' }, 'page_blocked'],
    [['mkta', 'id', 'merchant'], { shop_id: '5003' }, 'page_blocked'],
    [
      ['mktb', 'id', 'product'],
      { shop_domain: 'warung-12', product_key: 'lampu-baca-7' },
      'page_blocked',
    ],
    [
      ['mktb', 'id', 'search'],
      { keyword: 'lampu & rak', list_type: 'search', product_limit: 70 },
      'page_blocked',
    ],
    [['mktb', 'id', 'merchant'], { shopid: 'warung-12', max_pages: 2 }, 'page_blocked'],
    [
      ['mktc', 'id', 'product'],
      { formattedId: 'ps--RIB-70109-00123', sku: 'RIB-70109-00123-00001' },
      'page_blocked',
    ],
    [
      ['mktc', 'id', 'merchant'],
      { shopid: 'RIB-70109', keyword: 'lampu', limit: 60 },
      'page_blocked',
    ],
    [['mktd', 'my', 'product'], { product_id: '1729384756102938475', country: 'my' }, 'page_empty'],
    [['mktd', 'id', 'product'], { product_id: '1729384756102938702', country: 'id' }, 'page_empty'],
  ])(
    '%j %j is read as the record that plain HTTP gets from the other variant',
    async (what, input, refusal) => {
      const expected = await read(http, what, input);
      await expect(read(plain, what, input)).rejects.toMatchObject({ code: refusal });
      expect(await read(browser, what, input)).toEqual(expected);
    },
  );

  test('reports a request without a known page', async () => {
    await expect(read(browser, ['mktb', 'id', 'merchant'], { shopid: '12' })).rejects.toMatchObject(
      {
        code: 'invalid',
        message: expect.stringContaining('/graphql/ShopInfoCore'),
      },
    );
  });
});
