import type { JsonObject } from '../../base/json.ts';
import { object, text } from '../fields.ts';
import { addressOn } from './offer.ts';
import { categoryOf, type ProductValues, readStructured, type TrailStep } from './product.ts';
import { isProduct, itemsOf, type StructuredData, typesOf } from './structured-data.ts';

/** Returns the elements of the lists of a page, each once. */
function listElements(data: StructuredData): Set<JsonObject> {
  const lists = data.items.filter((item) => typesOf(item).includes('ItemList'));
  return new Set(lists.flatMap((list) => itemsOf(list.itemListElement, data)));
}

/**
 * Returns true if structured data contains a product, also one that the page is not about, such as
 * an element of a list.
 */
export const hasProduct = (data: StructuredData): boolean =>
  data.items.some(isProduct) ||
  [...listElements(data)].some(
    (element) => isProduct(element) || itemsOf(element.item, data).some(isProduct),
  );

/** Maximum elements of a list of products that are read. */
const maxListed = 5_000;

/** Returns the elements of the lists of products or addresses in one format, in order. */
export function listedProducts(
  data: StructuredData,
  url: string,
  trail: readonly TrailStep[],
): ProductValues[] {
  const products: ProductValues[] = [];
  for (const element of [...listElements(data)].slice(0, maxListed)) {
    const ownItem = text(element.url) ? element : element.item;
    const item = object(itemsOf(element.item, data)[0] ?? ownItem);
    const link = text(item.url) ?? text(element.url) ?? text(element.item) ?? text(item['@id']);
    const { values } = readStructured(item, data, url);
    const address = addressOn(url, link, data.base);
    const category = values.category ?? categoryOf(trail, address, [text(values.title)]);
    if (address !== null) products.push({ ...values, category, url: address });
  }
  return products;
}
