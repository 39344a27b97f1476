import type { JsonObject } from '../../base/json.ts';
import type { PageRequest } from '../../fetch/page.ts';
import { integer, text } from '../fields.ts';
import { joinPath, operation, place, typed } from './graphql.ts';

/** Products per page. */
export const rows = 60;

const searchQuery = `query SearchProductV5Query($params: String!) { searchProductV5(params: $params) ${typed(`{
  header { totalData responseCode keywordProcess keywordIntention componentID isQuerySafe additionalParams
    backendFilters meta { dynamicFields } }
  data { totalDataText
    products { oldID: id id: id_str_auto_ ttsProductID name url applink mediaURL { image image300 videoCustom }
      shop { oldID: id id: id_str_auto_ ttsSellerID name url city tier } stock { ttsSKUID }
      badge { oldID: id id: id_str_auto_ title url }
      price { text number range original discountPercentage } freeShipping { url }
      labelGroups { position title type url styles { key value } }
      labelGroupsVariant { title type typeVariant hexColor }
      category { oldID: id id: id_str_auto_ name breadcrumb gaKey } rating wishlist
      ads { id productClickURL productViewURL productWishlistURL tag }
      meta { oldParentID: parentID parentID: parentID_str_auto_ oldWarehouseID: warehouseID
        warehouseID: warehouseID_str_auto_ isImageBlurred isPortrait } } } }`)} }`;

const categoryQuery = `query SearchProductQuery($params: String) { CategoryProducts: searchProduct(params: $params) ${typed(
  `{ count data: products { id url imageUrl: image_url imageUrlLarge: image_url_700 catId: category_id gaKey: ga_key
    countReview: count_review discountPercentage: discount_percentage preorder: is_preorder name price
    priceInt: price_int original_price rating wishlist labels { title color } badges { imageUrl: image_url show }
    shop { id url name goldmerchant: is_power_badge official: is_official reputation clover location }
    labelGroups: label_groups { position title type } } }`,
)} }`;

/** Returns true if the input is a category rather than a search. */
export function isCategory(input: JsonObject): boolean {
  return input.list_type === 'category';
}

function shared(input: JsonObject, page: number, start: number): Record<string, string> {
  const pmin = integer(input.pmin);
  return {
    device: 'desktop',
    page: String(page),
    related: 'true',
    rows: String(rows),
    safe_search: 'false',
    st: 'product',
    start: String(start),
    ...(pmin !== null && pmin > 0 ? { pmin: String(pmin) } : {}),
  };
}

/** Returns the site's page with these results. Null for a category without its slug. */
function pageOf(input: JsonObject, page: number): string | null {
  const pmin = integer(input.pmin);
  const narrowing = { ...(pmin !== null && pmin > 0 ? { pmin: String(pmin) } : {}), page: String(page) };
  if (!isCategory(input)) {
    return `/search?${new URLSearchParams({ st: 'product', q: String(input.keyword), ...narrowing })}`;
  }
  const slug = text(input.category)
    ?.split('/')
    .filter((part) => part !== '');
  return slug ? `${joinPath('p', ...slug)}?${new URLSearchParams(narrowing)}` : null;
}

/**
 * Builds the request for a page, counted from 1. `carried` holds the parameters that the previous response
 * asked for; they never override the request's own. The offset counts from 1 in categories and from 0 in
 * searches, as in the site's own requests.
 */
export function searchRequest(input: JsonObject, page: number, carried: string): PageRequest {
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
          user_cityId: place.cityId,
          user_districtId: place.districtId,
        },
  );
  const own = new Set(params.keys());
  for (const [name, value] of new URLSearchParams(carried)) {
    if (!own.has(name)) params.set(name, value);
  }
  const [name, query] = isCategory(input)
    ? ['SearchProductQuery', categoryQuery]
    : ['SearchProductV5Query', searchQuery];
  const shown = pageOf(input, page);
  return operation(name, query, { params: params.toString() }, { 'x-device': 'desktop-0.0' }, shown);
}
