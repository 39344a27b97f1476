import { isObject, type Json, type JsonObject } from '../base/json.ts';
import type { TrackedValues } from '../base/tracked-values.ts';

/** Values of an item whose history is not kept. Null: the record does not state it. */
export interface ItemDetails {
  brand: string | null;
  /** Price before the discount, in currency units: above `price`. */
  listPrice: number | null;
  reviews: number | null;
  seller: string | null;
  /** Address of the picture, if it is not in a member whose name says so. */
  image: string | null;
}

/** An item of a record: its id in the marketplace and its values. */
export interface ItemReading extends TrackedValues {
  key: string;
  details: ItemDetails;
}

/**
 * Reads the tracked item of a page's record or of a listing's entry. Null if the record does not identify an
 * item.
 */
export type ReadTracked = (record: JsonObject) => ItemReading | null;

/** Maximum characters of a tracked title. */
const maxTitle = 500;
/** Maximum variants of an item that are tracked. */
const maxVariants = 200;
const maxKey = 200;

/** Returns the value at a path of member names and indexes: "data.item.price", "variants.0.price". */
export function valueAt(record: Json | undefined, path: string): Json | undefined {
  let value = record;
  for (const name of path.split('.')) {
    if (Array.isArray(value)) value = value[Number(name)];
    else if (isObject(value) && Object.hasOwn(value, name)) value = value[name];
    else return undefined;
  }
  return value;
}

/** Returns the lowest of the known prices, or null if none is known. */
export function lowestPrice(prices: readonly (number | null)[]): number | null {
  const known = prices.filter((price) => price !== null);
  return known.reduce<number | null>((lowest, price) => Math.min(lowest ?? price, price), null);
}

/** Returns the sum of the pieces in stock, or null if there are none to add, or one is unknown. */
export function totalStock(stocks: readonly (number | null)[]): number | null {
  if (stocks.length === 0 || stocks.includes(null)) return null;
  return stocks.reduce<number>((sum, stock) => sum + stock!, 0);
}

/** Returns the variant with the lowest known price, or undefined if no price is known. */
export function cheapest<V extends { price: number | null }>(variants: readonly V[]): V | undefined {
  const price = lowestPrice(variants.map((variant) => variant.price));
  return price === null ? undefined : variants.find((variant) => variant.price === price);
}

/**
 * Creates a tracked item from an id and the values that a page states. Bounds the length of texts and lists.
 * Returns null for a missing or overlong id.
 */
export function trackedItem(
  id: Json | undefined,
  values: Partial<TrackedValues & ItemDetails>,
): ItemReading | null {
  const key = typeof id === 'number' || typeof id === 'string' ? String(id) : '';
  if (key === '' || key.length > maxKey) return null;
  const {
    title = null,
    price = null,
    stock = null,
    variants = null,
    listPrice = null,
    rating = null,
  } = values;
  return {
    key,
    details: {
      brand: values.brand ?? null,
      listPrice: price !== null && listPrice !== null && listPrice > price ? listPrice : null,
      reviews: values.reviews ?? null,
      seller: values.seller ?? null,
      image: values.image ?? null,
    },
    title: title === null ? null : title.slice(0, maxTitle),
    price,
    currency: values.currency ?? null,
    stock,
    available: values.available ?? (stock === null ? null : stock > 0),
    sold: values.sold ?? null,
    // The lowest rating of every scale is above 0: sites write 0 for an unrated item.
    rating: rating !== null && rating > 0 ? rating : null,
    variants: variants === null || variants.length === 0 ? null : variants.slice(0, maxVariants),
  };
}
