import type { JsonObject } from '../../base/json.ts';
import { number, objects, text } from '../fields.ts';
import type { ListedFields, TrackedPages } from '../market.ts';
import { cheapest, lowestPrice, trackedItem } from '../tracked.ts';

/** Fields that every record of each page has (docs/pages.md), in the notation of parseFields(). */
export const listedFields: ListedFields = {
  search: `id: integer; title: string; handle: string; body_html: string?; vendor: string?;
  product_type: string?; tags: array; variants: array; variants[].id: integer; variants[].title: string;
  variants[].price: string; variants[].available: boolean; images: array; options: array`,
};

/** Stores state whether a variant can be bought, and no number of pieces. */
function search(record: JsonObject) {
  const variants = objects(record.variants);
  const offers = variants.map((variant) => ({
    price: number(variant.price),
    before: number(variant.compare_at_price),
  }));
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
    brand: text(record.vendor),
    listPrice: cheapest(offers)?.before ?? null,
  });
}

/** Returns the path of a product's page at its store. */
export const pagePath = ({ handle }: JsonObject): string | null =>
  typeof handle === 'string' && handle !== '' ? `/products/${encodeURIComponent(handle)}` : null;

/** Tracked values of each page. */
export const tracked: TrackedPages = { search };
