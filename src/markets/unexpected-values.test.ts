import { describe, expect, it } from 'vitest';
import { direct } from '../../sandbox/in-process-origin.ts';
import { origins } from '../../sandbox/list.ts';
import { isObject, type Json, type JsonObject } from '../base/json.ts';
import { createRecordCheck, parseFields } from '../base/record-schema.ts';
import { Fault } from '../contract/fault.ts';
import type { FetchPage, PageResponse } from '../fetch/page.ts';
import { markets } from './list.ts';
import type { PageName, Reader } from './market.ts';

/** Replaces a member by nothing. */
const removed: unique symbol = Symbol('removed');

const nested = (levels: number): Json => (levels === 0 ? 'odd' : [{ text: nested(levels - 1) }]);

const oddities: (Json | typeof removed)[] = [
  removed,
  ...[null, true, 0, -1, 1.5, 1e300, '', ' ', 'odd', '12', '1729000000000000123', '1.234,56'],
  ...[[], [null], ['odd'], [{}], {}, { odd: 1 }, '{"odd":1}', '<b>&amp;\u0000</b>'],
  ...['odd '.repeat(500), nested(60)],
];

/** Yields copies of a page, each with one part replaced by an unexpected value. */
function* mutated(value: Json): Generator<Json | typeof removed> {
  yield* oddities;
  if (Array.isArray(value)) {
    for (const [at, element] of value.entries()) {
      for (const odd of mutated(element))
        yield odd === removed ? value.toSpliced(at, 1) : value.with(at, odd);
    }
  } else if (isObject(value)) {
    for (const name of Object.keys(value)) {
      const { [name]: member, ...others } = value;
      for (const odd of mutated(member ?? null)) yield odd === removed ? others : { ...value, [name]: odd };
    }
  }
}

/** Shortens every list of a page to its first element, except the list of components that a page has. */
function short(value: Json, name = ''): Json {
  if (Array.isArray(value)) {
    return value.slice(0, name === 'components_map' ? undefined : 1).map((each) => short(each));
  }
  if (!isObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, member]) => [key, short(member ?? null, key)]));
}

/**
 * Returns the page for a reader's `extract`: a record's first page, or a listing's last page before its
 * entries.
 */
async function pageOf(
  reader: Reader,
  market: string,
  input: JsonObject,
  region: string,
): Promise<PageResponse> {
  const responses: PageResponse[] = [];
  const { fetch } = direct(origins.find((origin) => origin.market === market)!, region, at);
  const recorded: FetchPage = async (request) => {
    const response = await fetch(request);
    responses.push(response);
    return response;
  };
  const context = { region, fetch: recorded };
  await (reader.sort === 'record' ? reader.read(input, context) : reader.read(input, context).next());
  return reader.sort === 'record' ? responses[0]! : responses.at(-1)!;
}

const at = Date.UTC(2030, 0, 1);
const regions: Record<string, string> = { mkta: 'sg', mktb: 'id', mktc: 'id', mktd: 'my', mktf: '' };

const cases: [string, PageName, JsonObject][] = [
  ['mkta', 'product', { item_id: '20101', shop_id: '7' }],
  ['mkta', 'product', { item_id: '20707', shop_id: '7' }],
  ['mkta', 'variants', { item_id: '20101', shop_id: '7' }],
  ['mkta', 'variants', { item_id: '20702', shop_id: '7' }],
  ['mkta', 'search', { keyword: 'lamp 001' }],
  ['mkta', 'search', { keyword: 'lamp 002' }],
  ['mkta', 'search', { keyword: 'lamp 003' }],
  ['mkta', 'merchant', { shop_id: '7003' }],
  ['mkta', 'merchant', { shop_id: '7004' }],
  ['mktb', 'product', { shop_domain: 'warung-5', product_key: 'rak-101' }],
  ['mktb', 'product', { shop_domain: 'warung-5', product_key: 'rak-705' }],
  ['mktb', 'search', { keyword: 'rak 701' }],
  ['mktb', 'search', { keyword: 'rak 706' }],
  ['mktb', 'search', { list_type: 'category', keyword: '701' }],
  ['mktb', 'merchant', { shopid: '5701' }],
  ['mktc', 'product', { formattedId: 'ps--A-1-00104', sku: 'A-1-00104-00001' }],
  ['mktc', 'merchant', { shopid: 'A-60701' }],
  ['mktd', 'product', { product_id: '1729000000000000700', country: 'my' }],
  ['mktd', 'product', { product_id: '1729000000000000702', country: 'my' }],
  ['mktd', 'product', { product_id: '1729000000000000705', country: 'my' }],
  ['mktf', 'search', { url: 'https://s.example/collections/a-701' }],
  ['mktf', 'search', { url: 'https://s.example/search?q=wool' }],
];

