import { isObject, type JsonObject } from '../../base/json.ts';
import type { BrowserPage } from '../../fetch/page.ts';
import type { PageName } from '../market.ts';
import { idOf } from './item.ts';

export interface MktaRegion {
  /** Suffix of the hosts of submitted URLs. */
  suffix: string;
  /** Time zone offset from UTC in minutes. */
  offsetMinutes: number;
  /** Value of the `accept-language` header. */
  language: string;
}

/** Regions of the market by code. */
export const regions: Readonly<Record<string, MktaRegion>> = {
  id: { suffix: '.co.id', offsetMinutes: 420, language: 'id' },
  sg: { suffix: '.sg', offsetMinutes: 480, language: 'en' },
  th: { suffix: '.co.th', offsetMinutes: 420, language: 'th' },
  ph: { suffix: '.ph', offsetMinutes: 480, language: 'en' },
  my: { suffix: '.com.my', offsetMinutes: 480, language: 'en' },
  vn: { suffix: '.vn', offsetMinutes: 420, language: 'vi' },
  tw: { suffix: '.tw', offsetMinutes: 480, language: 'zh-Hant' },
  br: { suffix: '.com.br', offsetMinutes: -180, language: 'pt-BR' },
};

/**
 * Returns the headers of every request to a region, without credentials or computed anti-bot
 * values.
 */
export function requestHeaders(region: string): Record<string, string> {
  const language = regions[region]?.language ?? 'en';
  return { accept: 'application/json', 'accept-language': language, 'x-api-source': 'pc' };
}

/** Parsed URL: a reader's input, the region, and the task type. */
export interface ParsedUrl {
  input: JsonObject;
  region: string;
  type: string;
}

function regionOf(host: string): string {
  let found: string | undefined;
  let longest = 0;
  for (const [region, { suffix }] of Object.entries(regions)) {
    if (!host.endsWith(suffix) || suffix.length <= longest) continue;
    found = region;
    longest = suffix.length;
  }
  if (found !== undefined) return found;
  const suffixes = Object.values(regions).map(({ suffix }) => suffix);
  throw new Error(`the host ${host} ends in none of ${suffixes.join(', ')}`);
}

const orders: readonly string[] = ['asc', 'desc'];
const sorts: readonly string[] = ['relevancy', 'ctime', 'sales', 'price', 'pop'];

/** Filters: the query parameter of a page, by the parameter of its request. */
export const filters: Readonly<Record<string, string>> = {
  minPrice: 'price_min',
  maxPrice: 'price_max',
  ratingFilter: 'rating_filter',
  locations: 'locations',
  officialMall: 'official_mall',
};

function narrowing(query: URLSearchParams): JsonObject {
  const input: JsonObject = {};
  const by = query.get('sortBy');
  const order = query.get('order');
  if (by !== null && sorts.includes(by)) input.by = by;
  if (order !== null && orders.includes(order)) input.order = order;
  for (const [name, parameter] of Object.entries(filters)) {
    const value = query.get(name);
    if (value !== null && value !== '') input[parameter] = value;
  }
  return input;
}

function search(path: string, query: URLSearchParams): Omit<ParsedUrl, 'region'> {
  const category = /-cat\.(?:\d+\.)*(\d+)\/?$/.exec(path)?.[1];
  if (category !== undefined)
    return { input: { category_id: category, ...narrowing(query) }, type: 'category' };
  if (!/^\/search\/?$/.test(path)) {
    throw new Error('neither a search (/search?keyword=…) nor a category (…-cat.<category_id>)');
  }
  const keyword = query.get('keyword')?.trim() ?? '';
  if (keyword === '') throw new Error('a search needs a keyword: /search?keyword=…');
  return { input: { keyword, ...narrowing(query) }, type: 'search' };
}

function merchant(path: string): Omit<ParsedUrl, 'region'> {
  const shop = /\/shop\/([1-9]\d*)\/?$/.exec(path)?.[1];
  if (shop === undefined) throw new Error('not a shop: the path must end in /shop/<shop_id>');
  return { input: { shop_id: shop }, type: 'merchant' };
}

function product(path: string): Omit<ParsedUrl, 'region'> {
  const ids =
    /-i\.([1-9]\d*)\.([1-9]\d*)\/?$/.exec(path) ??
    /^\/product\/([1-9]\d*)\/([1-9]\d*)\/?$/.exec(path);
  if (!ids)
    throw new Error('not a product: …-i.<shop_id>.<item_id> or /product/<shop_id>/<item_id>');
  return { input: { shop_id: ids[1]!, item_id: ids[2]! }, type: 'product' };
}

/**
 * Parses a submitted URL (docs/kinds/search-items.md, docs/kinds/merchant-items.md): the region
 * from the host's suffix; ids, keyword and sorting from the path and query. Pages are fetched from
 * the region's configured origin, never from the URL's host. Throws an Error that describes the
 * problem.
 */
export function parseUrl(page: PageName, text: string): ParsedUrl {
  if (!URL.canParse(text)) throw new Error('not an absolute URL');
  const url = new URL(text);
  if (url.protocol !== 'https:' && url.protocol !== 'http:')
    throw new Error(`not an http or https address: ${url.protocol}`);
  const region = regionOf(url.hostname);
  switch (page) {
    case 'search':
      return { ...search(url.pathname, url.searchParams), region };
    case 'merchant':
      return { ...merchant(url.pathname), region };
    default:
      return { ...product(url.pathname), region };
  }
}

/**
 * Returns the path of the page of a record's item (see product()), whose ids have another name on
 * each page.
 */
export function pagePath(record: JsonObject): string | null {
  const data = isObject(record.data) ? record.data : {};
  const item = isObject(data.item) ? data.item : record;
  const shop = idOf(item, 'shop_id', 'shopId', 'shopid');
  const id = idOf(item, 'item_id', 'itemId', 'itemid');
  return shop === null || id === null ? null : `/product/${shop}/${id}`;
}

/** Returns the product page whose scripts request the item's data. */
export function productPage({ shop_id, item_id }: JsonObject): BrowserPage {
  return { path: `/product/${shop_id}/${item_id}`, take: 'response', same: ['item_id', 'shop_id'] };
}

/**
 * Returns a results page of a search or category, counted from 0. The text before "-cat" is
 * arbitrary.
 */
export function searchPage(input: JsonObject, page: number): BrowserPage {
  const { category_id, keyword } = input;
  const isCategory = category_id !== undefined;
  const query = new URLSearchParams();
  if (!isCategory) query.set('keyword', String(keyword));
  for (const [parameter, name] of Object.entries({ sortBy: 'by', order: 'order', ...filters })) {
    if (input[name] !== undefined) query.set(parameter, String(input[name]));
  }
  query.set('page', String(page));
  const path = isCategory ? `/all-cat.${category_id}` : '/search';
  return {
    path: `${path}?${query}`,
    take: 'response',
    same: [isCategory ? 'match_id' : 'keyword'],
  };
}

/**
 * Returns a page of a shop's items, counted from 0. The page requests several lists; `same` selects
 * one.
 */
export function shopPage(shopId: string, page: number, same: readonly string[]): BrowserPage {
  return { path: `/shop/${shopId}/search?page=${page}&sortBy=pop`, take: 'response', same };
}
