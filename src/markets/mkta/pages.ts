import type { JsonObject } from '../../base/json.ts';
import type { BrowserPage } from '../../fetch/page.ts';

/** Returns the product page whose scripts request the item's data. */
export function productPage({ shop_id, item_id }: JsonObject): BrowserPage {
  return { path: `/product/${shop_id}/${item_id}`, take: 'response', same: ['item_id', 'shop_id'] };
}

/** Sort and filter parameters: name in the request, then name in the page's address. */
const filters: Readonly<Record<string, string>> = {
  by: 'sortBy',
  order: 'order',
  price_min: 'minPrice',
  price_max: 'maxPrice',
  rating_filter: 'ratingFilter',
  locations: 'locations',
  official_mall: 'officialMall',
};

/** Returns a results page of a search or category, counted from 0. The text before "-cat" is arbitrary. */
export function searchPage(input: JsonObject, page: number): BrowserPage {
  const { category_id, keyword } = input;
  const query = new URLSearchParams(category_id === undefined ? { keyword: String(keyword) } : {});
  for (const [name, parameter] of Object.entries(filters)) {
    if (input[name] !== undefined) query.set(parameter, String(input[name]));
  }
  query.set('page', String(page));
  const path = category_id === undefined ? '/search' : `/all-cat.${category_id}`;
  return {
    path: `${path}?${query}`,
    take: 'response',
    same: [category_id === undefined ? 'keyword' : 'match_id'],
  };
}

/** Returns a page of a shop's items, counted from 0. The page requests several lists; `same` selects one. */
export function shopPage(shopId: string, page: number, same: readonly string[]): BrowserPage {
  return { path: `/shop/${shopId}/search?page=${page}&sortBy=pop`, take: 'response', same };
}
