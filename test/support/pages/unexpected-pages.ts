import { direct } from '../../../sandbox/in-process-origin.ts';
import { origins } from '../../../sandbox/list.ts';
import type { JsonObject } from '../../../src/base/json.ts';
import { Fault } from '../../../src/contract/fault.ts';
import type { FetchPage, PageResponse } from '../../../src/fetch/page.ts';
import { markets } from '../../../src/markets/list.ts';
import { compileFields, createRecordCheck } from '../../../src/quality/record-schema.ts';
import type { MarketPage } from './market-pages.ts';

/** Pages of the sandbox whose data is JSON: the body, or the content of a script. */
export const jsonPages: readonly MarketPage[] = [
  ['mkta', 'sg', 'product', { item_id: '20101', shop_id: '7' }],
  ['mkta', 'sg', 'product', { item_id: '20707', shop_id: '7' }],
  ['mkta', 'sg', 'variants', { item_id: '20101', shop_id: '7' }],
  ['mkta', 'sg', 'variants', { item_id: '20702', shop_id: '7' }],
  ['mkta', 'sg', 'search', { keyword: 'lamp 001' }],
  ['mkta', 'sg', 'search', { keyword: 'lamp 002' }],
  ['mkta', 'sg', 'search', { keyword: 'lamp 003' }],
  ['mkta', 'sg', 'merchant', { shop_id: '7003' }],
  ['mkta', 'sg', 'merchant', { shop_id: '7004' }],
  ['mktb', 'id', 'product', { shop_domain: 'warung-5', product_key: 'rak-101' }],
  ['mktb', 'id', 'product', { shop_domain: 'warung-5', product_key: 'rak-705' }],
  ['mktb', 'id', 'search', { keyword: 'rak 701' }],
  ['mktb', 'id', 'search', { keyword: 'rak 706' }],
  ['mktb', 'id', 'search', { list_type: 'category', keyword: '701' }],
  ['mktb', 'id', 'merchant', { shopid: '5701' }],
  ['mktc', 'id', 'product', { formattedId: 'ps--A-1-00104', sku: 'A-1-00104-00001' }],
  ['mktc', 'id', 'merchant', { shopid: 'A-60701' }],
  ['mktd', 'my', 'product', { product_id: '1729000000000000700', country: 'my' }],
  ['mktd', 'my', 'product', { product_id: '1729000000000000702', country: 'my' }],
  ['mktd', 'my', 'product', { product_id: '1729000000000000705', country: 'my' }],
  ['mktf', '', 'search', { url: 'https://s.example/collections/a-701' }],
  ['mktf', '', 'search', { url: 'https://s.example/search?q=wool' }],
  ['sites', 'example', 'product', { url: 'https://shop.example/p/10002' }],
  ['sites', 'example', 'search', { url: 'https://shop.example/c/lamps-702' }],
];

/** Time of the responses. */
const at = Date.UTC(2030, 0, 1);

/** Creates a fetch function of the page's origin in the sandbox. */
export const originOf = ([name, region]: MarketPage): FetchPage =>
  direct(origins.find(({ market }) => market === name)!, region, at).fetch;

/** Returns the market and the reader of a page. */
export function readerOf([name, , page]: MarketPage) {
  const market = markets.find((each) => each.name === name)!;
  return { market, reader: market.readers[page]! };
}

/**
 * Returns the response for a reader's `extract`: a record's first page, or a listing's last page
 * before its entries.
 */
export async function fetchMarketPage(page: MarketPage): Promise<PageResponse> {
  const [, region, , input] = page;
  const responses: PageResponse[] = [];
  const fetch = originOf(page);
  const recorded: FetchPage = async (request) => {
    const response = await fetch(request);
    responses.push(response);
    return response;
  };
  const context = { region, fetch: recorded };
  const { reader } = readerOf(page);
  await (reader.sort === 'record'
    ? reader.read(input, context)
    : reader.read(input, context).next());
  return reader.sort === 'record' ? responses[0]! : responses.at(-1)!;
}

/** Splits a page at its JSON, which is the whole body or the content of a script. */
export function splitPage({ body }: PageResponse): [before: string, json: string, after: string] {
  const text = body.toString();
  const script =
    /(?<=(?:id="__MODERN_ROUTER_DATA__"|type="application\/ld\+json")[^>]*>)[^<]+/.exec(text);
  if (script === null) return ['', text, ''];
  return [text.slice(0, script.index), script[0], text.slice(script.index + script[0].length)];
}

/** Listed fields of objects that records have as the site wrote them. */
const unchanged: Record<string, RegExp> = { mkta: /^data\.item\.models\[\]/, mktf: /./ };

/** Checks of the outcome of reading a page that differs from the expected ones. */
export interface PageCheck {
  /** Number of records so far. */
  readonly counts: { records: number };
  /** Returns the first field that has another type than documented, and its value, or null. */
  records(records: readonly JsonObject[]): string | null;
  /** Returns null for a fault of pages, otherwise the error. */
  error(error: unknown): string | null;
  /** Extracts records, and checks them or the error. */
  extract(response: PageResponse): string | null;
}

/** Creates checks of the outcome of reading a page. */
export function createPageCheck(page: MarketPage): PageCheck {
  const [name, region, pageName, input] = page;
  const { market, reader } = readerOf(page);
  const fields = compileFields(market.listedFields[pageName]!).filter(
    ({ path }) => !unchanged[name]?.test(path),
  );
  const shape = createRecordCheck(fields);
  const counts = { records: 0 };
  const check: PageCheck = {
    counts,
    records(records) {
      counts.records += records.length;
      for (const record of records) {
        const misses: Parameters<typeof shape.check>[1] = [];
        shape.check(record, misses);
        for (const [index, value] of misses)
          return `${fields[index]!.path} is ${JSON.stringify(value)}, not ${fields[index]!.notation}`;
        // Must accept each record.
        market.tracked?.[pageName]?.(record);
      }
      return null;
    },
    error(error) {
      if (error instanceof Fault && error.code.startsWith('page_')) return null;
      return (error as Error).stack ?? String(error);
    },
    extract(response) {
      try {
        const records = reader.extract(response, input, region);
        return check.records(Array.isArray(records) ? records : [records]);
      } catch (error) {
        return check.error(error);
      }
    },
  };
  return check;
}
