import type { JsonObject } from '../../base/json.ts';
import { integer, number, object, objects, text } from '../fields.ts';
import type { TrackedPages } from '../market.ts';
import { lowestPrice, trackedItem } from '../tracked.ts';

function product(record: JsonObject) {
  const item = object(record.product);
  const variants = objects(record.skus).map((sku) => ({
    id: text(sku.id),
    name: text(sku.name),
    price: number(sku.price),
    stock: integer(sku.stock),
  }));
  return trackedItem(item.id, {
    title: text(item.title),
    price: lowestPrice(variants.map(({ price }) => price)) ?? number(item.price),
    currency: text(item.currency),
    stock: integer(item.stock),
    sold: integer(item.sold),
    rating: number(item.rating),
    variants,
  });
}

/** Tracked values of each page. */
export const tracked: TrackedPages = { product };
