import { isObject, type Json, type JsonObject } from '../../base/json.ts';
import { Fault } from '../../contract/fault.ts';
import { count, integer, object, objects, positive, text } from '../fields.ts';

/** Parts of a product page's response. A missing part is an empty object. */
export interface ItemPage {
  item: JsonObject;
  price: JsonObject;
  review: JsonObject;
  images: JsonObject;
  meta: JsonObject;
  description: JsonObject;
}

/**
 * Returns the id of an item or shop as decimal text, from its newer or older name. Null if there is
 * none.
 */
export function idOf(record: JsonObject, ...names: string[]): string | null {
  for (const name of names) {
    const id = record[name];
    if (typeof id === 'string' && /^[1-9]\d*$/.test(id)) return id;
    const number = positive(integer(id));
    if (number !== null) return String(number);
  }
  return null;
}

/** Returns a flag that the site writes as a boolean, or as 0 and 1. */
export function flag(...values: (Json | undefined)[]): boolean | null {
  const value = values.find((each) => typeof each === 'boolean' || each === 0 || each === 1);
  return value === undefined ? null : Boolean(value);
}

/**
 * Finds the product in a response of any generation: `data.item` with its sibling parts, the item
 * as `data`, or a top-level `item`. Throws `page_unreadable` if there is none.
 */
export function itemPage(body: JsonObject): ItemPage {
  const data = object(body.data);
  const item = [data.item, data, body.item].find(
    (value): value is JsonObject => isObject(value) && idOf(value, 'item_id', 'itemid') !== null,
  );
  if (!item) throw new Fault('page_unreadable', 'the response has no product');
  return {
    item,
    price: object(data.product_price),
    review: object(data.product_review),
    images: object(data.product_images),
    meta: object(data.product_meta),
    description: object(data.product_description),
  };
}

const removed: readonly (Json | undefined)[] = ['banned', 'deleted', 'sip_deleted', 'sip_banned'];

/** Maximum lead of a page's timestamps over the local clock, in seconds. */
const clockSlack = 86_400;

/**
 * Describes an impossible value of an item, which reveals a made-up response. Null if there is
 * none.
 */
export function impossibility(item: JsonObject, at: number): string | null {
  const price = positive(item.price);
  const least = positive(item.price_min);
  const most = positive(item.price_max);
  if (price !== null && least !== null && price < least)
    return 'its price is below its lowest price';
  if (price !== null && most !== null && price > most)
    return 'its price is above its highest price';
  if (least !== null && most !== null && least > most)
    return 'its lowest price is above its highest';
  const created = positive(item.ctime);
  if (created !== null && created > at / 1000 + clockSlack) return 'it was created in the future';
  return null;
}

/** Returns true for a response with a title, a price or the mask of a hidden price. */
function hasTitleOrPrice({ item, price }: ItemPage): boolean {
  if ((text(item.title) ?? text(item.name)) !== null) return true;
  const priceRange = object(price.price);
  const models = objects(item.models).map((model) => model.price);
  const prices = [
    item.price,
    item.price_min,
    priceRange.single_value,
    priceRange.range_min,
    ...models,
  ];
  return text(priceRange.price_mask) !== null || prices.some((each) => scaledPrice(each) !== null);
}

/** Throws `page_unreadable` for an item without title and price. */
export function checkNamed(page: ItemPage): void {
  if (hasTitleOrPrice(page)) return;
  throw new Fault('page_unreadable', 'the response states neither a title nor a price of the item');
}

/**
 * Checks that the page is about the requested item and plausible. Throws `page_mismatch` for
 * another item or shop, or impossible values; `page_not_found` for a removed item.
 */
export function checkItem(item: JsonObject, input: JsonObject, at: number): void {
  const itemId = idOf(item, 'item_id', 'itemid');
  if (itemId !== String(input.item_id)) {
    throw new Fault(
      'page_mismatch',
      `requested item ${input.item_id}, the response is about item ${itemId}`,
    );
  }
  const shopId = idOf(item, 'shop_id', 'shopid');
  if (shopId !== null && input.shop_id !== undefined && shopId !== String(input.shop_id)) {
    throw new Fault(
      'page_mismatch',
      `item ${itemId} belongs to shop ${shopId}, not to shop ${input.shop_id}`,
    );
  }
  if (removed.includes(item.item_status)) {
    throw new Fault('page_not_found', `the item was removed from the site (${item.item_status})`);
  }
  const impossible = impossibility(item, at);
  if (impossible !== null)
    throw new Fault('page_mismatch', `the response is implausible: ${impossible}`);
}

/** Scale of the site's integer prices, the same for every region and currency. */
const scale = 100_000;

/** Returns a scaled price. Null for hidden or missing prices: no integer, 0 and -1. */
export function scaledPrice(price: unknown): number | null {
  const scaled = integer(price);
  return scaled !== null && scaled > 0 ? scaled : null;
}

/**
 * Converts a scaled price to currency units. Null for hidden or missing prices: no integer, 0 and
 * -1.
 */
export function unscaled(price: unknown): number | null {
  const scaled = scaledPrice(price);
  return scaled === null ? null : scaled / scale;
}

/**
 * Returns the discount in percent from the site's forms: 13, "13%", "-70%". Null if there is none.
 */
export function discountPercent(discount: unknown): number | null {
  const amount =
    typeof discount === 'string'
      ? /^-?\s*(\d+(?:\.\d+)?)\s*%$/.exec(discount.trim())?.[1]
      : discount;
  const percent = Math.abs(Number(amount ?? Number.NaN));
  return Number.isFinite(percent) && percent > 0 ? percent : null;
}

/**
 * Returns the number of pieces sold from the site's number and texts. If the number is 0 or
 * missing, the first text with a number counts, because newer responses have 0 beside "30k+". Null
 * if both are missing: a hidden count is not 0.
 */
export function soldCount(value: unknown, ...texts: unknown[]): number | null {
  const counts = [value, ...texts].map(count).filter((found) => found !== null && found >= 0);
  return counts.find((found) => found !== 0) ?? counts[0] ?? null;
}
