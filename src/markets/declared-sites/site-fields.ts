import { sha256 } from '../../base/id.ts';
import type { Json, JsonObject } from '../../base/json.ts';
import { readAvailability } from '../availability/availability.ts';
import { count, list, number, object, objects, positive, text } from '../fields.ts';
import { attribute, type Document, type Element, findAll, priceWords, words } from '../html/html.ts';
import { datumAmount, priceCurrency, shownAmount } from '../money/money.ts';
import { brandName } from '../structured-data/brand.ts';
import { addressOn } from '../structured-data/offer.ts';
import type { ProductValues } from '../structured-data/product.ts';
import { markupText } from '../structured-data/structured-data.ts';
import { valueAt } from '../tracked.ts';
import type { PageValues } from './page-values.ts';
import {
  type FieldSource,
  type FieldSources,
  productFields,
  type SiteDeclaration,
  type ValueType,
} from './site-declaration.ts';
import { embeddedState, type SitePage } from './site-page.ts';

/**
 * Values of a page, and where each comes from: "json-ld", "css .price", "json a.b", "page: heading, control".
 */
export interface SourcedValues {
  values: ProductValues;
  from: Record<string, string>;
}

/** Maximum values of a list, and characters of a text. */
const maxValues = 100;
const maxText = 100_000;

/** The currency of a shop, and other prices of its page, which decide between readings of one. */
interface PriceContext {
  currency: string | null;
  prices: readonly number[];
}

/** Converts a raw value of a page to a type. Returns null if it has no such value. */
function toType(raw: Json | undefined, type: ValueType, { currency, prices }: PriceContext): Json {
  const said = text(raw);
  switch (type) {
    case 'price':
      return datumAmount(raw, currency, prices);
    case 'number':
      return number(raw) ?? number(/\d+(?:[.,]\d+)?/.exec(said ?? '')?.[0]);
    case 'count':
      return count(raw);
    case 'availability':
      return typeof raw === 'boolean' ? (raw ? 'InStock' : 'OutOfStock') : readAvailability(said).state;
    case 'boolean':
      return typeof raw === 'boolean' ? raw : (readAvailability(said).available ?? null);
    case 'list': {
      const values = (Array.isArray(raw) ? raw : [raw]).map((one) => text(object(one).url) ?? text(one));
      return values.filter((value) => value !== null).slice(0, maxValues);
    }
    case 'json':
      return raw ?? null;
    default:
      return markupText(said)?.slice(0, maxText) ?? null;
  }
}

/** A value, its source, and the currency or the text that the source of a price states. */
interface ReadValue {
  value: Json;
  from: string;
  currency?: string | null;
  said?: string | undefined;
}

const isMissing = (value: Json | undefined) =>
  value === undefined || value === null || (Array.isArray(value) && value.length === 0);

/** Reads a source. Returns undefined if the page does not have it. */
function readSource(
  page: SitePage,
  within: Element | Document,
  found: PageValues,
  { css, json, script, attribute: name, type }: FieldSource,
  field: string,
): ReadValue | undefined {
  const own = type ?? productFields[field as keyof typeof productFields] ?? 'text';
  const prices = { currency: page.site.currency ?? null, prices: found.prices };
  if (css !== undefined) {
    const from = `css ${css}${name === undefined ? '' : ` [${name}]`}`;
    const isPriceText = own === 'price' && name === undefined;
    const read = (element: Element) => {
      if (isPriceText) return priceWords(element);
      return name === undefined ? words(element) : attribute(element, name);
    };
    const texts = findAll(within, css)
      .map(read)
      .filter((value) => value !== null);
    if (own === 'list') return { value: toType(texts, own, prices), from };
    const values = texts.map((said) => {
      const value = isPriceText ? positive(shownAmount(said, page.site.currency)) : toType(said, own, prices);
      return { value, from, said };
    });
    return values.find(({ value }) => !isMissing(value));
  }
  if (json !== undefined) {
    const value = toType(valueAt(embeddedState(page, script), json), own, prices);
    return { value, from: `json ${script === undefined ? '' : `${script} `}${json}` };
  }
  const resolution = found.resolutions.get(field);
  return resolution?.rung === 'structured' ? resolution : undefined;
}

