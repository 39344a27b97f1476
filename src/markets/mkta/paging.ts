import type { JsonObject } from '../../base/json.ts';
import type { FetchPage, PageAnswer, PageRequest } from '../../fetch/page.ts';
import type { Listing } from './listing.ts';

/** How a listing is paged through. */
export interface Paging {
  /** The request for the page that begins at this place; pages are counted from 0. */
  request(offset: number, page: number): PageRequest;
  read(answer: PageAnswer): Listing;
  /** Places of a page. */
  limit: number;
  /** Pages after which the listing is left, more or not. */
  mostPages: number;
  /** The site's total is exact: where nothing else tells the end, it does, not a short page. */
  exactTotal: boolean;
  /** Asks once more when the first page is empty: no match and a silent refusal look alike. */
  repeatEmpty: boolean;
}

/** What is known once the pages have ended. */
export interface PagingEnd {
  pages: number;
  total: number | null;
  /** Left at `mostPages` although the site had more. */
  more: boolean;
}

function isLast(listing: Listing, paging: Paging, next: number): boolean {
  if (listing.places === 0 || listing.last === true) return true;
  if (listing.last === false) return false;
  if (paging.exactTotal && listing.total !== null && listing.total > 0) return next >= listing.total;
  return listing.places < paging.limit;
}

/**
 * Yields the products of a listing page by page, without those in `seen`, to which it adds. Ends
 * where the site says so, at an empty page, at a page that only repeats earlier ones, and, where the
 * site does not say whether more follows, at its exact total or at a short page. Faults: those of the fetch and of `read`.
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
    const ids = listing.entries.map(({ itemid }) => String(itemid));
    const news = ids.some((id) => !own.has(id));
    const fresh = listing.entries.filter((_, at) => !seen.has(ids[at]!));
    for (const id of ids) {
      own.add(id);
      seen.add(id);
    }
    if (fresh.length > 0) yield fresh;
    // Never further than a page, should the site add places of its own to one.
    offset += Math.min(listing.places, paging.limit);
    if (!news || isLast(listing, paging, offset)) return { pages, total, more: false };
    if (pages >= paging.mostPages) return { pages, total, more: true };
  }
}
