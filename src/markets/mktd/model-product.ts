import type { Json, JsonObject } from '../../base/json.ts';
import { count, object, objects, text } from '../fields.ts';
import { datumAmount } from '../money/money.ts';
import {
  buildSeller,
  currencyCode,
  imageUrl,
  imageUrls,
  type ProductReading,
  type Property,
  parseDescription,
  parseStock,
  ratingOf,
  type Sku,
  shownAmount,
} from './product-data.ts';

/** Returns the names of a property's values, joined. */
function valuesOf(property: JsonObject): string {
  return objects(property.property_values)
    .map((value) => text(value.property_value_name))
    .filter((value) => value !== null)
    .join(', ');
}

function specificationsOf(model: JsonObject): Property[] {
  return objects(model.product_properties)
    .map((property) => ({
      name: text(property.property_name) ?? text(property.name),
      value: text(valuesOf(property)) ?? text(property.value),
    }))
    .filter((entry): entry is Property => entry.name !== null && entry.value !== null);
}

/** Returns the images of sale property values, by the value's name. */
function valueImages(model: JsonObject): Map<string, string> {
  const images = new Map<string, string>();
  for (const property of objects(model.sale_properties)) {
    for (const value of objects(property.property_values)) {
      const name = text(value.property_value_name);
      const url = imageUrl(value.image);
      if (name !== null && url !== null) images.set(name, url);
    }
  }
  return images;
}

/** Returns the price entries by SKU id, from an object or an array. */
function pricesById(value: Json | undefined): Map<string, JsonObject> {
  const entries = Array.isArray(value)
    ? objects(value).map((price) => [text(price.sku_id) ?? '', price] as const)
    : Object.entries(object(value)).map(([id, price]) => [id, object(price)] as const);
  return new Map(entries);
}

function skusOf(model: JsonObject, prices: ReadonlyMap<string, JsonObject>): Sku[] {
  const images = valueImages(model);
  return objects(model.skus).map((sku) => {
    const id = text(sku.sku_id);
    const price = prices.get(id ?? '') ?? {};
    const currency = currencyCode(price.currency_name, price.currency_symbol);
    const properties = objects(sku.property_pairs)
      .map((pair) => ({
        name: text(pair.sku_property_name) ?? '',
        value: text(pair.sku_property_value_name) ?? '',
      }))
      .filter(({ value }) => value !== '');
    return {
      id,
      name: text(properties.map(({ value }) => value).join(', ')) ?? text(sku.sku_name),
      price:
        datumAmount(price.sale_price_decimal, currency) ??
        shownAmount(price.sale_price_format, currency),
      original_price:
        datumAmount(price.origin_price_decimal, currency) ??
        shownAmount(price.origin_price_format, currency),
      currency,
      stock: parseStock(object(sku.sku_quantity).available_quantity),
      status: sku.sku_status ?? null,
      image:
        properties.map(({ value }) => images.get(value)).find((url) => url !== undefined) ?? null,
      properties,
    };
  });
}

/**
 * Reads the newer generation of `product_info`: `product_model` beside `promotion_model` (the only
 * source of prices), `seller_model` and `review_model`; shop and reviews can be in `data` instead.
 */
export function readModelProduct(
  info: JsonObject,
  data: JsonObject,
  shop: JsonObject,
): ProductReading {
  const model = object(info.product_model);
  const promotion = object(
    object(info.promotion_model ?? model.promotion_model).promotion_product_price,
  );
  const lowest = object(promotion.min_price);
  const range = object(promotion.range_price);
  const currency = currencyCode(
    lowest.currency_name,
    range.currency_name,
    lowest.currency_symbol,
    range.currency_symbol,
  );
  const seller = object(info.seller_model);
  const review = object(info.review_model ?? data.review_model);
  const ratings = object(object(data.review_info).review_ratings);
  const reviews = count(review.product_review_count) ?? count(ratings.review_count);
  return {
    id: model.product_id ?? info.product_id,
    title: (text(model.name) ?? text(model.title))?.trim() ?? null,
    description: parseDescription(model.description),
    images: imageUrls(model.images),
    specifications: specificationsOf(model),
    price:
      datumAmount(lowest.sale_price_decimal, currency) ??
      shownAmount(lowest.sale_price_format, currency),
    originalPrice:
      datumAmount(lowest.origin_price_decimal, currency) ??
      shownAmount(lowest.origin_price_format, currency),
    currency,
    sold: count(model.sold_count),
    rating: ratingOf(review.product_overall_score ?? ratings.overall_score, reviews),
    reviews,
    seller: buildSeller(
      text(model.seller_id) ?? text(seller.seller_id) ?? text(shop.seller_id),
      text(seller.shop_name) ?? text(shop.shop_name),
      shop,
      seller,
    ),
    status: model.status ?? null,
    brand: text(object(model.brand).name) ?? text(object(info.brand_info).brand_name),
    skus: skusOf(model, pricesById(promotion.skus_price)),
  };
}
