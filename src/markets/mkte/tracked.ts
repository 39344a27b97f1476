import type { JsonObject } from '../../base/json.ts';
import { number, objects, text } from '../fields.ts';
import type { TrackedPages } from '../market.ts';
import { priceAmount } from '../money.ts';
import { trackedItem, valueAt } from '../tracked.ts';

/** The page states no number of pieces. A product that is offered has a price. */
function product(record: JsonObject) {
  const price = number(valueAt(record, 'price.amount'));
  const variants = objects(record.variants).map((variant) => ({
    id: text(variant.asin),
    name: text(variant.title),
    price: number(variant.price),
    stock: null,
  }));
  return trackedItem(record._asin, {
    title: text(record.title),
    price,
    currency: text(valueAt(record, 'price.currency')),
    available: price !== null,
    rating: number(record.rating),
    variants,
  });
}

function search(record: JsonObject) {
  const currency = text(record.currency);
  return trackedItem(record.asin, {
    title: text(record.title),
    price: typeof record.price === 'string' ? priceAmount(record.price, currency) : null,
    currency,
    rating: number(record.rating),
  });
}

/** Tracked values of each page. */
export const tracked: TrackedPages = { product, search };
