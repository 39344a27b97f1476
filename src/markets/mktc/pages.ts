import type { JsonObject } from '../../base/json.ts';
import type { BrowserPage } from '../../fetch/page.ts';
import { text } from '../fields.ts';

/** Placeholder for the readable part of an address before the id. */
const slug = '-';

function path(...parts: unknown[]): string {
  return parts.map((part) => `/${encodeURIComponent(String(part).trim())}`).join('');
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

/** Returns a page of a shop's products at an offset. Filters have the same names as in the request. */
export function merchantPage(input: JsonObject, page: number, start: number): BrowserPage {
  const query = new URLSearchParams({ page: String(page), start: String(start) });
  const keyword = text(input.keyword);
  const brand = text(input.brand);
  for (const category of (text(input.categoryids) ?? '').split(',')) {
    if (category.trim() !== '') query.append('category', category.trim());
  }
  if (keyword !== null) query.set('searchTerm', keyword);
  if (brand !== null) query.set('brand', brand);
  return { path: `${path('merchant', slug, input.shopid)}?${query}`, take: 'response' };
}
