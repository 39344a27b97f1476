import type { Json, JsonObject } from '../../base/json.ts';
import { count, integer, number, objects, percent, positive, rupiah, text } from '../fields.ts';
import { isSite } from './graphql.ts';

const aboutSales = /terjual|sold/i;
/** Where the site puts the label with the number sold. */
const salesPositions: readonly unknown[] = ['integrity', 'ri_product_credibility'];

/** Pieces sold, from the label of a product card ("2rb+ terjual": at least 2000), or null. */
export function soldLabel(labels: Json | undefined): number | null {
  const sales = objects(labels).filter(({ title }) => aboutSales.test(text(title) ?? ''));
  const label = sales.find(({ position }) => salesPositions.includes(position)) ?? sales[0];
  return count(label?.title);
}

/** Stars of a product card, 1 to 5; null for an unrated product (0 or "") and for other scales. */
export function stars(value: Json | undefined): number | null {
  const rating = positive(value);
  return rating !== null && rating <= 5 ? rating : null;
}

/** The first of the values that is a price, in rupiah, or null. */
export function price(...values: (Json | undefined)[]): number | null {
  for (const value of values) {
    const found = rupiah(value);
    if (found !== null) return found;
  }
  return null;
}

/** A count of reviews, written as a number or as text. */
export function reviews(value: Json | undefined): number | null {
  return integer(value) ?? count(value);
}

/** Percent off, as a number or text ("20%"); null where the card does not say. */
export function discount(value: Json | undefined): number | null {
  return percent(value);
}

/** An id, as text; null where there is none, which the site writes as "" or 0. */
export function id(...values: (Json | undefined)[]): string | null {
  for (const value of values) {
    const found = text(value);
    if (found !== null && number(found) !== 0) return found;
  }
  return null;
}

/** First part of the path of an address on the site, which names the shop; null without. */
export function shopOf(address: Json | undefined): string | null {
  const url = URL.parse(text(address) ?? '');
  if (!url || !isSite(url)) return null;
  return url.pathname.split('/').find((part) => part !== '') ?? null;
}

/** The card without what is about advertising and the visitor. */
export function plain(card: JsonObject): JsonObject {
  const { ads, wishlist, topads, ...rest } = card;
  return rest;
}
