import type { JsonObject } from '../../base/json.ts';
import { integer, number, object, objects, text } from '../fields.ts';
import type { TrackedPages } from '../market.ts';
import { lowestPrice, trackedItem, valueAt } from '../tracked.ts';

/** Returns the first data object of the page's component with this name. */
function component(record: JsonObject, name: string): JsonObject {
  const components = objects(valueAt(record, 'data.variants.components'));
  return object(objects(components.find((each) => each.name === name)?.data)[0]);
}

function product(record: JsonObject) {
  const info = object(valueAt(record, 'data.variants.basicInfo'));
  const content = component(record, 'product_content');
  const children = objects(component(record, 'new_variant_options').children).map((child) => ({
    id: text(child.productID),
    name: text(valueAt(child, 'optionName.0')),
    price: number(child.price),
    stock: integer(valueAt(child, 'stock.stock')),
  }));
  return trackedItem(info.id, {
    title: text(content.name),
    price: lowestPrice(children.map(({ price }) => price)) ?? number(valueAt(content, 'price.value')),
    currency: text(valueAt(content, 'price.currency')),
    stock: integer(valueAt(content, 'stock.value')),
    sold: integer(valueAt(info, 'txStats.countSold')),
    rating: number(valueAt(info, 'stats.rating')),
    variants: children,
  });
}

const entry = (record: JsonObject) =>
  trackedItem(record.id, {
    title: text(record.name),
    price: number(record.price),
    currency: 'IDR',
    stock: integer(record.stock),
    available: isAvailable(record),
    sold: integer(record.sold_count),
    rating: number(record.rating),
  });

/** Returns whether a shop's entry can be bought; null for searches, which do not tell. */
function isAvailable(record: JsonObject): boolean | null {
  const isSold = valueAt(record, 'flags.isSold');
  return typeof isSold === 'boolean' ? !isSold : null;
}

/** Tracked values of each page. */
export const tracked: TrackedPages = { product, search: entry, merchant: entry };
