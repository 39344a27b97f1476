import type { JsonObject } from '../../base/json.ts';
import type { FetchPage, PageRequest, PageResponse } from '../../fetch/page.ts';
import { checkNoEntries } from '../new-entries.ts';
import type { Listing } from './listing.ts';

/** Options for readPages(). */
export interface Paging {
  /** Builds the request for the page at an offset; `page` counts from 0. */
  request(offset: number, page: number): PageRequest;
  read(response: PageResponse): Listing;
  /** Entries per page. */
  limit: number;
  /** Maximum pages. */
  maxPages: number;
  /** True if the site's total is exact. The listing then ends at the total instead of at a short page. */
  exactTotal: boolean;
  /**
   * True if an empty first page is requested again: a search without results and a silent refusal look alike.
   */
  repeatEmpty: boolean;
}

/** Result of reading all pages. */
export interface PagingEnd {
  pages: number;
  total: number | null;
  /** True if the site has more pages than the maximum. */
  more: boolean;
}

function isLast(listing: Listing, paging: Paging, next: number): boolean {
  if (listing.places === 0 || listing.last === true) return true;
  if (listing.last === false) return false;
  if (paging.exactTotal && listing.total !== null && listing.total > 0) return next >= listing.total;
  return listing.places < paging.limit;
}

/**
 * Yields the products of a listing page by page, without those in `seen`, to which it adds them. Ends at the
 * page that the site marks as the last, at an empty page, at a page without new products, and, if the site
 * does not mark the last page, at the exact total or at a short page. Throws the faults of the fetch and of
 * `read`.
 */
export async function* readPages(
  fetch: FetchPage,
  paging: Paging,
  seen: Set<string>,
): AsyncGenerator<JsonObject[], PagingEnd, void> {
  const own = new Set<string>();
  let total: number | null = null;
  let offset = 0;
  for (let pages = 1; ; pages += 1) {
    const request = paging.request(offset, pages - 1);
    let listing = paging.read(await fetch(request));
    if (listing.places === 0 && pages === 1 && paging.repeatEmpty) {
      listing = paging.read(await fetch(request));
    }
    total = listing.total ?? total;
    if (listing.places === 0 && pages === 1) checkNoEntries(total);
    const ids = listing.entries.map(({ itemid }) => String(itemid));
    const news = ids.some((id) => !own.has(id));
    const fresh = listing.entries.filter((_, at) => !seen.has(ids[at]!));
    for (const id of ids) {
      own.add(id);
      seen.add(id);
    }
    if (fresh.length > 0) yield fresh;
    // The offset grows by one page at most, even if the site adds entries to a page.
    offset += Math.min(listing.places, paging.limit);
    if (!news || isLast(listing, paging, offset)) return { pages, total, more: false };
    if (pages >= paging.maxPages) return { pages, total, more: true };
  }
}
