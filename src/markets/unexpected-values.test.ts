import { describe, expect, it } from 'vitest';
import type { MarketPage } from '../../test/support/pages/market-pages.ts';
import { oddValues } from '../../test/support/pages/page-mutations.ts';
import {
  createPageCheck,
  fetchMarketPage,
  jsonPages,
  originOf,
  readerOf,
  splitPage,
} from '../../test/support/pages/unexpected-pages.ts';
import { isObject, type Json, type JsonObject } from '../base/json.ts';
import { Fault } from '../contract/fault.ts';
import type { FetchPage } from '../fetch/page.ts';

/** Replaces a member by nothing. */
const removed: unique symbol = Symbol('removed');

const oddities: (Json | typeof removed)[] = [removed, ...oddValues];

/** Yields copies of a page, each with one part replaced by an unexpected value. */
function* mutated(value: Json): Generator<Json | typeof removed> {
  yield* oddities;
  if (Array.isArray(value)) yield* mutatedArray(value);
  else if (isObject(value)) yield* mutatedObject(value);
}

function* mutatedArray(value: Json[]): Generator<Json> {
  for (const [at, element] of value.entries())
    for (const odd of mutated(element))
      yield odd === removed ? value.toSpliced(at, 1) : value.with(at, odd);
}

function* mutatedObject(value: JsonObject): Generator<Json> {
  for (const [name, member] of Object.entries(value)) {
    const { [name]: _, ...otherMembers } = value;
    for (const odd of mutated(member ?? null))
      yield odd === removed ? otherMembers : { ...value, [name]: odd };
  }
}

/** Lists of the components that a page has, which hold title and price. */
const componentLists: ReadonlySet<string> = new Set(['components', 'components_map']);

/** Shortens every list of a page to its first element, except lists of components. */
function short(value: Json, name = ''): Json {
  if (Array.isArray(value)) {
    return value.slice(0, componentLists.has(name) ? undefined : 1).map((each) => short(each));
  }
  if (!isObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, member]) => [key, short(member ?? null, key)]),
  );
}

describe('a page with any part replaced is a record or list of the documented shape, or a fault', () => {
  it.each(jsonPages)('%s %s %s of %j', { timeout: 120_000 }, async (...marketPage) => {
    const page = await fetchMarketPage(marketPage);
    const [before, json, after] = splitPage(page);
    const check = createPageCheck(marketPage);
    const extract = (value: Json): string | null => {
      const text = before + JSON.stringify(value).replaceAll('<', '\\u003c') + after;
      return check.extract({ ...page, body: Buffer.from(text) });
    };
    const value = short(JSON.parse(json) as Json);
    expect(extract(value)).toBeNull();
    expect(check.counts.records).toBeGreaterThan(0);
    let tried = 0;
    for (const odd of mutated(value)) {
      if (odd === removed) continue;
      tried += 1;
      const problem = extract(odd);
      if (problem !== null) expect.fail(`${problem}: ${JSON.stringify(odd).slice(0, 2000)}`);
    }
    expect(tried).toBeGreaterThan(100);
  });
});

/** Returns a copy of a page with the value at a path replaced. */
function replaced(value: Json, [name, ...path]: string[], odd: Json | typeof removed): Json {
  if (Array.isArray(value))
    return value.with(Number(name), replaced(value[Number(name)]!, path, odd));
  if (!isObject(value) || !(name! in value)) return value;
  const { [name!]: member, ...others } = value;
  if (path.length > 0) return { ...value, [name!]: replaced(member ?? null, path, odd) };
  return odd === removed ? others : { ...value, [name!]: odd };
}

/**
 * Reads a listing whose pages have a replaced value. Returns the number of its entries, or its
 * fault.
 */
async function countOf(page: MarketPage, change: (value: Json) => Json): Promise<number | string> {
  const [, region, , input] = page;
  const fetch = originOf(page);
  let requests = 0;
  const changed: FetchPage = async (request) => {
    requests += 1;
    if (requests > 20) throw new Error('does not end');
    const response = await fetch(request);
    const value = JSON.parse(response.body.toString()) as Json;
    return { ...response, body: Buffer.from(JSON.stringify(change(value))) };
  };
  const { reader } = readerOf(page);
  if (reader.sort === 'record') throw new Error('not a listing');
  let count = 0;
  try {
    for await (const { entries } of reader.read(input, { region, fetch: changed }))
      count += entries.length;
  } catch (thrown) {
    if (thrown instanceof Fault) return thrown.code;
    throw thrown;
  }
  return count;
}

const listings = {
  'mkta search': ['mkta', 'sg', 'search', { keyword: 'lamp 004' }],
  'mkta merchant': ['mkta', 'sg', 'merchant', { shop_id: '7003' }],
  'mktb search': ['mktb', 'id', 'search', { keyword: 'rak 101' }],
  'mktb merchant': ['mktb', 'id', 'merchant', { shopid: '5101' }],
  'mktc merchant': ['mktc', 'id', 'merchant', { shopid: 'A-60101' }],
} satisfies Record<string, MarketPage>;

describe('a listing with a replaced value on every page', () => {
  it.each<[keyof typeof listings, string, Json | typeof removed, string]>([
    ['mkta search', 'items.0', 'odd', 'all'],
    ['mkta search', 'total_count', -1, 'all'],
    ['mkta search', 'items', [], 'page_unreadable'],
    ['mkta merchant', 'items', [], 'page_unreadable'],
    ['mkta merchant', 'items', null, 'page_unreadable'],
    ['mktb search', '0.data.searchProductV5.header.totalData', 1, 'all'],
    ['mktb search', '0.data.searchProductV5.header.totalData', 'odd', 'all'],
    ['mktb search', '0.data.searchProductV5.header.additionalParams', {}, 'all'],
    ['mktb search', '0.data.searchProductV5.data.products', [], 'page_unreadable'],
    ['mktb merchant', '0.data.GetShopProduct.links', 0, 'all'],
    ['mktb merchant', '0.data.GetShopProduct.links.next', removed, 'all'],
    ['mktc merchant', 'data.paging', null, 'all'],
    ['mktc merchant', 'data.paging.total_page', 0, 'all'],
    ['mktc merchant', 'data.paging.total_page', 'odd', 'all'],
    ['mktc merchant', 'data.products', [], 'page_unreadable'],
  ])('%s with %s replaced', async (name, path, odd, expected) => {
    const all = (await countOf(listings[name], (value) => value)) as number;
    const count = await countOf(listings[name], (value) => replaced(value, path.split('.'), odd));
    expect(all).toBeGreaterThan(100);
    expect(count).toBe(expected === 'all' ? all : expected);
  });
});
