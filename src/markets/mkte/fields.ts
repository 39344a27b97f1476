import type { JsonObject } from '../../base/json.ts';
import { readAvailability } from '../availability/availability.ts';
import { integer, number, objects, text } from '../fields.ts';
import type { ListedFields, TrackedPages } from '../market.ts';
import { priceAmount } from '../money/money.ts';
import { trackedItem, valueAt } from '../tracked.ts';

/** Fields that every record of each page has (docs/pages.md). */
export const listedFields: ListedFields = {
  product: {
    _scraped_at: 'timestamp',
    _asin: 'string',
    _country: 'string',
    title: 'string',
    brand: 'string?',
    'price.amount': 'number?',
    'price.currency': 'string?',
    'price.original_price': 'number?',
    availability: 'string?',
    rating: 'number?',
    review_count: 'integer?',
    url: 'string?',
    images: 'array',
    'images[]': 'string',
    features: 'array',
    'features[]': 'string',
    description: 'string?',
    specifications: 'array',
    'specifications[].name': 'string',
    'specifications[].value': 'string?',
    variants: 'array',
    'variants[].asin': 'string',
    'variants[].title': 'string?',
    'variants[].price': 'number?',
    'seller.name': 'string?',
    'seller.id': 'string?',
  },
  search: {
    asin: 'string',
    title: 'string?',
    price: 'string?',
    original_price: 'string?',
    currency: 'string?',
    rating: 'string?',
    review_count: 'string?',
    thumbnail: 'string?',
    url: 'string',
    is_prime: 'boolean',
    is_sponsored: 'boolean',
  },
};

/**
 * Returns whether an item can be bought. A page without a text about stock has a price only if it
 * can.
 */
function isAvailable(record: JsonObject, price: number | null): boolean | null {
  const stockText = text(record.availability);
  if (stockText !== null) return readAvailability(stockText).available;
  return price === null ? null : true;
}

/** The page states no number of pieces. */
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
    available: isAvailable(record, price),
    rating: number(record.rating),
    variants,
    brand: text(record.brand),
    listPrice: number(valueAt(record, 'price.original_price')),
    reviews: integer(record.review_count),
    seller: text(valueAt(record, 'seller.name')),
  });
}

function search(record: JsonObject) {
  const currency = text(record.currency);
  const amount = (price: unknown) =>
    typeof price === 'string' ? priceAmount(price, currency) : null;
  return trackedItem(record.asin, {
    title: text(record.title),
    price: amount(record.price),
    currency,
    rating: number(record.rating),
    brand: text(record.brand),
    listPrice: amount(record.original_price),
    reviews: integer(record.review_count),
  });
}

export const tracked: TrackedPages = { product, search };
