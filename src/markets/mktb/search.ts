import type { Json, JsonObject } from '../../base/json.ts';
import { Fault } from '../../contract/fault.ts';
import type { PageRequest, PageResponse } from '../../fetch/page.ts';
import { abbreviatedRupiah, integer, number, object, objects, positive, text } from '../fields.ts';
import type { ListReader } from '../market.ts';
import { checkNoEntries, newEntries } from '../new-entries.ts';
import {
  address,
  discount,
  id,
  parseShop,
  plain,
  price,
  reviews,
  soldLabel,
  stars,
} from './card.ts';
import { deliveryLocation, joinPath, operation, parseData } from './graphql.ts';
import { categoryQuery, searchQuery } from './search-query.ts';

/** Products per page. */
const rows = 60;

/** Returns true if the input is a category rather than a search. */
export function isCategory(input: JsonObject): boolean {
  return input.list_type === 'category';
}

function shared(input: JsonObject, page: number, start: number): Record<string, string> {
  return {
    device: 'desktop',
    page: String(page),
    related: 'true',
    rows: String(rows),
    safe_search: 'false',
    st: 'product',
    start: String(start),
    ...minPrice(input),
  };
}

/** Returns the parameter of the minimum price. Empty without one. */
function minPrice(input: JsonObject): { pmin?: string } {
  const pmin = integer(input.pmin);
  return pmin !== null && pmin > 0 ? { pmin: String(pmin) } : {};
}

/** Returns the site's page with these results. Null for a category without its slug. */
function pageOf(input: JsonObject, page: number): string | null {
  const narrowing = { ...minPrice(input), page: String(page) };
  if (!isCategory(input)) {
    const query = { st: 'product', q: String(input.keyword), ...narrowing };
    return `/search?${new URLSearchParams(query)}`;
  }
  const slug = text(input.category)
    ?.split('/')
    .filter((part) => part !== '');
  if (slug) return `${joinPath('p', ...slug)}?${new URLSearchParams(narrowing)}`;
  return null;
}

/**
 * Builds the request for a page, counted from 1. `carried` holds the parameters that the previous
 * response asked for; they never override the request's own. The offset counts from 1 in categories
 * and from 0 in searches, as in the site's own requests.
 */
function searchRequest(input: JsonObject, page: number, carried: string): PageRequest {
  const offset = (page - 1) * rows;
  const keyword = String(input.keyword);
  const params = new URLSearchParams(
    isCategory(input)
      ? {
          ...shared(input, page, offset + 1),
          identifier: (text(input.category) ?? '').replace(/^\/|\/$/g, '').replaceAll('/', '_'),
          ob: '',
          sc: keyword,
          source: 'directory',
          user_id: '0',
        }
      : {
          ...shared(input, page, offset),
          ob: '23',
          q: keyword,
          scheme: 'https',
          source: 'search',
          topads_bucket: 'true',
          user_cityId: deliveryLocation.cityId,
          user_districtId: deliveryLocation.districtId,
        },
  );
  const own = new Set(params.keys());
  for (const [name, value] of new URLSearchParams(carried)) {
    if (!own.has(name)) params.set(name, value);
  }
  const [name, query] = isCategory(input)
    ? ['SearchProductQuery', categoryQuery]
    : ['SearchProductV5Query', searchQuery];
  const browserPage = pageOf(input, page);
  return operation(
    name,
    query,
    { params: params.toString() },
    { 'x-device': 'desktop-0.0' },
    browserPage,
  );
}

/** Default maximum of products. */
const defaultLimit = 5000;
/** Maximum pages of a listing. No listing of the site is as long, so a longer one is faulty. */
const maxPages = 2000;

const roots = [
  'searchProductV5',
  'ace_search_product_v4',
  'organic',
  'CategoryProducts',
  'searchProduct',
];

interface Listing {
  products: JsonObject[];
  /** Number of products as the site states it. Null if it does not. */
  total: number | null;
  /** Parameters for the request of the next page. */
  carried: string;
}

function productsOf(root: JsonObject): Json {
  const inner = root.data;
  const products = Array.isArray(inner) ? inner : (object(inner).products ?? root.products ?? null);
  return Array.isArray(products) ? products : null;
}

/** Returns the products of a page of any generation. A refusal is a fault, never an empty page. */
function listing(response: PageResponse): Listing {
  const root = parseData(response, roots, 'listing', 'page_failed');
  const header = object(root.header);
  const found = productsOf(root);
  const products = objects(found);
  const code = text(header.responseCode);
  const message = text(header.errorMessage);
  const failed = (code !== null && code !== '0') || message !== null;
  // Other codes also accompany products, for a corrected or a related keyword.
  if (products.length === 0 && failed) {
    const words = message === null ? '' : `: ${message.slice(0, 200)}`;
    throw new Fault(
      'page_failed',
      `the search returned code ${code ?? 'none'} and no products${words}`,
    );
  }
  if (found === null || (Array.isArray(found) && found.length > 0 && products.length === 0)) {
    throw new Fault('page_unreadable', 'the search response has no list of products');
  }
  // The stated number of a category may count the page only.
  const counted = integer(root.count);
  return {
    products,
    total:
      integer(header.totalData) ?? (counted !== null && counted > products.length ? counted : null),
    carried: text(header.additionalParams) ?? '',
  };
}

