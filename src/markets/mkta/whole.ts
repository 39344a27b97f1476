import type { JsonObject } from '../../base/json.ts';
import { list, object, objects, text } from '../fields.ts';

const isPrice = (value: unknown): boolean => typeof value === 'number' && value > 0;

/**
 * Whether a product page shows what the site has of the item: its title and a price, or the mask that hides
 * prices from everyone, and nothing that the site says it has left out, as it does for visitors without a
 * login (decisions, "get_pc_bulk `rescrape=false`").
 */
export function isWhole({ data }: JsonObject): boolean {
  const { product_price, removed_fields, item: inside } = object(data);
  const item = { ...object(data), ...object(inside) };
  if (list(removed_fields).length > 0 || (text(item.title) ?? text(item.name)) === null) return false;
  const shown = object(object(product_price).price);
  const prices = [item.price, item.price_min, shown.single_value, shown.range_min];
  const models = objects(item.models).map(({ price }) => price);
  return text(shown.price_mask) !== null || [...prices, ...models].some(isPrice);
}
