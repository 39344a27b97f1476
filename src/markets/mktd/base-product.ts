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

/**
 * Returns the prices of a SKU: from an object with `real_price`, or from the decimals of newer
 * pages.
 */
function skuPrices(price: JsonObject): Pick<Sku, 'price' | 'original_price' | 'currency'> {
  const real = object(price.real_price);
  const original = object(price.original_price);
  const currency = currencyCode(
    real.currency,
    price.currency_name,
    price.currency,
    price.currency_symbol,
  );
  return {
    price:
      datumAmount(real.price_val, currency) ??
      datumAmount(price.sale_price_decimal, currency) ??
      shownAmount(real.price_str ?? price.sale_price_format, currency),
    original_price:
      datumAmount(price.original_price_value, currency) ??
      datumAmount(original.price_val, currency) ??
      datumAmount(price.origin_price_decimal, currency) ??
      shownAmount(price.original_price ?? price.origin_price_format, currency),
    currency,
  };
}

function chosen(sku: JsonObject, values: ReadonlyMap<string, Property & { image: string | null }>) {
  const own = objects(sku.sku_sale_props).map((property) => {
    const valueDetails = values.get(text(property.prop_value_id) ?? '');
    return {
      name: text(property.prop_name) ?? valueDetails?.name ?? '',
      value: text(property.prop_value) ?? valueDetails?.value ?? '',
      image: valueDetails?.image ?? null,
    };
  });
  if (own.length > 0) return own;
  const ids = text(sku.sale_prop_value_ids)?.split('_') ?? [];
  return ids.map((id) => values.get(id)).filter((property) => property !== undefined);
}

function skusOf(info: JsonObject): Sku[] {
  const values = new Map<string, Property & { image: string | null }>();
  for (const property of objects(info.sale_props)) {
    for (const value of objects(property.sale_prop_values)) {
      values.set(text(value.prop_value_id) ?? '', {
        name: text(property.prop_name) ?? '',
        value: text(value.prop_value) ?? '',
        image: imageUrl(value.image),
      });
    }
  }
  return objects(info.skus).map((sku) => {
    const properties = chosen(sku, values).filter(({ value }) => value !== '');
    return {
      id: text(sku.sku_id),
      name: text(properties.map(({ value }) => value).join(', ')) ?? text(sku.sku_name),
      ...skuPrices(object(sku.price)),
      stock: parseStock(sku.stock),
      status: sku.status ?? null,
      image: properties.find(({ image }) => image !== null)?.image ?? null,
      properties: properties.map(({ name, value }) => ({ name, value })),
    };
  });
}

function specificationsOf(value: Json | undefined): Property[] {
  return objects(value)
    .map((entry) => ({ name: text(entry.name), value: text(entry.value) }))
    .filter((entry): entry is Property => entry.name !== null && entry.value !== null);
}

/**
 * Reads the older generation of `product_info`: a `product_base` with title, images, price texts
 * and specifications beside `skus`, `seller` and `product_detail_review`; or the same fields
 * without a `product_base`.
 */
export function readBaseProduct(info: JsonObject): ProductReading {
  const base = 'product_base' in info ? object(info.product_base) : info;
  const price = object(base.price);
  const seller = object(info.seller);
  const review = object(info.product_detail_review ?? info.review);
  const reviews = count(review.review_count);
  const currency = currencyCode(price.currency, price.currency_name, price.currency_symbol);
  return {
    id: info.product_id,
    title: text(base.title)?.trim() ?? null,
    description: parseDescription(base.desc_detail ?? base.description),
    images: imageUrls(base.images),
    specifications: specificationsOf(base.specifications),
    price: datumAmount(price.min_sku_price, currency) ?? shownAmount(price.real_price, currency),
    originalPrice:
      datumAmount(price.min_sku_original_price, currency) ??
      shownAmount(price.original_price, currency),
    currency,
    sold: count(base.sold_count ?? info.sold_count),
    rating: ratingOf(review.product_rating, reviews),
    reviews,
    seller: buildSeller(text(seller.seller_id) ?? text(info.seller_id), text(seller.name), seller),
    status: info.status ?? null,
    brand: text(object(info.brand ?? base.brand).name) ?? text(object(info.brand_info).brand_name),
    skus: skusOf(info),
  };
}
