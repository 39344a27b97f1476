import { sha256 } from '../base/id.ts';
import { isObject, type Json, type JsonObject } from '../base/json.ts';
import type { TrackedValues, TrackedVariant } from '../base/tracked-values.ts';
import { anyOf } from './patterns.ts';

/** Values of an item whose history is not kept. Null: the record does not state it. */
export interface ItemDetails {
  brand: string | null;
  /** Price before the discount, in currency units: above `price`. */
  listPrice: number | null;
  reviews: number | null;
  seller: string | null;
  /** Address of the picture. Null if the record has it in a member that is named as a picture. */
  image: string | null;
}

/**
 * An item of a record: its id in the marketplace and its values. Its texts are well-formed: they
 * contain no half of a surrogate pair.
 */
export interface ItemReading extends TrackedValues {
  /** Identifies the item. Null if the record does not, so that it has no history. */
  key: string | null;
  details: ItemDetails;
}

/**
 * Reads the tracked item of a page's record or of a listing's entry. Null if the record is not
 * about an item.
 */
export type ReadTracked = (record: JsonObject) => ItemReading | null;

/** Maximum characters of a tracked title. */
const maxTitle = 500;
/** Maximum variants of an item that are tracked. */
const maxVariants = 200;
/** Maximum characters of a key, and of the hash that ends a shortened one. */
const maxKey = 200;
const hashLength = 32;

/**
 * Returns the value at a path of member names and indexes: "data.item.price", "variants.0.price".
 */
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
  let lowest: number | null = null;
  for (const price of prices)
    if (price !== null && (lowest === null || price < lowest)) lowest = price;
  return lowest;
}

/** Returns the sum of the pieces in stock, or null if there are none to add, or one is unknown. */
export function totalStock(stocks: readonly (number | null)[]): number | null {
  if (stocks.length === 0) return null;
  let sum = 0;
  for (const stock of stocks.map(unlessNegative)) {
    if (stock === null) return null;
    sum += stock;
  }
  return sum;
}

/** Returns a price or a number of pieces. Null for a negative one, which sites write for none. */
function unlessNegative(value: number | null | undefined): number | null {
  if (value === undefined || value === null || value < 0) return null;
  return value;
}

/** Returns the variant with the lowest known price, or undefined if no price is known. */
export function cheapest<V extends { price: number | null }>(
  variants: readonly V[],
): V | undefined {
  const price = lowestPrice(variants.map((variant) => variant.price));
  if (price === null) return undefined;
  return variants.find((variant) => variant.price === price);
}

/** Returns the first characters of a text, well-formed and without a part of a last character. */
function cut(text: string, length: number): string {
  if (text.length <= length) return text.toWellFormed();
  const last = text.charCodeAt(length - 1);
  const isHalf = last >= 0xd800 && last <= 0xdbff;
  return text.slice(0, isHalf ? length - 1 : length).toWellFormed();
}

/* cspell:disable */
/** Texts that sites show in place of a brand, such as "No Brand(ไม่มียี่ห้อ)". */
const noBrand = anyOf(
  [
    'no[ -]?brand',
    'unbranded',
    'n/a',
    'none',
    'null',
    'undefined',
    'unknown',
    'not (?:applicable|available|specified)',
    'does not apply',
    'tanpa merek',
    'tidak ada merek',
    'tiada jenama',
    'sem marca',
    'sin marca',
    'senza marca',
    'sans marque',
    'ohne marke',
    'markenlos',
    'zonder merk',
    'bez marki',
    'bez značky',
    'без бренда',
    'нет бренда',
    'markasız',
    'không có thương hiệu',
    'ไม่มียี่ห้อ',
    '無品牌',
    '无品牌',
    'ノーブランド',
  ],
  { flags: 'iu', before: '^', after: '(?:\\s?[(（/].*)?$' },
);
/* cspell:enable */

/** Returns true for a text that says that an item has no brand. */
export const isNoBrand = (text: string): boolean => noBrand.test(text.trim());

function statedBrand(text: string | null | undefined): string | null {
  if (text === undefined || text === null || isNoBrand(text)) return null;
  return text.toWellFormed();
}

const wellFormed = (text: string | null | undefined): string | null => text?.toWellFormed() ?? null;

/**
 * Returns the key of an id: the id itself or, if that is too long or not well-formed, its first
 * characters and a hash of it, so that different ids have different keys. Null without an id.
 */
function keyOf(id: Json | undefined): string | null {
  if (typeof id !== 'number' && typeof id !== 'string') return null;
  const text = String(id);
  if (text === '') return null;
  if (text.length <= maxKey && text.isWellFormed()) return text;
  const hash = `~${sha256(JSON.stringify(text)).slice(0, hashLength)}`;
  return cut(text, maxKey - hash.length) + hash;
}

/** Returns text that orders variants, whatever their order on a page. */
export const variantKey = ({ id, name, price, stock }: TrackedVariant): string =>
  JSON.stringify([id, name, price, stock]);

/**
 * Returns the tracked variants: all, or the first ones by id, so that their order on the page is
 * irrelevant.
 */
function trackedVariants(variants: readonly TrackedVariant[]): readonly TrackedVariant[] | null {
  if (variants.length === 0) return null;
  const texts = variants.map(({ id, name, price, stock }) => ({
    id: wellFormed(id),
    name: wellFormed(name),
    price: unlessNegative(price),
    stock: unlessNegative(stock),
  }));
  if (texts.length <= maxVariants) return texts;
  const sorted = texts.toSorted((one, other) => (variantKey(one) < variantKey(other) ? -1 : 1));
  const firstVariants = new Set(sorted.slice(0, maxVariants));
  return texts.filter((variant) => firstVariants.has(variant));
}

/**
 * Creates a tracked item from an id and the values that a page states. Bounds the length of texts
 * and lists.
 */
export function trackedItem(
  id: Json | undefined,
  values: Partial<TrackedValues & ItemDetails>,
): ItemReading {
  const { title = null, variants = null, listPrice = null, rating = null } = values;
  const price = unlessNegative(values.price);
  const stock = unlessNegative(values.stock);
  const isDiscounted = price !== null && listPrice !== null && listPrice > price;
  const hasStock = stock === null ? null : stock > 0;
  return {
    key: keyOf(id),
    details: {
      brand: statedBrand(values.brand),
      listPrice: isDiscounted ? listPrice : null,
      reviews: unlessNegative(values.reviews),
      seller: wellFormed(values.seller),
      image: wellFormed(values.image),
    },
    title: title === null ? null : cut(title, maxTitle),
    price,
    currency: wellFormed(values.currency),
    stock,
    available: values.available ?? hasStock,
    sold: unlessNegative(values.sold),
    // The lowest rating of every scale is above 0: sites write 0 for an unrated item.
    rating: rating !== null && rating > 0 && rating <= 5 ? rating : null,
    variants: variants === null ? null : trackedVariants(variants),
  };
}

/** Returns an item with an unknown availability if its page contradicts that it can be bought. */
export function withDoubt(item: ItemReading, isContradicted: boolean): ItemReading {
  if (item.available === true && isContradicted) return { ...item, available: null };
  return item;
}
