import { isObject, type Json, type JsonObject } from '../../base/json.ts';
import { Fault } from '../../contract/fault.ts';
import type { FetchPage, PageRequest, PageResponse } from '../../fetch/page.ts';
import { objects } from '../fields.ts';
import { checkNoEntries, newEntries } from '../new-entries.ts';
import { card } from './card.ts';
import { parseResponse } from './faults.ts';
import { idOf, impossibility } from './item.ts';
import { withoutVisitors } from './visitors.ts';

/** One page of a search, category or shop. */
export interface Listing {
  /** Converted products without duplicates. */
  entries: JsonObject[];
  /** Number of entries including duplicates, which paging counts. */
  places: number;
  /** Total number of products as the site states it; an estimate for searches. */
  total: number | null;
  /** True if the site marks the page as the last. */
  last: boolean | null;
}

function inside(value: Json | undefined, ...path: string[]): Json | undefined {
  let found = value;
  for (const name of path) found = isObject(found) ? found[name] : undefined;
  return found;
}

/** Paths of the list in every generation of responses. */
function* lists(body: JsonObject): Generator<Json | undefined> {
  for (const holder of [body, body.data]) {
    yield inside(holder, 'items');
    yield inside(holder, 'centralize_item_card', 'item_cards');
    yield inside(holder, 'item_cards');
    const sections = inside(holder, 'sections');
    if (Array.isArray(sections)) {
      yield sections.flatMap((section) => {
        const found = ['item', 'items', 'item_cards']
          .map((name) => inside(section, 'data', name))
          .find(Array.isArray);
        return found ?? [];
      });
    }
  }
}

function flag(body: JsonObject, ...names: string[]): boolean | null {
  for (const holder of [body, body.data]) {
    for (const name of names) {
      const value = inside(holder, name);
      if (typeof value === 'boolean') return value;
    }
  }
  return null;
}

function count(body: JsonObject, ...names: string[]): number | null {
  for (const holder of [body, body.data]) {
    for (const name of names) {
      const value = inside(holder, name);
      if (typeof value === 'number' && value >= 0) return value;
    }
  }
  return null;
}

/**
 * Returns the list of products of a response, whatever its elements are. A response without a list
 * is a page without products only if it says so: it is the last page, or the total is 0.
 */
function listOf(body: JsonObject): Json[] {
  const found = [...lists(body)].filter((value) => value !== undefined && value !== null);
  const arrays = found.filter(Array.isArray);
  const list = arrays.find(({ length }) => length > 0) ?? arrays[0];
  if (list !== undefined) return list;
  const isEnd =
    flag(body, 'nomore', 'no_more') === true || count(body, 'total_count', 'total') === 0;
  if (isEnd && found.length === 0) return [];
  throw new Fault('page_unreadable', 'the response has no list of items');
}

/**
 * Reads one page of a listing of any generation. With `shopId`, products of other shops are left
 * out. Throws the faults of parseResponse(); `page_unreadable` for a response without a list of
 * products; `page_mismatch` if every product belongs to another shop or more than 10 % are
 * implausible.
 */
export function readListing(response: PageResponse, shopId?: string): Listing {
  const body = withoutVisitors(parseResponse(response));
  const list = listOf(body);
  const cards = objects(list);
  if (cards.length === 0 && list.length > 0) {
    throw new Fault('page_unreadable', 'the list has no readable items');
  }
  const products = newEntries(cards.map(card), new Set(), (entry) => idOf(entry, 'itemid'));
  const impossible = products.filter((entry) => impossibility(entry, response.at) !== null);
  if (impossible.length * 10 > products.length) {
    throw new Fault(
      'page_mismatch',
      `${impossible.length} of ${products.length} items are implausible`,
    );
  }
  const entries = products.filter(
    (entry) => shopId === undefined || [null, shopId].includes(idOf(entry, 'shopid')),
  );
  if (products.length > 0 && entries.length === 0) {
    throw new Fault('page_mismatch', `requested shop ${shopId}, the items belong to another shop`);
  }
  return {
    entries,
    places: list.length,
    total: count(body, 'total_count', 'total'),
    last: flag(body, 'nomore', 'no_more'),
  };
}

interface Paging {
  /** Builds the request for the page at an offset; `page` counts from 0. */
  request(offset: number, page: number): PageRequest;
  read(response: PageResponse): Listing;
  /** Entries per page. */
  limit: number;
  /** Maximum pages. */
  maxPages: number;
  /**
   * True if the site's total is exact. The listing then ends at the total instead of at a short
   * page.
   */
  exactTotal: boolean;
  /**
   * True if an empty first page is requested again: a search without results and a silent refusal
   * look alike.
   */
  repeatEmpty: boolean;
}

/** Result of reading all pages. */
export interface PagingEnd {
  pages: number;
  total: number | null;
  /** True if the site has more products than the pages. */
  more: boolean;
}

function isLast(listing: Listing, paging: Paging, next: number): boolean {
  if (listing.places === 0 || listing.last === true) return true;
  if (listing.last === false) return false;
  if (paging.exactTotal && listing.total !== null && listing.total > 0)
    return next >= listing.total;
  return listing.places < paging.limit;
}

/**
 * Returns true if the site has further products after a listing ended: by its mark on the last
 * page, and by an exact total above the number of products on the pages.
 */
function hasMore({ last, total }: Listing, { exactTotal }: Paging, products: number): boolean {
  return last === false || (exactTotal && total !== null && total > products);
}

/** Reads a page, and an empty first page once more. `page` counts from 0. */
async function readPage(
  fetch: FetchPage,
  paging: Paging,
  offset: number,
  page: number,
): Promise<Listing> {
  const request = paging.request(offset, page);
  const listing = paging.read(await fetch(request));
  const isRepeated = page === 0 && listing.places === 0 && paging.repeatEmpty;
  return isRepeated ? paging.read(await fetch(request)) : listing;
}

/**
 * Yields the products of a listing page by page, without those in `seen`, to which it adds them.
 * Ends at the page that the site marks as the last, at an empty page, at a page without new
 * products, and, if the site does not mark the last page, at the exact total or at a short page.
 * Throws the faults of the fetch and of `read`.
 */
export async function* readPages(
  fetch: FetchPage,
  paging: Paging,
  seen: Set<string>,
): AsyncGenerator<JsonObject[], PagingEnd, void> {
  const listedIds = new Set<string>();
  let total: number | null = null;
  let offset = 0;
  for (let pages = 1; ; pages += 1) {
    const listing = await readPage(fetch, paging, offset, pages - 1);
    total = listing.total ?? total;
    if (listing.places === 0 && pages === 1) checkNoEntries(total);
    const ids = listing.entries.map(({ itemid }) => String(itemid));
    const hasNewEntries = ids.some((id) => !listedIds.has(id));
    const unseenEntries = listing.entries.filter((_, at) => !seen.has(ids[at]!));
    for (const id of ids) {
      listedIds.add(id);
      seen.add(id);
    }
    if (unseenEntries.length > 0) yield unseenEntries;
    // The offset grows by one page at most, even if the site adds entries to a page.
    offset += Math.min(listing.places, paging.limit);
    const isEnd = !hasNewEntries || isLast(listing, paging, offset);
    if (isEnd || pages >= paging.maxPages)
      return { pages, total, more: !isEnd || hasMore(listing, paging, listedIds.size) };
  }
}
