import type { Json, JsonObject } from '../../base/json.ts';
import type { RecordFields } from '../../quality/record-schema.ts';
import { integer, number, object, text } from '../fields.ts';
import type { ListedFields, TrackedPages } from '../market.ts';
import { type ItemReading, trackedItem, valueAt, withDoubt } from '../tracked.ts';
import { unavailableState } from './summary.ts';

const productFields: RecordFields = {
  status: 'string?',
  statusCode: 'integer?',
  message: 'string?',
  'data.summary.id': 'string',
  'data.summary.name': 'string',
  'data.summary.brand': 'string?',
  'data.summary.category': 'string?',
  'data.summary.price': 'object',
  'data.summary.price.price': 'number?',
  'data.summary.price.originalPrice': 'number?',
  'data.summary.price.discountPercentage': 'number?',
  'data.summary.price.currency': 'string',
  'data.summary.stock': 'integer?',
  'data.summary.sold': 'integer?',
  'data.summary.rating': 'number?',
  'data.summary.totalReview': 'integer?',
  'data.summary.merchant': 'object',
  'data.summary.merchant.id': 'string?',
  'data.summary.merchant.name': 'string?',
  'data.summary.merchant.type': 'string?',
  'data.summary.url': 'string?',
  'data.summary.condition': 'string?',
  'data.summary.status': 'string?',
  'data.items': 'array',
  'data.items[].id': 'string?',
  'data.items[].sku': 'string?',
};

const entryFields: RecordFields = {
  id: 'string',
  name: 'string?',
  price: 'number?',
  original_price: 'number?',
  discount_percentage: 'number?',
  rating: 'number?',
  review_count: 'integer?',
  sold_count: 'integer?',
  url: 'string?',
  image_url: 'string?',
  condition: 'string?',
};

/** Fields that every record of each page has (docs/pages.md). */
export const listedFields: ListedFields = {
  product: productFields,
  merchant: {
    ...entryFields,
    brand: 'string?',
    category: 'string?',
    stock: 'integer?',
    merchant: 'object',
    'merchant.id': 'string?',
    'merchant.name': 'string?',
    'merchant.type': 'string?',
  },
};

/**
 * Returns an item with an unknown availability if its state contradicts that it can be bought.
 * Without a number of pieces, a state that says that none is left decides.
 */
function withState(item: ItemReading, state: Json | undefined): ItemReading {
  const words = text(state) ?? '';
  if (item.available === null && /^out_of_stock$/i.test(words))
    return { ...item, available: false };
  return withDoubt(item, unavailableState.test(words));
}

function product(record: JsonObject) {
  const summary = object(valueAt(record, 'data.summary'));
  const item = trackedItem(summary.id, {
    title: text(summary.name),
    price: number(valueAt(summary, 'price.price')),
    currency: text(valueAt(summary, 'price.currency')),
    stock: integer(summary.stock),
    sold: integer(summary.sold),
    rating: number(summary.rating),
    brand: text(summary.brand),
    listPrice: number(valueAt(summary, 'price.originalPrice')),
    reviews: integer(summary.totalReview),
    seller: text(valueAt(summary, 'merchant.name')),
  });
  return withState(item, summary.status);
}

const merchant = (record: JsonObject) => {
  const item = trackedItem(record.id, {
    title: text(record.name),
    price: number(record.price),
    currency: 'IDR',
    stock: integer(record.stock),
    available: typeof record.buyable === 'boolean' ? record.buyable : null,
    sold: integer(record.sold_count),
    rating: number(record.rating),
    brand: text(record.brand),
    listPrice: number(record.original_price),
    reviews: integer(record.review_count),
    seller: text(valueAt(record, 'merchant.name')),
  });
  return withState(item, record.status);
};

export const tracked: TrackedPages = { product, merchant };
