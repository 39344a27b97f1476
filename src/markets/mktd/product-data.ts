import { isObject, type Json, type JsonObject } from '../../base/json.ts';
import { absoluteUrl, firstOf, integer, list, object, positive, text, texts } from '../fields.ts';
import { parseJson } from '../json/script-json.ts';
import { priceAmount, priceCurrency } from '../money/money.ts';

export interface Property {
  name: string;
  value: string;
}

/** A variant of the product. Money is in currency units; values that the page lacks are null. */
export interface Sku {
  id: string | null;
  /** Selected values in the page's order: "Black, S". */
  name: string | null;
  price: number | null;
  original_price: number | null;
  currency: string | null;
  stock: number | null;
  status: Json;
  image: string | null;
  properties: Property[];
}

/** Product data of either generation. Values that the page lacks are null. */
export interface ProductReading {
  id: Json | undefined;
  title: string | null;
  description: string | null;
  images: string[];
  specifications: Property[];
  /** Lowest sale price that the page states. */
  price: number | null;
  originalPrice: number | null;
  currency: string | null;
  sold: number | null;
  rating: number | null;
  reviews: number | null;
  seller: JsonObject | null;
  status: Json;
  /** Brand from its own entry, not from a specification. */
  brand: string | null;
  skus: Sku[];
}

/** Returns the first address of an image entry: an object with `url_list`, or an address. */
export function imageUrl(value: Json | undefined): string | null {
  const { url_list, url, thumb_url_list } = object(value);
  const urls = [value, ...list(url_list), url, ...list(thumb_url_list)];
  return firstOf(urls, (address) => absoluteUrl(address));
}

/** Returns the addresses of a list of image entries, in order. */
export function imageUrls(value: Json | undefined): string[] {
  return list(value)
    .map(imageUrl)
    .filter((url) => url !== null);
}

/**
 * Returns the amount in a display text by the rules of priceAmount(). `currency` is that of a text
 * without a sign. Null for 0.
 */
export function shownAmount(value: Json | undefined, currency: string | null): number | null {
  if (typeof value !== 'string') return null;
  return positive(priceAmount(value, priceCurrency(value, currency)));
}

/**
 * Returns the ISO code of the first value that is a currency's code or sign. Null for a sign of
 * several currencies.
 */
export function currencyCode(...values: (Json | undefined)[]): string | null {
  const name = texts(values)[0];
  return name === undefined ? null : priceCurrency(`${name} 1`, null);
}

/** Returns the rating out of 5 of a product with reviews. Null for an unrated product. */
export function ratingOf(value: Json | undefined, reviews: number | null): number | null {
  const rating = positive(value);
  return rating !== null && rating <= 5 && reviews !== 0 ? rating : null;
}

/** Returns the units in stock if they are a non-negative integer, otherwise null. */
export function parseStock(value: Json | undefined): number | null {
  const units = integer(value);
  return units !== null && units >= 0 ? units : null;
}

/**
 * Returns a seller with its id and name first, followed by the page's own fields. Null if the page
 * names none.
 */
export function buildSeller(
  id: string | null,
  name: string | null,
  ...parts: JsonObject[]
): JsonObject | null {
  if (id === null && name === null) return null;
  return { ...Object.assign({}, ...parts), id, name };
}

const nested: readonly string[] = ['sub', 'content', 'children', 'items'];

function blockTexts(value: Json | undefined, texts: string[]): void {
  if (typeof value === 'string') texts.push(value);
  if (Array.isArray(value)) {
    for (const element of value) blockTexts(element, texts);
  }
  if (!isObject(value)) return;
  for (const name of ['text', 't']) {
    const member = value[name];
    if (typeof member === 'string') texts.push(member);
  }
  for (const name of nested) blockTexts(value[name], texts);
}

/**
 * Returns the text of a description: one line per text of an array of text and image blocks, which
 * can also be encoded as JSON text; any other text unchanged.
 */
export function parseDescription(value: Json | undefined): string | null {
  const blocks = typeof value === 'string' ? (parseJson(value) ?? value) : value;
  const texts: string[] = [];
  blockTexts(blocks, texts);
  const lines = texts.filter((line) => line.trim() !== '');
  return text(lines.join('\n'))?.trim() ?? null;
}