/** Splits a page at its JSON, which is the whole body or the content of a script. */
function splitPage({ body }: PageResponse): [before: string, json: string, after: string] {
  const text = body.toString();
  const script = /(?<=id="__MODERN_ROUTER_DATA__"[^>]*>)[^<]+/.exec(text);
  if (script === null) return ['', text, ''];
  return [text.slice(0, script.index), script[0], text.slice(script.index + script[0].length)];
}

/** Listed fields of objects that records have as the site wrote them. */
const unchanged: Record<string, RegExp> = { mkta: /^data\.item\.models\[\]/, mktf: /./ };

describe('a page with any part replaced is a record or list of the documented shape, or a fault', () => {
  it.each(cases)('%s %s of %j', { timeout: 120_000 }, async (name, pageName, input) => {
    const region = regions[name]!;
    const market = markets.find((each) => each.name === name)!;
    const reader = market.readers[pageName]!;
    const page = await pageOf(reader, name, input, region);
    const [before, json, after] = splitPage(page);
    const fields = parseFields(market.listedFields[pageName]!);
    const shape = createRecordCheck(fields.filter(({ path }) => !unchanged[name]?.test(path)));
    const read = (value: Json): JsonObject[] => {
      const text = before + JSON.stringify(value).replaceAll('<', '\\u003c') + after;
      const read = reader.extract({ ...page, body: Buffer.from(text) }, input, region);
      return Array.isArray(read) ? read : [read];
    };
    const value = short(JSON.parse(json) as Json);
    expect(read(value).length).toBeGreaterThan(0);
    let tried = 0;
    for (const odd of mutated(value)) {
      if (odd === removed) continue;
      tried += 1;
      try {
        for (const record of read(odd)) {
          if (shape.check(record)) continue;
          const misses: Parameters<typeof shape.check>[1] = [];
          shape.check(record, misses);
          expect.fail(`${JSON.stringify(misses)} in the record of ${JSON.stringify(odd).slice(0, 2000)}`);
        }
      } catch (thrown) {
        if (!(thrown instanceof Fault))
          throw new Error(JSON.stringify(odd).slice(0, 2000), { cause: thrown });
        expect(thrown.code).toMatch(/^page_/);
      }
    }
    expect(tried).toBeGreaterThan(100);
  });
});

/** Returns a copy of a page with the value at a path replaced. */
function replaced(value: Json, [name, ...path]: string[], odd: Json | typeof removed): Json {
  if (Array.isArray(value)) return value.with(Number(name), replaced(value[Number(name)]!, path, odd));
  if (!isObject(value) || !(name! in value)) return value;
  const { [name!]: member, ...others } = value;
  if (path.length > 0) return { ...value, [name!]: replaced(member ?? null, path, odd) };
  return odd === removed ? others : { ...value, [name!]: odd };
}

/** Reads a listing whose pages have a replaced value. Returns the number of its entries, or its fault. */
async function countOf(
  [name, pageName, input]: (typeof cases)[number],
  change: (value: Json) => Json,
): Promise<number | string> {
  const region = regions[name]!;
  const { fetch, requests } = direct(origins.find((origin) => origin.market === name)!, region, at);
  const changed: FetchPage = async (request) => {
    if (requests.length >= 20) throw new Error('does not end');
    const response = await fetch(request);
    const value = JSON.parse(response.body.toString()) as Json;
    return { ...response, body: Buffer.from(JSON.stringify(change(value))) };
  };
  const reader = markets.find((each) => each.name === name)!.readers[pageName]!;
  if (reader.sort === 'record') throw new Error('not a listing');
  let count = 0;
  try {
    for await (const { entries } of reader.read(input, { region, fetch: changed })) count += entries.length;
  } catch (thrown) {
    if (thrown instanceof Fault) return thrown.code;
    throw thrown;
  }
  return count;
}

const listings = {
  'mkta search': ['mkta', 'search', { keyword: 'lamp 004' }],
  'mkta merchant': ['mkta', 'merchant', { shop_id: '7003' }],
  'mktb search': ['mktb', 'search', { keyword: 'rak 101' }],
  'mktb merchant': ['mktb', 'merchant', { shopid: '5101' }],
  'mktc merchant': ['mktc', 'merchant', { shopid: 'A-60101' }],
} satisfies Record<string, (typeof cases)[number]>;

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
