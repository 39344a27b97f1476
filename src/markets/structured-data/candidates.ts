import type { Json } from '../../base/json.ts';
import type { Candidate } from '../candidates/candidates.ts';
import { text } from '../fields.ts';
import { plainName } from './plain-name.ts';
import {
  categoryOf,
  findProducts,
  type ProductValues,
  readStructured,
  type StructuredProduct,
  trailOf,
} from './product.ts';
import type { StructuredData } from './structured-data.ts';

/**
 * Returns true unless an id or a title shows that the values of another format describe another
 * product. OpenGraph describes the page, often under another title and with an id of another
 * catalogue.
 */
function isSame(one: ProductValues, other: ProductValues, format: string): boolean {
  const [name, another] = [plainName(text(one.title)), plainName(text(other.title))];
  const isNamed = name.includes(another) || another.includes(name);
  const hasOtherSku = one.sku && other.sku && one.sku !== other.sku;
  if (format === 'opengraph') return isNamed || !hasOtherSku;
  return !hasOtherSku && (!one.title || !other.title || isNamed);
}

/**
 * Returns the items of a page's product by format, for formats that have it. The main item is the
 * first.
 */
function structuredProducts(
  page: readonly StructuredData[],
  url: string,
  titles: readonly (string | null)[],
): StructuredProduct[][] {
  const products: StructuredProduct[][] = [];
  for (const data of page) {
    const [main, ...twins] = findProducts(data, url, titles);
    if (main === undefined) continue;
    const product = readStructured(main, data, url);
    const [first] = products[0] ?? [];
    if (first !== undefined && !isSame(first.values, product.values, data.format)) continue;
    products.push([product, ...twins.map((twin) => readStructured(twin, data, url))]);
  }
  return products;
}

const isEmpty = (value: Json | undefined) =>
  value === undefined || value === null || (Array.isArray(value) && value.length === 0);

/**
 * Returns other values that the offers of a product have for a field, and those that its price can
 * mean.
 */
function alternativesOf(products: readonly StructuredProduct[], field: string): Json[] {
  const values = new Set<Json>();
  for (const { offers, offer } of products) {
    if (field === 'price') for (const amount of offer?.readings ?? []) values.add(amount);
    for (const { price, availability, id } of offers) {
      const value = { price, availability, sku: id }[field];
      if (value !== undefined && value !== null) values.add(value);
    }
  }
  return [...values];
}

/** Fields of which items of one product cannot have different values. */
const decidingFields: ReadonlySet<string> = new Set(['price', 'availability', 'currency', 'sku']);

/**
 * Returns the value of a field in one format: of the first item that has it. Null if items of the
 * same product contradict each other.
 */
function fieldCandidate(products: readonly StructuredProduct[], field: string): Candidate | null {
  const stating = products.filter(({ values }) => !isEmpty(values[field]));
  const product = stating[0] ?? products[0]!;
  const alternatives = alternativesOf(products, field);
  if (stating.length === 0 && alternatives.length === 0) return null;
  const { format, values, offer } = product;
  const comparable = stating.filter(({ isGrouped }) => !isGrouped);
  const keys = new Set(
    comparable.map((one) => (field === 'availability' ? one.offer?.available : one.values[field])),
  );
  const isContradicted = decidingFields.has(field) && keys.size > 1;
  return {
    field,
    value: isContradicted ? null : (values[field] ?? null),
    alternatives,
    text: field === 'price' ? (offer?.priceText ?? null) : text(values[field]),
    rung: 'structured',
    source: format,
    path: field === 'price' || field === 'availability' ? 'offers' : field,
    offer: offer?.kind ?? null,
    currency: field === 'price' ? text(values.currency) : null,
    ...(field === 'list_price' ? { price: offer?.price ?? null } : {}),
    isMarked: false,
  };
}

/** End of the source of a candidate that an aggregate states by counting its offers. */
export const offerCountSource = 'offerCount';

/**
 * Returns what an aggregate that counts its offers says about stock, which is less than a
 * statement.
 */
function countedOffers({ offer, format }: StructuredProduct): Candidate[] {
  if (!offer?.offerCount) return [];
  const evidence = { field: 'availability', value: 'InStock', text: String(offer.offerCount) };
  const source = `${format} ${offerCountSource}`;
  return [
    {
      ...evidence,
      alternatives: [],
      rung: 'state',
      source,
      path: 'offers',
      offer: offer.kind,
      currency: null,
      isMarked: false,
    },
  ];
}

/** Returns the candidates of structured data for all fields of a product. */
export function structuredCandidates(
  page: readonly StructuredData[],
  url: string,
  titles: readonly (string | null)[],
): Candidate[] {
  const found: Candidate[] = [];
  const products = structuredProducts(page, url, titles);
  for (const items of products)
    for (const field of Object.keys(items[0]!.values)) {
      const candidate = fieldCandidate(items, field);
      if (candidate !== null) found.push(candidate);
    }
  for (const [main] of products) found.push(...countedOffers(main!));
  const { steps, format } = trailOf(page, url);
  const names = [...titles, ...products.flat().map(({ values }) => text(values.title))];
  const value = products.length === 0 ? null : categoryOf(steps, url, names);
  const trail = {
    field: 'category',
    value,
    source: format,
    path: 'breadcrumbs',
    text: value,
  };
  if (value !== null)
    found.push({
      ...trail,
      alternatives: [],
      rung: 'structured',
      offer: null,
      currency: null,
      isMarked: false,
    });
  return found;
}
