import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { mkta as origin } from '../../../sandbox/mkta/index.ts';
import { type RunningOrigins, startOrigins } from '../../../sandbox/server.ts';
import { systemClock } from '../../base/clock.ts';
import type { JsonObject } from '../../base/json.ts';
import { createLog } from '../../base/log.ts';
import { parseOrigins } from '../../base/origins.ts';
import { createHttpFetcher, type Fetcher } from '../../fetch/http.ts';
import type { ListReader, RecordReader } from '../market.ts';
import { mkta } from './index.ts';

let origins: RunningOrigins;
let fetcher: Fetcher;

beforeAll(async () => {
  origins = await startOrigins({ origins: [origin], slowMs: 1 });
  fetcher = createHttpFetcher({
    origins: parseOrigins(JSON.stringify(origins.config)),
    clock: systemClock,
    log: createLog('silent', 'test'),
    userAgent: 'Gleaner/test',
    limits: { totalMs: 1_000, bytes: 1_000_000, wireBytes: 1_000_000 },
  });
});

afterAll(async () => {
  await fetcher.close();
  await origins.stop();
});

const context = (region: string) => ({ region, fetch: fetcher.for('mkta', region) });

function read(page: 'product' | 'variants', itemId: number, region = 'id'): Promise<JsonObject> {
  const reader = mkta.readers[page] as RecordReader;
  return reader.read({ item_id: String(itemId), shop_id: '4400' }, context(region));
}

async function collect(page: 'search' | 'merchant', input: JsonObject, region = 'vn') {
  const pages = (mkta.readers[page] as ListReader).read(input, context(region));
  const ids: Record<string, string[]> = { items: [], rcmd_items: [] };
  const lists: string[] = [];
  let next = await pages.next();
  for (; !next.done; next = await pages.next()) {
    lists.push(next.value.list);
    ids[next.value.list]!.push(...next.value.entries.map(({ itemid }) => String(itemid)));
  }
  expect(new Set(Object.values(ids).flat()).size).toBe(Object.values(ids).flat().length);
  return { ...ids, lists, summary: next.value as JsonObject } as {
    items: string[];
    rcmd_items: string[];
    lists: string[];
    summary: JsonObject;
  };
}

describe('products', () => {
  test.each(mkta.regions)('are read from %s', async (region) => {
    expect(await read('variants', 5_000_000_123, region)).toMatchObject({
      itemId: '5000000123',
      shopId: '4400',
      country: region,
    });
    expect(await read('product', 5_000_000_123, region)).toMatchObject({
      error: null,
      data: { item: { item_id: 5_000_000_123 } },
    });
  });

  test.each([700, 701, 702, 703, 704, 705, 706, 707, 708, 900])(
    'are read in the form %s',
    async (digits) => {
      const record = await read('variants', 5_000_000_000 + digits);
      expect(record.models).not.toHaveLength(0);
      expect(JSON.stringify(record)).not.toContain('account');
    },
  );

  test('have a sold count as a number if the site only has text', async () => {
    const shown = await read('variants', 5_000_000_705);
    expect(shown.historicalSold).toBeGreaterThan(0);
  });

  test.each([
    [800, 'page_not_found'],
    [801, 'page_not_found'],
    [802, 'page_not_found'],
    [803, 'page_mismatch'],
    [804, 'page_mismatch'],
    [805, 'page_mismatch'],
    [806, 'page_mismatch'],
    [807, 'page_blocked'],
    [808, 'page_blocked'],
    [809, 'page_blocked'],
    [810, 'page_blocked'],
    [811, 'page_login'],
    [812, 'page_blocked'],
    [813, 'page_failed'],
    [814, 'page_failed'],
    [902, 'network'],
    [904, 'network'],
    [906, 'page_failed'],
    [908, 'page_throttled'],
    [910, 'page_failed'],
    [912, 'page_blocked'],
    [914, 'page_timeout'],
    [916, 'page_unreadable'],
    [917, 'page_too_large'],
  ])('ending in %s end with %s', async (digits, code) => {
    for (const page of ['product', 'variants'] as const) {
      await expect(read(page, 5_000_000_000 + digits)).rejects.toMatchObject({ code });
    }
  });
});

describe('searches', () => {
  test.each(['001', '002', '003'])(
    'return all products of all pages once in generation %s',
    async (digits) => {
      const { items, lists, summary } = await collect('search', { keyword: `tea ${digits}` });
      expect(items).toHaveLength(130);
      expect(lists).toEqual(['items', 'items', 'items']);
      expect(summary).toEqual({
        total_items: 130,
        total_count: 130_000,
        pages_fetched: 3,
        has_more: false,
      });
    },
  );

  test('read categories the same way', async () => {
    expect((await collect('search', { category_id: '11002' })).items).toHaveLength(130);
  });

  test('end at an empty page if nothing else marks the end', async () => {
    expect(await collect('search', { keyword: 'tea 004' })).toMatchObject({
      summary: { total_items: 176, pages_fetched: 4 },
    });
  });

  test('end when pages repeat', async () => {
    expect(await collect('search', { keyword: 'tea 005' })).toMatchObject({
      summary: { total_items: 60, pages_fetched: 2 },
    });
  });

  test('are requested again without a match, then empty', async () => {
    const asked = () => origins.counters()['mkta/br /api/v4/search/search_items'] ?? 0;
    const before = asked();
    expect(await collect('search', { keyword: 'tea 000' }, 'br')).toMatchObject({
      items: [],
      summary: { total_items: 0 },
    });
    expect(asked() - before).toBe(2);
  });

  test.each([
    ['007', 'page_mismatch'],
    ['807', 'page_blocked'],
    ['812', 'page_blocked'],
    ['902', 'network'],
    ['908', 'page_throttled'],
  ])('ending in %s end with %s', async (digits, code) => {
    await expect(collect('search', { keyword: `tea ${digits}` })).rejects.toMatchObject({ code });
  });
});

describe('shops', () => {
  test.each([
    [1, 0, 130],
    [2, 130, 0],
    [3, 20, 130],
    [4, 20, 130],
    [5, 20, 130],
  ])(
    'ending in %s return %s sold-out and %s active products without duplicates',
    async (digits, soldOut, active) => {
      const { items, rcmd_items, lists, summary } = await collect('merchant', {
        shop_id: String(66_000 + digits),
      });
      expect([items.length, rcmd_items.length]).toEqual([soldOut, active]);
      expect(lists).toEqual(lists.toSorted());
      expect(summary).toMatchObject({
        total_fetched: soldOut,
        total_count: soldOut,
        has_more: false,
      });
    },
  );

  test('are empty if they have no items', async () => {
    expect(await collect('merchant', { shop_id: '66000' })).toMatchObject({
      items: [],
      rcmd_items: [],
      summary: { total_fetched: 0 },
    });
  });

  test('are faults if they are missing or refused', async () => {
    await expect(collect('merchant', { shop_id: '66800' })).rejects.toMatchObject({
      code: 'page_not_found',
    });
    await expect(collect('merchant', { shop_id: '66811' })).rejects.toMatchObject({
      code: 'page_login',
    });
  });
});
