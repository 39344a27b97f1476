import type { JsonObject } from '../../base/json.ts';
import type { PageRequest } from '../../fetch/page.ts';
import type { ListPage, ListReader, ReadContext } from '../market.ts';
import { type PagingEnd, readListing, readPages } from './listing.ts';
import { requestHeaders, shopPage } from './urls.ts';

const limit = 100;

/** 50,000 items. No shop has more, so a longer listing is faulty. */
const maxPages = 500;

/**
 * Builds the request for a page of a shop's sold-out items: by offset, and for a browser by page
 * number from
 * 0.
 */
function soldOutRequest(shopId: string, region: string, offset: number, page: number): PageRequest {
  const query = new URLSearchParams({
    shopid: shopId,
    limit: String(limit),
    offset: String(offset),
    order: 'desc',
    sort_by: 'pop',
    filter_sold_out: '1',
    use_case: '4',
    item_card_use_scene: 'search_items_popular',
  });
  return {
    path: `/api/v4/shop/search_items?${query}`,
    headers: requestHeaders(region),
    page: shopPage(shopId, page, ['shopid', 'filter_sold_out']),
  };
}

/** Builds the request for a page of a shop's active items. */
function activeRequest(shopId: string, region: string, offset: number, page: number): PageRequest {
  const query = new URLSearchParams({
    bundle: 'shop_page_category_tab_main',
    shop_id: shopId,
    limit: String(limit),
    offset: String(offset),
    sort_type: '1',
  });
  return {
    path: `/api/v4/shop/rcmd_items?${query}`,
    headers: requestHeaders(region),
    page: shopPage(shopId, page, ['shop_id']),
  };
}

/** Result of one of a shop's two listings. */
interface Collected {
  entries: number;
  end: PagingEnd;
}

async function* collect(
  list: string,
  request: typeof soldOutRequest,
  shopId: string,
  { region, fetch }: ReadContext,
  seen: Set<string>,
): AsyncGenerator<ListPage, Collected, void> {
  const pages = readPages(
    fetch,
    {
      request: (offset, page) => request(shopId, region, offset, page),
      read: (response) => readListing(response, shopId),
      limit,
      maxPages,
      exactTotal: true,
      repeatEmpty: list === 'rcmd_items',
    },
    seen,
  );
  let entries = 0;
  let page = await pages.next();
  for (; !page.done; page = await pages.next()) {
    entries += page.value.length;
    yield { list, entries: page.value };
  }
  return { entries, end: page.value };
}

/**
 * Reads all items of a shop without duplicates: the sold-out items into `items`, then the active
 * ones into `rcmd_items` (docs/kinds/merchant-items.md). The summary describes `items`:
 * `total_fetched`, `total_count` as the site states it, `pages_fetched`, `items_has_more`.
 * `rcmd_items_has_more` describes the active items, `has_more` both lists.
 */
export const merchant: ListReader = {
  sort: 'list',
  async *read(input: JsonObject, context: ReadContext) {
    const shopId = String(input.shop_id);
    const seen = new Set<string>();
    const soldOut = yield* collect('items', soldOutRequest, shopId, context, seen);
    const active = yield* collect('rcmd_items', activeRequest, shopId, context, seen);
    const { entries, end } = soldOut;
    return {
      total_fetched: entries,
      total_count: end.total,
      pages_fetched: end.pages,
      has_more: end.more || active.end.more,
      items_has_more: end.more,
      rcmd_items_has_more: active.end.more,
    };
  },
  extract: (response, { shop_id }) =>
    readListing(response, shop_id === undefined ? undefined : String(shop_id)).entries,
};
