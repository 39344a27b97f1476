import type { Json, JsonObject } from '../../base/json.ts';
import {
  firstInteger,
  firstOf,
  integer,
  integers,
  list,
  number,
  object,
  objects,
  positive,
  text,
  texts,
} from '../fields.ts';
import { flag, scaledPrice, soldCount } from './item.ts';

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
  for (const source of [object(entry.item_basic), object(entry.item_data)]) {
    for (const [name, value] of Object.entries(source)) {
      if (value !== null || fields[name] === undefined) fields[name] = value;
    }
  }
  for (const name of notProduct) delete fields[name];
  return fields;
}

function firstText(...values: (Json | undefined)[]): string | null {
  return texts(values)[0] ?? null;
}

const monthly = /\/|month|bulan|tháng|เดือน|月|mês/i;

/** Returns the rating of a product. Newest cards can have only the text of the average. */
function rating(value: Json | undefined, asset: JsonObject): JsonObject {
  const { rating_star, rating_count, ...rest } = object(value);
  const counts = list(rating_count).map(integer);
  return {
    rating_star: number(rating_star) ?? positive(object(asset.rating).rating_text),
    rating_count: counts.includes(null) ? [] : counts,
    ...rest,
  };
}

/** Returns true if a newest card has the label of official shops. Null without that label. */
function isLabelledOfficial(asset: JsonObject): true | null {
  return object(asset.seller_flag).name === 'OFFICIAL_SHOP' ? true : null;
}

/**
 * Returns the variations with their options. An option keeps its position, to which models refer.
 */
function tiers(value: Json | undefined): JsonObject[] {
  return objects(value).map((tier) => ({
    ...tier,
    name: text(tier.name) ?? '',
    options: list(tier.options).map((option) => text(option) ?? ''),
  }));
}

/**
 * Converts a listing's product of any generation (docs/kinds/search-items.md). Listed fields are
 * always present and have their types: null, or an empty array, if the site has no value. Prices
 * stay scaled, and the product's other fields are copied unchanged.
 */
export function card(entry: JsonObject): JsonObject {
  const fields = merged(entry);
  const asset = object(fields.item_card_displayed_asset);
  const shop = object(fields.shop_data);
  const counts = object(fields.item_card_display_sold_count);
  const prices = [
    fields.price,
    object(fields.item_card_display_price).price,
    object(asset.display_price).price,
  ];
  const shownSold = text(object(asset.sold_count).text);
  const lifetime = shownSold !== null && !monthly.test(shownSold) ? shownSold : null;
  const stock = integer(fields.stock);
  return {
    ...fields,
    itemid: firstInteger(fields.itemid, fields.item_id),
    shopid: firstInteger(fields.shopid, fields.shop_id),
    name: firstText(fields.name, asset.name, fields.title),
    image: firstText(fields.image, asset.image),
    images: texts([fields.images, asset.images].find(Array.isArray)),
    price: firstOf(prices, scaledPrice),
    price_min: scaledPrice(fields.price_min),
    price_max: scaledPrice(fields.price_max),
    stock: stock !== null && stock >= 0 ? stock : null,
    sold: soldCount(fields.sold, counts.monthly_sold_count, counts.monthly_sold_count_text),
    historical_sold: soldCount(
      fields.historical_sold,
      counts.historical_sold_count,
      counts.historical_sold_count_text,
      lifetime,
    ),
    liked_count: integer(fields.liked_count),
    cmt_count: integer(fields.cmt_count),
    item_rating: rating(fields.item_rating, asset),
    shop_location: firstText(fields.shop_location, shop.shop_location),
    shop_name: firstText(fields.shop_name, shop.shop_name),
    is_official_shop:
      flag(fields.is_official_shop, shop.is_official_shop) ?? isLabelledOfficial(asset),
    tier_variations: tiers(fields.tier_variations),
    label_ids: integers(fields.label_ids),
  };
}