function freeShipping(product: JsonObject): boolean | null {
  if (product.freeShipping !== undefined) return text(object(product.freeShipping).url) !== null;
  const active = object(product.freeOngkir).isActive;
  return typeof active === 'boolean' ? active : null;
}

function soldCount(product: JsonObject): number | null {
  const labels = product.labelGroups ?? product.label_groups;
  const exact = integer(object(product.stock).sold);
  return exact !== null && exact > 0 ? exact : (soldLabel(labels) ?? exact);
}

function entry(product: JsonObject): JsonObject {
  const cost = object(product.price);
  const shop = object(product.shop);
  const media = object(product.mediaURL);
  const shopName = parseShop(shop.url) ?? parseShop(product.url);
  return {
    ...plain(product),
    id: id(product.id, product.oldID),
    name: text(product.name),
    price: price(
      cost.number,
      cost.value,
      cost.text,
      product.priceInt,
      product.price_int,
      product.price,
    ),
    original_price:
      price(cost.original, product.originalPrice, product.original_price) ??
      abbreviatedRupiah(cost.original ?? product.originalPrice ?? product.original_price),
    discount_percentage: discount(
      cost.discountPercentage ?? product.discountPercentage ?? product.discount_percentage,
    ),
    rating: stars(product.ratingAverage) ?? stars(product.rating),
    review_count: reviews(product.countReview ?? product.count_review),
    sold_count: soldCount(product),
    shop_id: id(shop.id, shop.shopId, shop.oldID),
    shop_name: text(shop.name),
    shop_domain: text(shop.domain) ?? shopName,
    url: address(product.url),
    image_url: address(
      media.image,
      media.image700,
      media.image300,
      product.imageUrl,
      product.imageUrlLarge,
      product.image_url,
    ),
    location: text(shop.city) ?? text(shop.location),
    condition: null,
    free_shipping: freeShipping(product),
  };
}

/** The site's minimum price does not apply to promoted products. */
function atLeast(entries: JsonObject[], pmin: number | null): JsonObject[] {
  if (pmin === null || pmin <= 0) return entries;
  return entries.filter((entry) => (number(entry.price) ?? 0) >= pmin);
}

function limitOf(input: JsonObject): number {
  return positive(integer(input.product_limit)) ?? defaultLimit;
}

function extract(response: PageResponse, input: JsonObject): JsonObject[] {
  const entries = newEntries(listing(response).products.map(entry), new Set(), ({ id }) =>
    text(id),
  );
  return atLeast(entries, integer(input.pmin)).slice(0, limitOf(input));
}

/**
 * Returns true if a page is the last by the site's total. A total of fewer products than it lists
 * is none.
 */
function isLast({ products, total }: Listing, page: number): boolean {
  if (total === null || total < (page - 1) * rows + products.length) return false;
  return page * rows >= total;
}

/** Returns true if a further page can follow: the site states a total, or the page is full. */
function isFollowed(found: Listing, page: number): boolean {
  if (isLast(found, page)) return false;
  return found.total !== null || found.products.length >= rows;
}

/**
 * Reads a search or category into `products`: the documented fields with prices in rupiah, and the
 * site's other fields. `input` has `list_type`, `keyword` (the number of a category), `category`,
 * `pmin` and `product_limit`. Ends at the limit, at an empty page, at the site's total, or at a
 * page without new products. The summary has `has_more`, also if the site's pages end before its
 * total.
 */
export const search: ListReader = {
  sort: 'list',
  async *read(input, { fetch }) {
    const seen = new Set<string>();
    const pmin = integer(input.pmin);
    let left = limitOf(input);
    let carried = '';
    let hasMore = false;
    for (let page = 1; left > 0 && page <= maxPages; page += 1) {
      const found = listing(await fetch(searchRequest(input, page, carried)));
      const added = newEntries(found.products.map(entry), seen, ({ id }) => text(id));
      if (added.length === 0) {
        if (page === 1) checkNoEntries(found.total);
        hasMore = found.total !== null && found.total > (page - 1) * rows;
        break;
      }
      const matching = atLeast(added, pmin);
      const entries = matching.slice(0, left);
      left -= entries.length;
      yield { list: 'products', entries };
      carried = isCategory(input) ? '' : found.carried;
      const isCut = matching.length > entries.length;
      const isLimit = left === 0 || page === maxPages;
      hasMore = isCut || (isLimit && isFollowed(found, page));
      if (isLast(found, page)) break;
    }
    return { has_more: hasMore };
  },
  extract: (response, input) => extract(response, input),
};
