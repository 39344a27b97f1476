import type { JsonObject } from '../../base/json.ts';
import { number, objects, text } from '../fields.ts';
import type { TrackedPages } from '../market.ts';
import { lowestPrice, trackedItem } from '../tracked.ts';

/** Stores state whether a variant can be bought, and no number of pieces. */
function search(record: JsonObject) {
  const variants = objects(record.variants);
  return trackedItem(record.id, {
    title: text(record.title),
    price: lowestPrice(variants.map(({ price }) => number(price))),
    available: variants.length === 0 ? null : variants.some(({ available }) => available === true),
    variants: variants.map((variant) => ({
      id: text(variant.id),
      name: text(variant.title),
      price: number(variant.price),
      stock: variant.available === false ? 0 : null,
    })),
  });
}

/** Tracked values of each page. */
export const tracked: TrackedPages = { search };
