import type { JsonObject } from '../../base/json.ts';
import { integer, number, object, objects, text } from '../fields.ts';
import type { ListedFields, TrackedPages } from '../market.ts';
import { cheapest, lowestPrice, trackedItem, valueAt } from '../tracked.ts';

/** Fields that every record of each page has (docs/pages.md), in the notation of parseFields(). */
export const listedFields: ListedFields = {
  product: `_scraped_at: timestamp; _product_id: string; _country: string; product.id: string;
  product.title: string; product.description: string?; product.category: string?; product.brand: string?;
  product.price: number?; product.stock: integer?; product.sold: integer?; product.rating: number?;
  product.totalReview: integer?; product.seller: object?; product.url: string?; product.condition: string?;
  product.status: any; skus: array; skus[].id: string?; skus[].name: string?; skus[].price: number?;
  skus[].stock: integer?`,
};

function product(record: JsonObject) {
  const item = object(record.product);
  const variants = objects(record.skus).map((sku) => ({
    id: text(sku.id),
    name: text(sku.name),
    price: number(sku.price),
    stock: integer(sku.stock),
  }));
  const offers = objects(record.skus).map((sku) => ({
    price: number(sku.price),
    before: number(sku.original_price),
  }));
  return trackedItem(item.id, {
    title: text(item.title),
    price: lowestPrice(variants.map(({ price }) => price)) ?? number(item.price),
    currency: text(item.currency),
    stock: integer(item.stock),
    sold: integer(item.sold),
    rating: number(item.rating),
    variants,
    brand: text(item.brand),
    listPrice: cheapest(offers)?.before ?? number(item.original_price),
    reviews: integer(item.totalReview),
    seller: text(valueAt(item, 'seller.name')),
  });
}

/** Tracked values of each page. */
export const tracked: TrackedPages = { product };
