import type { JsonObject } from '../../base/json.ts';
import { Fault } from '../../contract/fault.ts';
import { pathPart } from '../../contract/path-part.ts';
import type { FetchPage, PageRequest, PageResponse } from '../../fetch/page.ts';
import {
  absoluteUrl,
  count,
  firstInteger,
  firstOf,
  integer,
  list,
  object,
  objects,
  percent,
  positive,
  rupiah,
  text,
} from '../fields.ts';
import type { ListReader } from '../market.ts';
import { checkNoEntries, newEntries } from '../new-entries.ts';
import { parseEnvelope } from './faults.ts';
import { addFilters, headers, merchantPage, site } from './site.ts';
import { merchantType, starsOf } from './summary.ts';

const perPage = 40;
/** Default maximum of products. */
const defaultLimit = 1500;
/** Maximum pages of a shop. Real shops have fewer pages, so a longer listing is faulty. */
const maxPages = 5000;

const filters = ['categoryids', 'keyword', 'brand'] as const;

function pageRequest(input: JsonObject, page: number): PageRequest {
  const start = (page - 1) * perPage;
  const query = new URLSearchParams({
    excludeProductList: 'false',
    page: String(page),
    start: String(start),
    itemPerPage: String(perPage),
    multiCategory: 'true',
    merchantSearch: 'false',
    pickupPointCode: '',
    showFacet: 'false',
    promoTab: 'false',
    defaultPickupPoint: 'true',
  });
  addFilters(query, input);
  return {
    path: `/backend/search/merchant/${pathPart(String(input.shopid).trim())}?${query}`,
    headers,
    page: merchantPage(input, page, start),
  };
}

function nameOf(category: unknown): string | null {
  return text(category) ?? text(object(category).name);
}

/** Returns the first image, whose entry is an address, or an object with one per size. */
function imageOf({ images, image }: JsonObject): string | null {
  const entries = [...list(images), image ?? null];
  const urls = entries.flatMap((entry) => [entry, object(entry).full, object(entry).thumbnail]);
  return firstOf(urls, (url) => absoluteUrl(url, site));
}

function entry(product: JsonObject): JsonObject {
  const price = object(product.price);
  const review = object(product.review);
  const sold = object(product.soldRangeCount);
  return {
    ...product,
    id: text(product.id) ?? text(product.sku) ?? text(product.itemSku),
    name: text(product.name),
    price: rupiah(price.minPrice) ?? rupiah(price.offerPriceDisplay) ?? rupiah(price.priceDisplay),
    original_price: rupiah(price.strikeThroughPriceDisplay),
    discount_percentage: percent(price.discount),
    rating: starsOf(review, review.absoluteRating),
    review_count: count(review.count),
    sold_count: count(product.soldCountTotal) ?? count(sold.id) ?? count(sold.en),
    brand: nameOf(product.brand),
    category:
      text(list(product.categoryNameHierarchy).at(-1)) ??
      nameOf(product.rootCategory) ??
      nameOf(product.category),
    url: absoluteUrl(product.url, site),
    image_url: imageOf(product),
    condition: null,
    stock: null,
    merchant: {
      id: text(product.merchantCode),
      name: text(product.merchantName),
      type: merchantType(product.official),
    },
  };
}

interface Listing {
  products: JsonObject[];
  /** Name of the shop. Null if the page does not state it. */
  name: string | null;
  /** True if the page shows the shop itself and not only products. */
  isShop: boolean;
  /** Number of the last page and of products as the site states them. Null if it does not. */
  lastPage: number | null;
  total: number | null;
}

/** Throws `page_mismatch` if every product names another shop. */
function checkShopOf(products: readonly JsonObject[], requestedShop: string): void {
  const codes = products.map(({ merchantCode }) => text(merchantCode)?.toUpperCase());
  const isOther = (code: string | undefined) => code !== undefined && code !== requestedShop;
  if (codes.length === 0 || !codes.every(isOther)) return;
  throw new Fault(
    'page_mismatch',
    `requested shop ${requestedShop}, the products belong to shop ${codes[0]}`,
  );
}

