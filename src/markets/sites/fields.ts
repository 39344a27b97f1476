import type { JsonObject } from '../../base/json.ts';
import { integer, number, objects, text } from '../fields.ts';
import type { ListedFields, TrackedPages } from '../market.ts';
import { trackedItem } from '../tracked.ts';

const fields = `id: string; site: string; url: string; title: string?; brand: string?; sku: string?; gtin: string?;
  mpn: string?; description: string?; category: string?; price: number?; currency: string?; list_price: number?;
  availability: string?; available: boolean?; condition: string?; seller: string?; rating: number?;
  review_count: integer?; images: array; variants: array; variants[].id: string?; variants[].name: string?;
  variants[].price: number?; variants[].available: boolean?; extra: object`;

/** Fields that every record of each page has (docs/pages.md), in the notation of parseFields(). */
export const listedFields: ListedFields = { product: fields, search: fields };

/** Shops rarely state a number of pieces. */
function readItem(record: JsonObject) {
  const { available } = record;
  return trackedItem(record.id, {
    title: text(record.title),
    price: number(record.price),
    currency: text(record.currency),
    available: typeof available === 'boolean' ? available : null,
    rating: number(record.rating),
    variants: objects(record.variants).map((variant) => ({
      id: text(variant.id),
      name: text(variant.name),
      price: number(variant.price),
      stock: variant.available === false ? 0 : null,
    })),
    brand: text(record.brand),
    listPrice: number(record.list_price),
    reviews: integer(record.review_count),
    seller: text(record.seller),
  });
}

/** Tracked values of each page. */
export const tracked: TrackedPages = { product: readItem, search: readItem };
