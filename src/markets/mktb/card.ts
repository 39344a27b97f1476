import type { Json, JsonObject } from '../../base/json.ts';
import {
  absoluteUrl,
  count,
  firstOf,
  integer,
  number,
  objects,
  percent,
  positive,
  rupiah,
  text,
} from '../fields.ts';
import { isSite, site } from './graphql.ts';

const aboutSales = /terjual|sold/i;
/** Positions of the label with the number sold. */
const salesPositions: readonly unknown[] = ['integrity', 'ri_product_credibility'];

/**
 * Returns the pieces sold from the label of a product card ("2rb+ terjual": at least 2000). Null if
 * there is none.
 */
export function soldLabel(labels: Json | undefined): number | null {
  const sales = objects(labels).filter(({ title }) => aboutSales.test(text(title) ?? ''));
  const label = sales.find(({ position }) => salesPositions.includes(position)) ?? sales[0];
  return count(label?.title);
}

/**
 * Returns the stars of a product card, 1 to 5. Null for an unrated product (0 or ""), for other
 * scales, and for an integer that is no text: the site rounds those, so that 4.6 is 5.
 */
export function stars(value: Json | undefined): number | null {
  const rating = Number.isInteger(value) ? null : positive(value);
  return rating !== null && rating <= 5 ? rating : null;
}

/** Returns the first value that is a price, in rupiah. Null if there is none. */
export function price(...values: (Json | undefined)[]): number | null {
  for (const value of values) {
    const found = rupiah(value);
    if (found !== null) return found;
  }
  return null;
}

/** Returns the number of reviews from a number or text. */
export function reviews(value: Json | undefined): number | null {
  return integer(value) ?? count(value);
}

/** Returns the discount in percent from a number or text ("20%"). Null if the card has none. */
export function discount(value: Json | undefined): number | null {
  return percent(value);
}

/** Returns an id as text. Null for a missing one, which the site writes as "" or 0. */
export function id(...values: (Json | undefined)[]): string | null {
  for (const value of values) {
    const found = text(value);
    if (found !== null && number(found) !== 0) return found;
  }
  return null;
}

/** Returns the first value that is an address, or a path on the site. Null if there is none. */
export function address(...values: (Json | undefined)[]): string | null {
  return firstOf(values, (value) => absoluteUrl(value, site));
}

/**
 * Returns the first path segment of an address on the site, which names the shop. Null if there is
 * none.
 */
export function parseShop(address: Json | undefined): string | null {
  const url = URL.parse(text(address) ?? '');
  if (!url || !isSite(url)) return null;
  return url.pathname.split('/').find((part) => part !== '') ?? null;
}

/** Returns the card without data about advertising and the visitor. */
export function plain(card: JsonObject): JsonObject {
  const { ads, wishlist, topads, ...rest } = card;
  return rest;
}
