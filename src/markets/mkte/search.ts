import type { JsonObject } from '../../base/json.ts';
import type { PageRequest, PageResponse } from '../../fetch/page.ts';
import { integer, text } from '../fields.ts';
import { attribute, byId, find, findAll, type HtmlPage, words } from '../html/html.ts';
import type { ListPage, ListReader, ListSummary, ReadContext } from '../market.ts';
import { newEntries, withTitleOrPrice } from '../new-entries.ts';
import { parsePage } from './faults.ts';
import { homeCurrency, requestHeaders, visitorPreferences } from './regions.ts';
import { readEntry, resultElements } from './results.ts';
import { checkSearch, isWithoutResults } from './search-identity.ts';
import { scriptsWith } from './variants.ts';

/** Maximum pages of a search; stores have up to 400. */
const maxPages = 400;

/** Builds the request for a page of a search, or of a category by its node number. */
export function searchRequest(input: JsonObject, region: string, page: number): PageRequest {
  const query = new URLSearchParams();
  if (input.list_type === 'category')
    query.set('rh', `n:${text(input.category) ?? String(input.keyword)}`);
  else query.set('k', String(input.keyword));
  query.set('page', String(page));
  return {
    path: `/s?${query}`,
    headers: requestHeaders(region),
    preferences: visitorPreferences(region),
    redirects: 'same_origin',
  };
}

/** Page with results, or with an empty container of results. */
function isResultPage(page: HtmlPage): boolean {
  if (resultElements(page).length > 0) return true;
  return (
    find(page.root, '[data-component-type="s-search-results"], .s-main-slot, #noResultsTitle') !==
      undefined ||
    (byId(page, 'search') !== undefined && scriptsWith(page, 'totalResultCount').length > 0)
  );
}

/** Number of results that the site states, an estimate. Null if it states none. */
function claimedTotal(page: HtmlPage): number | null {
  for (const source of scriptsWith(page, 'totalResultCount')) {
    const found = integer(/"totalResultCount"\s{0,5}:\s{0,5}(\d{1,15})/.exec(source)?.[1]);
    if (found !== null) return found;
  }
  return null;
}

/** True if another page follows: the "next" element is an enabled link. */
function hasNext(page: HtmlPage): boolean {
  const next = find(page.root, '.s-pagination-next, #pagnNextLink, li.a-last');
  if (!next || /disabled/.test(next.attribs.class ?? '')) return false;
  return attribute(next.name === 'a' ? next : find(next, 'a[href]'), 'href') !== null;
}

/** Number of the displayed page, if it is stated: beyond the end, some stores repeat a page. */
function shownPage(page: HtmlPage): number | null {
  const selected = findAll(page.root, '.s-pagination-selected, .pagnCur, li.a-selected').map(
    (element) => integer(words(element)),
  );
  return selected.find((number) => number !== null) ?? null;
}

function entriesOf(page: HtmlPage, region: string): JsonObject[] {
  if (isWithoutResults(page)) return [];
  const entries = resultElements(page).map((result) => readEntry(result, homeCurrency(region)));
  return withTitleOrPrice(entries);
}

/**
 * A product that is both sponsored and a regular result is two entries, each at most once in a
 * listing.
 */
function nameOf({ asin, is_sponsored }: JsonObject): string {
  return `${is_sponsored === true ? 'ad' : 'result'} ${String(asin)}`;
}

function parseResponse(response: PageResponse): HtmlPage {
  return parsePage(response, 'search page', isResultPage);
}

async function* read(
  input: JsonObject,
  { region, fetch }: ReadContext,
): AsyncGenerator<ListPage, ListSummary, void> {
  const limit = Math.min(integer(input.pages) || maxPages, maxPages);
  const seen = new Set<string>();
  let scraped = 0;
  let total: number | null = null;
  let isCut = false;
  let places = 0;
  let largestPage = 0;
  for (let number = 1; number <= limit; number += 1) {
    const request = searchRequest(input, region, number);
    const response = await fetch(request);
    const page = parseResponse(response);
    checkSearch(response, page, input, request.path);
    const pageNumber = shownPage(page);
    if (pageNumber !== null && pageNumber !== number) break;
    total ??= isWithoutResults(page) ? 0 : claimedTotal(page);
    scraped += 1;
    const listed = entriesOf(page, region);
    const entries = newEntries(listed, seen, nameOf);
    const regular = listed.filter(({ is_sponsored }) => is_sponsored !== true).length;
    places += regular;
    largestPage = Math.max(largestPage, regular);
    // Advertisements differ between pages even if the results repeat.
    const isLast = entries.every(({ is_sponsored }) => is_sponsored === true) || !hasNext(page);
    if (entries.length > 0) yield { list: 'products', entries };
    if (isLast) break;
    isCut = number === limit;
  }
  return {
    total_products: seen.size,
    scraped_pages: scraped,
    total_result_count: total,
    // The total is an estimate, but not one that is wrong by a page.
    has_more: isCut || (total !== null && total - places > largestPage),
  };
}

/**
 * Reads the results of a search or category. Ends if the "next" link is missing, at `pages` (0:
 * all), at a page without new results, or at a page other than the requested one. `input` has
 * `list_type`, `keyword`, `category` and `pages`. Sponsored results are included and marked. A
 * search without results is an empty list, whatever the page shows instead; a refusal is a fault.
 * The summary has `total_products` and `scraped_pages` of this reading, the site's
 * `total_result_count`, and `has_more`. The site ends long searches without a "next" link; its
 * total then exceeds the results of the pages.
 */
export const search: ListReader = {
  sort: 'list',
  read,
  extract: (response, _input, region) =>
    newEntries(entriesOf(parseResponse(response), region), new Set(), nameOf),
};
