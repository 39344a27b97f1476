import type { JsonObject } from '../../base/json.ts';
import type { PageRequest } from '../../fetch/page.ts';
import type { ListReader } from '../market.ts';
import { readListing, readPages } from './listing.ts';
import { filters, requestHeaders, searchPage } from './urls.ts';

const limit = 60;

/** Maximum pages of a search that the site serves. */
const maxPages = 100;

/**
 * Builds the request for a page of a search (`keyword`) or category (`category_id`): by offset, and
 * for a browser by page number from 0.
 */
function searchRequest(
  input: JsonObject,
  region: string,
  offset: number,
  page: number,
): PageRequest {
  const category = input.category_id !== undefined;
  const query = new URLSearchParams({
    by: String(input.by ?? (category ? 'pop' : 'relevancy')),
    order: String(input.order ?? 'desc'),
    limit: String(limit),
    newest: String(offset),
    page_type: 'search',
    scenario: category ? 'PAGE_CATEGORY' : 'PAGE_GLOBAL_SEARCH',
    source: 'SRP',
    version: '2',
  });
  if (category) query.set('match_id', String(input.category_id));
  else query.set('keyword', String(input.keyword));
  for (const name of Object.values(filters)) {
    if (input[name] !== undefined) query.set(name, String(input[name]));
  }
  return {
    path: `/api/v4/search/search_items?${query}`,
    headers: requestHeaders(region),
    page: searchPage(input, page),
  };
}

/**
 * Reads all pages of a search or category into `items`, without duplicates. Summary: `total_items`
 * in the result, `total_count` as the site estimates it, `pages_fetched`, `has_more`.
 */
export const search: ListReader = {
  sort: 'list',
  async *read(input, { region, fetch }) {
    const seen = new Set<string>();
    const pages = readPages(
      fetch,
      {
        request: (offset, page) => searchRequest(input, region, offset, page),
        read: (response) => readListing(response),
        limit,
        maxPages,
        exactTotal: false,
        repeatEmpty: true,
      },
      seen,
    );
    let page = await pages.next();
    for (; !page.done; page = await pages.next()) yield { list: 'items', entries: page.value };
    const { pages: fetched, total, more } = page.value;
    return {
      total_items: seen.size,
      total_count: total,
      pages_fetched: fetched,
      has_more: more,
    };
  },
  extract: (response) => readListing(response).entries,
};
