import type { JsonObject } from '../../base/json.ts';
import type { BrowserPage } from '../../fetch/page.ts';
import { text } from '../fields.ts';

/** What stands in an address for people only, before the id that counts. */
const slug = '-';

function path(...parts: unknown[]): string {
  return parts.map((part) => `/${encodeURIComponent(String(part).trim())}`).join('');
}

/** The page where people look at a product, whose scripts ask for its summary and its description. */
export function productPage(input: JsonObject): BrowserPage {
  const query = new URLSearchParams();
  const sku = text(input.sku)?.trim();
  const pickupPoint = text(input.pickupPointCode)?.trim();
  if (sku) query.set('ds', sku);
  if (pickupPoint) query.set('pickupPointCode', pickupPoint);
  const narrowed = query.size === 0 ? '' : `?${query}`;
  return { path: `${path('p', slug, input.formattedId)}${narrowed}`, take: 'response' };
}

/** A page of a shop's products, counted from 1, by its first place. The names of its filters are those of
 *  the request. */
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