function listing(response: PageResponse, input: JsonObject): Listing {
  const { data } = parseEnvelope(response, 'shop');
  const products = objects(data.products);
  const holdsNone = data.products === null || data.products === undefined;
  if (
    !holdsNone &&
    (!Array.isArray(data.products) || products.length < Math.min(1, data.products.length))
  ) {
    throw new Fault(
      'page_unreadable',
      "the response's list of the shop's products has no products",
    );
  }
  const shop = object(data.merchant);
  if (holdsNone && Object.keys(shop).length === 0) {
    throw new Fault('page_unreadable', "the response has no list of the shop's products");
  }
  const requestedShop = text(input.shopid)?.trim().toUpperCase();
  const code = text(shop.code) ?? text(shop.merchantCode);
  if (requestedShop !== undefined && code !== null && code.toUpperCase() !== requestedShop) {
    throw new Fault('page_mismatch', `requested shop ${requestedShop}, got ${code}`);
  }
  if (requestedShop !== undefined) checkShopOf(products, requestedShop);
  const own = products.find(
    ({ merchantCode }) => text(merchantCode)?.toUpperCase() === requestedShop,
  );
  const paging = object(data.paging);
  return {
    products,
    name: text(shop.name) ?? text(own?.merchantName),
    isShop: Object.keys(shop).length > 0,
    // The site also writes 0 for a page with products.
    lastPage: positive(firstInteger(paging.total_page, paging.totalPage)),
    total: positive(firstInteger(paging.total_item, paging.totalItem)),
  };
}

/**
 * A first page with neither products nor the shop is empty only if the filters excluded everything.
 */
async function checkShop(input: JsonObject, fetch: FetchPage): Promise<string | null> {
  const filtered = filters.some((name) => text(input[name]) !== null);
  const bare = filtered
    ? listing(await fetch(pageRequest({ shopid: input.shopid }, 1)), input)
    : null;
  if (bare && (bare.isShop || bare.products.length > 0)) return bare.name;
  throw new Fault('page_not_found', `the site has no shop ${text(input.shopid)}`);
}

/** Response to the request of a page that does not exist. */
const noSuchPage: readonly number[] = [400, 404, 410, 422];

/**
 * Reads a page of a shop. Null if the page does not exist and is `past` the stated last one: the
 * site states at most 20 pages, however many products there are.
 */
async function readPage(
  input: JsonObject,
  page: number,
  past: boolean,
  fetch: FetchPage,
): Promise<Listing | null> {
  const response = await fetch(pageRequest(input, page));
  if (past && noSuchPage.includes(response.status)) return null;
  return listing(response, input);
}

/**
 * Returns the name of a shop whose first page has no products. Throws `page_not_found` without a
 * shop.
 */
async function checkEmptyShop(
  { total, isShop }: Listing,
  name: string | null,
  input: JsonObject,
  fetch: FetchPage,
): Promise<string | null> {
  checkNoEntries(total);
  return isShop ? name : await checkShop(input, fetch);
}

/** Returns true if the site states more products than the pages so far can have. */
function hasTotalAbove({ total }: Listing, page: number): boolean {
  return total !== null && page * perPage < total;
}

/**
 * Returns true if the site states a further page or further products, or states neither on a full
 * page.
 */
function isFollowed(found: Listing, page: number): boolean {
  const { lastPage, total, products } = found;
  if (lastPage === null && total === null) return products.length >= perPage;
  return (lastPage !== null && page < lastPage) || hasTotalAbove(found, page);
}

function limitOf(input: JsonObject): number {
  return positive(integer(input.limit)) ?? defaultLimit;
}

function extract(response: PageResponse, input: JsonObject): JsonObject[] {
  const entries = listing(response, input).products.map(entry);
  return newEntries(entries, new Set(), ({ id }) => text(id)).slice(0, limitOf(input));
}

/**
 * Reads a shop's products into `products`: the documented fields with prices in rupiah, and the
 * site's other fields. The summary has `store_name` and `has_more`. `input` has `shopid` (the
 * merchant code), `categoryids`, `keyword`, `brand` and `limit`. Ends at the limit, at the stated
 * last page, at an empty page, or at a page without new products.
 */
export const merchant: ListReader = {
  sort: 'list',
  async *read(input, { fetch }) {
    const seen = new Set<string>();
    let left = limitOf(input);
    let name: string | null = null;
    let past = false;
    let isStated = false;
    let hasMore = false;
    for (let page = 1; left > 0 && page <= maxPages; page += 1) {
      const found = await readPage(input, page, past, fetch);
      // `past` requires a total above the products of the pages before.
      if (found === null) {
        hasMore = true;
        break;
      }
      name ??= found.name;
      const added = newEntries(found.products.map(entry), seen, ({ id }) => text(id));
      if (added.length === 0) {
        if (page === 1) name = await checkEmptyShop(found, name, input, fetch);
        hasMore = isStated;
        break;
      }
      const entries = added.slice(0, left);
      left -= entries.length;
      yield { list: 'products', entries };
      hasMore = added.length > entries.length;
      isStated = isFollowed(found, page);
      past = found.lastPage !== null && page >= found.lastPage;
      if (past && !hasTotalAbove(found, page)) break;
      hasMore ||= (left === 0 || page === maxPages) && isStated;
    }
    return { store_name: name, has_more: hasMore };
  },
  extract: (response, input) => extract(response, input),
};
