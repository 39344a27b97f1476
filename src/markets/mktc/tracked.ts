import type { JsonObject } from '../../base/json.ts';
import { integer, number, object, text } from '../fields.ts';
import type { TrackedPages } from '../market.ts';
import { trackedItem, valueAt } from '../tracked.ts';

function product(record: JsonObject) {
  const summary = object(valueAt(record, 'data.summary'));
  return trackedItem(summary.id, {
    title: text(summary.name),
    price: number(valueAt(summary, 'price.price')),
    currency: text(valueAt(summary, 'price.currency')),
    stock: integer(summary.stock),
    sold: integer(summary.sold),
    rating: number(summary.rating),
  });
}

const merchant = (record: JsonObject) =>
  trackedItem(record.id, {
    title: text(record.name),
    price: number(record.price),
    currency: 'IDR',
    stock: integer(record.stock),
    available: typeof record.buyable === 'boolean' ? record.buyable : null,
    sold: integer(record.sold_count),
    rating: number(record.rating),
  });

/** Tracked values of each page. */
export const tracked: TrackedPages = { product, merchant };