/** Returns the value of the first source that has one. */
function firstValue(
  page: SitePage,
  within: Element | Document,
  found: PageValues,
  { field, sources }: { field: string; sources: readonly FieldSource[] },
): ReadValue | undefined {
  for (const source of sources) {
    const sourced = readSource(page, within, found, source, field);
    if (sourced === undefined) continue;
    const value = field === 'brand' ? brandName(text(sourced.value)) : sourced.value;
    if (!isMissing(value)) return { ...sourced, value };
  }
  return undefined;
}

/**
 * Reads fields from their sources, each from the first source that has it. The currency of a price is that of
 * its text or format, otherwise the declared one, otherwise that of other structured data, unless the
 * declaration names its source.
 */
export function readFields(
  page: SitePage,
  within: Element | Document,
  declared: FieldSources,
  found: PageValues,
): SourcedValues {
  const values: ProductValues = {};
  const from: Record<string, string> = {};
  let price: ReadValue | undefined;
  for (const name of new Set([...Object.keys(productFields), 'variants', ...Object.keys(declared)])) {
    const sources = declared[name];
    const read =
      sources === undefined
        ? found.resolutions.get(name)
        : firstValue(page, within, found, { field: name, sources });
    if (read === undefined || isMissing(read.value)) continue;
    values[name] = read.value;
    from[name] = read.from;
    if (name === 'price') price = read;
  }
  const listPrice = declared.list_price === undefined ? number(values.list_price) : null;
  if (price !== undefined && listPrice !== null && listPrice <= (price.value as number))
    delete values.list_price;
  const declaredCurrency = page.site.currency;
  const home = declaredCurrency ?? text(values.currency);
  const currency = price?.said === undefined ? (price?.currency ?? home) : priceCurrency(price.said, home);
  const result = { values, from };
  if (price === undefined || currency === null || declared.currency !== undefined) return result;
  if (price.currency != null || currency !== home) from.currency = price.from;
  else if (declaredCurrency !== undefined) from.currency = 'declaration';
  values.currency = currency;
  return result;
}

/** Maximum characters of the words in an id, and of the hash after them. */
const maxWords = 160;
const hashLength = 24;

/**
 * Returns the id of a page, which is different for each address of the site: the words of its path and query,
 * which is all that every shop has. A hash follows if the words belong to several addresses. Those of paths
 * of one word, and of a word and a name with hyphens, belong to one: `/p/red-mug` is `p-red-mug`.
 */
function idOf(address: string, [mainHost]: SiteDeclaration['hosts']): string {
  const { host, pathname, search } = new URL(address);
  const isMain = host === mainHost || host === `www.${mainHost}`;
  const path = pathname + search;
  if (isMain && path === '/') return 'home';
  if (isMain && /^\/\w+(?:\/[\w-]+)?$/.test(path) && path.length <= maxWords && path !== '/home')
    return path.slice(1).replace('/', '-');
  const words = path.replace(/\W+/g, '-').replace(/^-|-$/g, '').slice(0, maxWords);
  return `${words}~${sha256(isMain ? path : `//${host}${path}`).slice(0, hashLength)}`;
}

/** Returns the record of values: every standard field, null if it is missing, and `extra`. */
export function recordOf(
  { values }: Pick<SourcedValues, 'values'>,
  url: string,
  { name: site, hosts }: Pick<SiteDeclaration, 'name' | 'hosts'>,
): JsonObject {
  const standard = Object.entries(productFields).map(([name, type]) => [
    name,
    values[name] ?? (type === 'list' ? [] : null),
  ]);
  const extra = Object.entries(values).filter(([name]) => !(name in productFields) && name !== 'variants');
  return {
    id: idOf(url, hosts),
    site,
    url,
    ...Object.fromEntries(standard),
    images: list(values.images)
      .map((link) => addressOn(url, text(link)))
      .filter((link) => link !== null),
    available: readAvailability(text(values.availability)).available,
    variants: objects(values.variants),
    extra: Object.fromEntries(extra),
  };
}
