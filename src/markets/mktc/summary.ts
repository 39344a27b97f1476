import type { Json, JsonObject } from '../../base/json.ts';
import {
  absoluteUrl,
  count,
  integer,
  list,
  number,
  object,
  objects,
  percent,
  rupiah,
  text,
  without,
} from '../fields.ts';
import { site } from './site.ts';

/** Members about the visitor or reviewers. */
const personal: ReadonlySet<string> = new Set([
  'shippingAddress',
  'deliveryAddress',
  'customer',
  'customerName',
  'member',
  'memberId',
  'nickname',
  'reviewer',
  'reviewerName',
  'user',
  'userId',
  'userName',
]);

/** Returns the page's data without data about the visitor and reviewers. */
export function impersonal(data: JsonObject): JsonObject {
  return object(without(data, personal));
}

function categoryOf(data: JsonObject): string | null {
  const categories = [objects(data.categories), objects(data.masterCategories)].find(
    ({ length }) => length > 0,
  );
  const nameOf = ({ name, label }: JsonObject) => text(name) ?? text(label);
  const named = (categories ?? []).filter((category) => nameOf(category) !== null);
  const level = (category: JsonObject) => number(category.level) ?? 0;
  const narrowest = named.reduce<JsonObject | undefined>(
    (best, category) => (best && level(best) > level(category) ? best : category),
    undefined,
  );
  return narrowest === undefined ? null : nameOf(narrowest);
}

function statusOf(data: JsonObject): string | null {
  const tags = list(data.tags).map(text);
  const tag =
    tags.find((tag) => tag === 'AVAILABLE') ??
    tags.find(
      (tag) => tag !== null && /available|out_of_stock|discontinued|suspended|archived/i.test(tag),
    );
  return tag ?? text(data.status) ?? text(object(data.merchant).status);
}

/** Returns "OFFICIAL" for an official shop, otherwise the level that the site states. */
export function merchantType(official: Json | undefined, level?: Json): string | null {
  return official === true || official === 'true' ? 'OFFICIAL' : text(level);
}

/**
 * Returns the rating of a review. `exact` is its rating with decimals, which `rating` cuts off: an
 * integer can be a part of another number. Null without reviews.
 */
export function starsOf(review: JsonObject, exact: Json | undefined): number | null {
  const stated = number(exact) ?? number(review.rating);
  const isCut = number(exact) === null && Number.isInteger(stated);
  if (stated === null || isCut || count(review.count) === 0) return null;
  return stated > 0 && stated <= 5 ? stated : null;
}

/** Names of states and tags of products that cannot be bought. */
export const unavailableState =
  /unavailable|out_of_stock|discontinued|suspended|archived|inactive/i;

/** Returns the SKU of an option's id, such as "is--ABC-60001-00001-00002_PP-3000001". */
function skuOf(id: Json | undefined): string | null {
  return /^(?:is|ps|pc)--(.+?)(?:[_-]PP-\w+)?$/.exec(text(id) ?? '')?.[1] ?? null;
}

/** Returns the variants of a product in the page's order, each with its `sku`. */
export function readItems(data: JsonObject): Json[] {
  return objects(data.options).map((option) => {
    const { id, sku, itemSku, ...rest } = option;
    return { ...rest, id: text(id), sku: text(sku) ?? text(itemSku) ?? skuOf(id) };
  });
}

/**
 * Returns the summary of a product: the documented fields, and every other field of the page under
 * its own name. The page's `brand` object is kept as `brandDetail`, because a listed field has that
 * name. Prices are in rupiah.
 */
export function readSummary(page: JsonObject): JsonObject {
  const data = impersonal(page);
  const price = object(data.price);
  const merchant = object(data.merchant);
  const review = object(data.review);
  const statistics = object(data.statistics);
  const brand = object(data.brand);
  const stock = integer(data.stock);
  const { options, ...rest } = data;
  return {
    ...rest,
    id: text(data.productSku) ?? text(data.itemSku) ?? text(data.productCode) ?? text(data.id),
    name: text(data.name),
    brand: text(brand.name) ?? text(data.brand),
    ...(Object.keys(brand).length > 0 ? { brandDetail: brand } : {}),
    category: categoryOf(data) ?? text(data.category),
    price: {
      ...price,
      price: rupiah(price.offered) ?? rupiah(data.price),
      originalPrice: rupiah(price.listed),
      discountPercentage:
        percent(price.totalDiscount) ?? percent(price.listDiscount) ?? percent(price.discount),
      currency: 'IDR',
    },
    stock: stock !== null && stock >= 0 ? stock : null,
    sold: count(statistics.sold) ?? count(statistics.soldLabel),
    rating: starsOf(review, review.decimalRating),
    totalReview: count(review.count),
    merchant: {
      ...merchant,
      id: text(merchant.code) ?? text(merchant.id) ?? text(data.merchantCode),
      name: text(merchant.name),
      type: merchantType(merchant.official, merchant.level),
    },
    url: absoluteUrl(data.url, site),
    condition: null,
    status: statusOf(data),
  };
}
