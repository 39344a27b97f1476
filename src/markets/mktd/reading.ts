import { isObject, type Json, type JsonObject } from '../../base/json.ts';
import { integer, list, object, positive, text } from '../fields.ts';
import { priceAmount } from '../money.ts';
import { parseJson } from '../script-json.ts';

/** A name with its value, as pages list them. */
export interface Property {
  name: string;
  value: string;
}

/** One way to buy the product. Money in currency units; null where the page does not say. */
export interface Sku {
  id: string | null;
  /** The values chosen, in the page's order: "Black, S". */
  name: string | null;
  price: number | null;
  original_price: number | null;
  currency: string | null;
  stock: number | null;
  status: Json;
  image: string | null;
  properties: Property[];
}

/** What either generation of pages says of a product, in one form. Null where it does not say. */
export interface Reading {
  id: Json | undefined;
  title: string | null;
  description: string | null;
  images: string[];
  specifications: Property[];
  /** Lowest sale price that the page itself states for the product. */
  price: number | null;
  originalPrice: number | null;
  currency: string | null;
  sold: number | null;
  rating: number | null;
  reviews: number | null;
  seller: JsonObject | null;
  status: Json;
  /** Brand by an entry of its own, not by a specification. */
  brand: string | null;
  skus: Sku[];
}

/** The first address of an image entry: an object with `url_list`, or an address itself. */
export function imageUrl(value: Json | undefined): string | null {
  return text(value) ?? text(list(object(value).url_list)[0]) ?? text(object(value).url);
}

/** Addresses of a list of image entries, in order. */
export function imageUrls(value: Json | undefined): string[] {
  return list(value)
    .map(imageUrl)
    .filter((url) => url !== null);
}

/** An amount from a display text; null for none, for 0 and for amounts masked with "?" or "*". */
export function shownAmount(value: Json | undefined): number | null {
  return typeof value !== 'string' || /[?*]/.test(value) ? null : positive(priceAmount(value));
}

/** Units in stock: a whole number that is not negative. */
export function stockOf(value: Json | undefined): number | null {
  const units = integer(value);
  return units !== null && units >= 0 ? units : null;
}

/** A seller with its id and name first and the page's own fields beside; null where the page names none. */
export function sellerOf(id: string | null, name: string | null, ...parts: JsonObject[]): JsonObject | null {
  return id === null && name === null ? null : { ...Object.assign({}, ...parts), id, name };
}

const nested: readonly string[] = ['sub', 'content', 'children', 'items'];

function blockTexts(value: Json | undefined, texts: string[]): void {
  if (typeof value === 'string') texts.push(value);
  if (Array.isArray(value)) for (const element of value) blockTexts(element, texts);
  if (!isObject(value)) return;
  for (const name of ['text', 't']) if (typeof value[name] === 'string') texts.push(value[name]);
  for (const name of nested) blockTexts(value[name], texts);
}

/** A description's words: of a list of text and image blocks, also one written as JSON text, the texts,
 *  a line each; of any other text, the text. */
export function descriptionText(value: Json | undefined): string | null {
  const blocks = typeof value === 'string' ? (parseJson(value) ?? value) : value;
  const texts: string[] = [];
  blockTexts(blocks, texts);
  return text(texts.filter((line) => line.trim() !== '').join('\n'))?.trim() ?? null;
}
