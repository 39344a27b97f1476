import type { JsonObject } from '../../base/json.ts';
import { pathPart } from '../../contract/path-part.ts';
import type { BrowserPage } from '../../fetch/page.ts';
import { text } from '../fields.ts';

/** Base of relative addresses in responses. */
export const site = 'https://www.blibli.com';

/** Headers that the site's own pages send. */
export const headers: Record<string, string> = {
  accept: 'application/json, text/plain, */*',
  'accept-language': 'id-ID,id;q=0.9,en;q=0.8',
  channelid: 'web',
  referer: `${site}/`,
};

/** Placeholder for the readable part of an address before the id. */
const slug = '-';

function path(...parts: unknown[]): string {
  return parts.map((part) => `/${pathPart(String(part).trim())}`).join('');
}

/** Returns the product page whose scripts request the summary and the description. */
export function productPage(input: JsonObject): BrowserPage {
  const query = new URLSearchParams();
  const sku = text(input.sku)?.trim();
  const pickupPoint = text(input.pickupPointCode)?.trim();
  if (sku) query.set('ds', sku);
  if (pickupPoint) query.set('pickupPointCode', pickupPoint);
  const narrowed = query.size === 0 ? '' : `?${query}`;
  return { path: `${path('p', slug, input.formattedId)}${narrowed}`, take: 'response' };
}

/** Adds the filters of a shop's products to the query of a page, or of its request. */
export function addFilters(query: URLSearchParams, input: JsonObject): void {
  for (const category of (text(input.categoryids) ?? '').split(',')) {
    if (category.trim() !== '') query.append('category', category.trim());
  }
  const keyword = text(input.keyword);
  const brand = text(input.brand);
  if (keyword !== null) query.set('searchTerm', keyword);
  if (brand !== null) query.set('brand', brand);
}

/** Returns a page of a shop's products at an offset. */
export function merchantPage(input: JsonObject, page: number, start: number): BrowserPage {
  const query = new URLSearchParams({ page: String(page), start: String(start) });
  addFilters(query, input);
  return { path: `${path('merchant', slug, input.shopid)}?${query}`, take: 'response' };
}
