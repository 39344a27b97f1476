import { isObject, type Json, type JsonObject } from '../../base/json.ts';
import { soldCount } from './sold.ts';

function part(parent: JsonObject, name: string): JsonObject {
  const value = parent[name];
  return isObject(value) ? value : {};
}

/** Members about the visitor or about how the listing was made. */
const notProduct: readonly string[] = [
  'ads_keyword',
  'adsid',
  'algo_info',
  'campaignid',
  'deduction_info',
  'info',
  'item_basic',
  'item_data',
  'json_data',
  'liked',
  'match_type',
  'recommendation_info',
  'search_item_tracking',
  'tracking_info',
];

/** Merges the fields of a product: first the entry's, then its parts'. */
function merged(entry: JsonObject): JsonObject {
  const fields: JsonObject = { ...entry };
  for (const source of [part(entry, 'item_basic'), part(entry, 'item_data')]) {
    for (const [name, value] of Object.entries(source)) {
      if (value !== null || fields[name] === undefined) fields[name] = value;
    }
  }
  for (const name of notProduct) delete fields[name];
  return fields;
}

function first(...values: (Json | undefined)[]): Json {
  return values.find((value) => value !== undefined && value !== null && value !== '') ?? null;
}

/** Returns a scaled price. Null for values that mean "none" or "hidden". */
function price(...values: (Json | undefined)[]): number | null {
  return values.find((value): value is number => typeof value === 'number' && value > 0) ?? null;
}

const monthly = /\/|month|bulan|tháng|เดือน|月|mês/i;

function rating(fields: JsonObject): JsonObject {
  const { rating_star = null, rating_count = [], ...rest } = part(fields, 'item_rating');
  return { rating_star, rating_count, ...rest };
}

/**
 * Converts a listing's product of any generation (docs/kinds/search-items.md). Listed fields are always
 * present: null, or an empty array, if the site has no value. Ids, scaled prices and the product's other
 * fields are copied unchanged.
 */
export function card(entry: JsonObject): JsonObject {
  const fields = merged(entry);
  const asset = part(fields, 'item_card_displayed_asset');
  const shop = part(fields, 'shop_data');
  const prices = part(fields, 'item_card_display_price');
  const counts = part(fields, 'item_card_display_sold_count');
  const shownSold = part(asset, 'sold_count').text;
  const lifetime = typeof shownSold === 'string' && !monthly.test(shownSold) ? shownSold : null;
  const historical = first(fields.historical_sold, counts.historical_sold_count);
  const recent = first(fields.sold, counts.monthly_sold_count);
  return {
    ...fields,
    itemid: first(fields.itemid, fields.item_id),
    shopid: first(fields.shopid, fields.shop_id),
    name: first(fields.name, asset.name, fields.title),
    image: first(fields.image, asset.image),
    images: [fields.images, asset.images].find(Array.isArray) ?? [],
    price: price(fields.price, prices.price, part(asset, 'display_price').price),
    price_min: price(fields.price_min),
    price_max: price(fields.price_max),
    stock: typeof fields.stock === 'number' && fields.stock >= 0 ? fields.stock : null,
    sold: soldCount(recent, counts.monthly_sold_count_text),
    historical_sold: soldCount(historical, counts.historical_sold_count_text, lifetime),
    liked_count: first(fields.liked_count),
    cmt_count: first(fields.cmt_count),
    item_rating: rating(fields),
    shop_location: first(fields.shop_location, shop.shop_location),
    shop_name: first(fields.shop_name, shop.shop_name),
    is_official_shop: first(fields.is_official_shop, shop.is_official_shop),
    tier_variations: Array.isArray(fields.tier_variations) ? fields.tier_variations : [],
  };
}
