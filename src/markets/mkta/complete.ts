import type { JsonObject } from '../../base/json.ts';
import { list, object, objects, text } from '../fields.ts';

const isPrice = (value: unknown): boolean => typeof value === 'number' && value > 0;

/**
 * Returns whether a product page is complete: it has a title, a price or the mask that hides prices from
 * everyone, and no sign that the site left something out, as it does for visitors without a login.
 */
export function isComplete({ data }: JsonObject): boolean {
  const { product_price, removed_fields, item: inside } = object(data);
  const item = { ...object(data), ...object(inside) };
  if (list(removed_fields).length > 0 || (text(item.title) ?? text(item.name)) === null) return false;
  const shown = object(object(product_price).price);
  const prices = [item.price, item.price_min, shown.single_value, shown.range_min];
  const models = objects(item.models).map(({ price }) => price);
  return text(shown.price_mask) !== null || [...prices, ...models].some(isPrice);
}
