import type { Json, JsonObject } from '../../base/json.ts';
import { object, text } from '../fields.ts';
import { isOtherProducts } from '../other-products-words.ts';
import { addressOn } from './offer.ts';
import {
  categoryOf,
  type ProductValues,
  readStructured,
  type TrailStep,
  withoutQuery,
} from './product.ts';
import {
  isProduct,
  itemsOf,
  nameLinkMember,
  onlyText,
  plainText,
  type StructuredData,
  typesOf,
} from './structured-data.ts';

const isList = (item: JsonObject): boolean => typesOf(item).includes('ItemList');

/** Returns the elements of a list, each once. */
const elementsOf = (list: JsonObject, data: StructuredData): JsonObject[] =>
  itemsOf(list.itemListElement, data);

/** Returns the item that an element of a list contains, or the element itself. */
function itemIn(element: JsonObject, data: StructuredData): JsonObject {
  const ownItem = text(element.url) ? element : element.item;
  return object(itemsOf(element.item, data)[0] ?? ownItem);
}

/**
 * Returns true if structured data contains a product, also one that the page is not about, such as
 * an element of a list.
 */
export const hasProduct = (data: StructuredData): boolean =>
  data.items.some(isProduct) ||
  data.items
    .filter(isList)
    .flatMap((list) => elementsOf(list, data))
    .some((element) => isProduct(element) || itemsOf(element.item, data).some(isProduct));

/** Maximum elements of a list of products that are read. */
const maxListed = 5_000;

/** An entry of a list: the values of its item, and the address in its element. */
interface ListedItem {
  item: JsonObject;
  link: string | null;
}

/** Types of items that only lead to an entry, whatever it is. */
const linkTypes: ReadonlySet<string> = new Set(['', 'ListItem', 'Thing', 'WebPage', 'ItemPage']);

const isLink = (item: JsonObject): boolean => typesOf(item).every((type) => linkTypes.has(type));

function listedItems(list: JsonObject, data: StructuredData): ListedItem[] {
  const elements = elementsOf(list, data).slice(0, maxListed);
  return elements.map((element) => ({
    item: itemIn(element, data),
    link: text(element.url) ?? text(element.item),
  }));
}

/** Returns the lists that a page names as its content, or all lists if it names none. */
function mainLists(data: StructuredData): JsonObject[] {
  const lists = data.items.filter(isList);
  const main = new Set(data.items.flatMap((item) => itemsOf(item.mainEntity, data)));
  const named = lists.filter((list) => main.has(list));
  return named.length > 0 ? named : lists;
}

/** Returns the items of the lists of a page, apart from lists of recommended products. */
const itemsOfLists = (data: StructuredData): ListedItem[][] =>
  mainLists(data)
    .filter((list) => !isOtherProducts(plainText(list.name) ?? ''))
    .map((list) => listedItems(list, data));

/** Returns true for the product of the page: without an address, or with that of the page. */
function isOwnProduct(item: JsonObject, data: StructuredData, url: string): boolean {
  const address = addressOn(url, pageOf(item, data), data.base);
  return address === null || withoutQuery(address) === withoutQuery(url);
}

/** Minimum products beside each other that are a list. */
const minProducts = 2;

/** Returns the products of a page outside of lists, if all have different pages of their own. */
function productsBeside(data: StructuredData, url: string): ListedItem[] {
  const products = data.items.filter(isProduct).slice(0, maxListed);
  if (products.some((item) => isOwnProduct(item, data, url))) return [];
  const entries = products.map((item) => ({ item, link: pageOf(item, data) }));
  return new Set(entries.map(({ link }) => link)).size < minProducts ? [] : entries;
}

/**
 * Returns the products of the lists of a page, otherwise those beside each other, otherwise the
 * links of its only list: several lists of links can be menus.
 */
function entriesOf(data: StructuredData, url: string): ListedItem[] {
  const items = itemsOfLists(data);
  const products = items.flat().filter(({ item }) => isProduct(item));
  if (products.length > 0) return products;
  const beside = productsBeside(data, url);
  if (beside.length > 0) return beside;
  const links = items
    .map((list) => list.filter(({ item }) => isLink(item)))
    .filter((list) => list.length > 0);
  return links.length === 1 ? links[0]! : [];
}

/**
 * Returns true if one format states a single product with a price and the address of the page: a
 * list on it is one of other products. An aggregate of offers can be that of a category.
 */
export function isProductPage(data: StructuredData, url: string): boolean {
  const [product, ...more] = data.items.filter(isProduct);
  if (product === undefined || more.length > 0 || !isOwnProduct(product, data, url)) return false;
  const offers = itemsOf(product.offers, data);
  return offers.some((offer) => text(offer.price) !== null && !isAggregate(offer));
}

const isAggregate = (offer: JsonObject): boolean => typesOf(offer).includes('AggregateOffer');

/** Returns the address in a value: a text, or the `@id` or `url` of an item. */
function linkOf(value: Json | undefined): string | null {
  const item = object(value);
  return text(value) ?? text(item['@id']) ?? text(item.url);
}

/** Returns the address of the page of a product: its own, or that of its only offer or its name. */
function pageOf(item: JsonObject, data: StructuredData): string | null {
  const own = onlyText(item.url) ?? linkOf(item.mainEntityOfPage) ?? text(item['@id']);
  const [offer, ...more] = itemsOf(item.offers, data);
  return own ?? (more.length > 0 ? null : text(offer?.url)) ?? text(item[nameLinkMember]);
}

/** Returns the products or addresses that a page lists in one format, in order. */
export function listedProducts(
  data: StructuredData,
  url: string,
  trail: readonly TrailStep[],
): ProductValues[] {
  const products: ProductValues[] = [];
  for (const { item, link } of entriesOf(data, url).slice(0, maxListed)) {
    const { values } = readStructured(item, data, url);
    const address = addressOn(url, onlyText(item.url) ?? link ?? pageOf(item, data), data.base);
    const category = values.category ?? categoryOf(trail, address, [text(values.title)]);
    if (address !== null) products.push({ ...values, category, url: address });
  }
  return products;
}
