import { sha256 } from '../../base/id.ts';
import type { Json, JsonObject } from '../../base/json.ts';
import { readAvailability } from '../availability/availability.ts';
import { count, list, number, object, objects, positive, text } from '../fields.ts';
import {
  attribute,
  type Document,
  type Element,
  findAll,
  priceWords,
  words,
  workOf,
} from '../html/html.ts';
import { datumAmount, priceCurrency, shownAmount } from '../money/money.ts';
import { brandName } from '../structured-data/brand.ts';
import { addressOn } from '../structured-data/offer.ts';
import { type ProductValues, shownRating } from '../structured-data/product.ts';
import { isPlaceholder, markupText } from '../structured-data/structured-data.ts';
import { valueAt } from '../tracked.ts';
import type { PageValues } from './page-values.ts';
import {
  type FieldSource,
  type FieldSources,
  productFields,
  type SiteDeclaration,
  type ValueType,
} from './site-declaration.ts';
import { embeddedState, hasUndecoded, type SitePage } from './site-page.ts';

/**
 * Values of a page, and where each comes from: "json-ld", "css .price", "json a.b", "page: heading,
 * control".
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

/** Converts a boolean or a text about stock to a name of schema.org. */
function toAvailability(raw: Json | undefined): Json {
  if (typeof raw === 'boolean') return raw ? 'InStock' : 'OutOfStock';
  return readAvailability(text(raw)).state;
}

/** Converts a raw value of a page to a type. Returns null if it has no such value. */
function toType(raw: Json | undefined, type: ValueType, { currency, prices }: PriceContext): Json {
  const content = text(raw);
  switch (type) {
    case 'price':
      return datumAmount(raw, currency, prices);
    case 'number':
      return number(raw) ?? number(/\d+(?:[.,]\d+)?/.exec(content ?? '')?.[0]);
    case 'count':
      return count(raw);
    case 'availability':
      return toAvailability(raw);
    case 'boolean':
      if (typeof raw === 'boolean') return raw;
      return readAvailability(content).available ?? null;
    case 'list': {
      const values = (Array.isArray(raw) ? raw : [raw]).map(
        (one) => text(object(one).url) ?? text(one),
      );
      return values.filter((value) => value !== null).slice(0, maxValues);
    }
    case 'json':
      return raw ?? null;
    default:
      return markupText(content)?.slice(0, maxText) ?? null;
  }
}

/** A value, its source, and the currency or the text that the source of a price states. */
interface SourceValue {
  value: Json;
  from: string;
  currency?: string | null;
  sourceText?: string | undefined;
}

const isMissing = (value: Json | undefined) =>
  value === undefined || value === null || (Array.isArray(value) && value.length === 0);

/** A field of a page or of an element in it, and what the page states without a declaration. */
interface FieldContext {
  page: SitePage;
  within: Element | Document;
  found: PageValues;
  field: string;
}

/**
 * Returns the text of an element or of its attribute. That of a price has marks between its digits.
 */
function elementText(
  element: Element,
  attributeName: string | undefined,
  type: ValueType,
): string | null {
  if (attributeName !== undefined) return attribute(element, attributeName);
  return type === 'price' ? priceWords(element) : words(element);
}

/** Reads the first element that has a value, or all elements of a list. */
function readElements(
  { page, within, field }: FieldContext,
  { css, attributeName, type }: { css: string; attributeName: string | undefined; type: ValueType },
  prices: PriceContext,
): SourceValue | undefined {
  const from = attributeName === undefined ? `css ${css}` : `css ${css} [${attributeName}]`;
  const texts = findAll(within, css)
    .map((element) => elementText(element, attributeName, type))
    .filter((value) => value !== null);
  if (type === 'list') return { value: toType(texts, type, prices), from };
  const isVisiblePrice = type === 'price' && attributeName === undefined;
  const typedValue = (sourceText: string) => {
    if (isVisiblePrice) return positive(shownAmount(sourceText, page.site.currency));
    if (field === 'rating' && type === 'number') return shownRating(sourceText);
    return toType(sourceText, type, prices);
  };
  for (const sourceText of texts) {
    workOf(page.html.root).addParsed(sourceText);
    const value = typedValue(sourceText);
    if (!isMissing(value)) return { value, from, sourceText };
  }
  return undefined;
}

/** Returns the type of a standard field. Undefined for another field. */
const standardType = (field: string): ValueType | undefined =>
  Object.hasOwn(productFields, field)
    ? productFields[field as keyof typeof productFields]
    : undefined;

/** Reads a source. Returns undefined if the page does not have it. */
function readSource(context: FieldContext, source: FieldSource): SourceValue | undefined {
  const { page, found, field } = context;
  const { css, json, script, attribute: attributeName } = source;
  const type = source.type ?? standardType(field) ?? 'text';
  const prices = { currency: page.site.currency ?? null, prices: found.prices };
  if (css !== undefined) return readElements(context, { css, attributeName, type }, prices);
  if (json !== undefined) {
    const value = toType(valueAt(embeddedState(page, script), json), type, prices);
    const state = script === undefined ? json : `${script} ${json}`;
    return { value, from: `json ${state}` };
  }
  const resolution = found.resolutions.get(field);
  return resolution?.rung === 'structured' ? resolution : undefined;
}

/** Returns a value, or null for the placeholder of a template and for a text without a brand. */
function plainValue(field: string, value: Json): Json {
  if (field === 'brand') return brandName(text(value));
  return typeof value === 'string' && isPlaceholder(value) ? null : value;
}

/** Returns the value of the first source that has one. */
function firstValue(
  context: FieldContext,
  sources: readonly FieldSource[],
): SourceValue | undefined {
  for (const source of sources) {
    const sourceValue = readSource(context, source);
    if (sourceValue === undefined) continue;
    const value = plainValue(context.field, sourceValue.value);
    if (!isMissing(value) && !hasUndecoded(context.page, value)) return { ...sourceValue, value };
  }
  return undefined;
}

/**
 * Reads fields from their sources, each from the first source that has it. Unless the declaration
 * names a source for it, the currency of a price comes from its text or format, otherwise from the
 * declaration, otherwise from other structured data.
 */
export function readFields(
  page: SitePage,
  within: Element | Document,
  declared: FieldSources,
  found: PageValues,
): SourcedValues {
  const values: ProductValues = {};
  const from: Record<string, string> = {};
  let price: SourceValue | undefined;
  for (const field of new Set([
    ...Object.keys(productFields),
    'variants',
    ...Object.keys(declared),
  ])) {
    const sources = declared[field];
    const context = {
      page,
      within,
      found,
      field,
    };
    const sourceValue: SourceValue | undefined =
      sources === undefined ? found.resolutions.get(field) : firstValue(context, sources);
    if (sourceValue === undefined || isMissing(sourceValue.value)) continue;
    values[field] = sourceValue.value;
    from[field] = sourceValue.from;
    if (field === 'price') price = sourceValue;
  }
  if (values.images !== undefined) values.images = addressesOf(list(values.images), page);
  if (price === undefined) return { values, from };
  const isOtherOffer = found.resolutions.get('price')?.value !== price.value;
  if (declared.list_price === undefined && isOtherOffer) delete values.list_price;
  if (declared.currency === undefined) addCurrency({ values, from }, price, page.site.currency);
  return { values, from };
}

/** Returns the absolute addresses of links on a page. */
function addressesOf(links: readonly Json[], { url, base }: SitePage): string[] {
  const addresses = links.map((link) => addressOn(url, text(link), base));
  return addresses.filter((address) => address !== null);
}

/** Adds the currency of a price, and its source. */
function addCurrency(
  { values, from }: SourcedValues,
  price: SourceValue,
  declaredCurrency: string | undefined,
): void {
  const home = declaredCurrency ?? text(values.currency);
  const currency =
    price.sourceText === undefined
      ? (price.currency ?? home)
      : priceCurrency(price.sourceText, home);
  if (currency === null) return;
  if (price.currency != null || currency !== home) from.currency = price.from;
  else if (declaredCurrency !== undefined) from.currency = 'declaration';
  values.currency = currency;
}

/** Maximum characters of the words in an id, and of the hash after them. */
const maxWords = 160;
const hashLength = 24;

/**
 * Returns the id of a page, which is different for each address of the site: the words of its path
 * and query, which is all that every shop has. A hash follows if the words belong to several
 * addresses. Those of paths of one word, and of a word and a name with hyphens, belong to one:
 * `/p/red-mug` is `p-red-mug`.
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
  const extra = Object.entries(values).filter(
    ([name]) => standardType(name) === undefined && name !== 'variants',
  );
  return {
    id: idOf(url, hosts),
    site,
    url,
    ...Object.fromEntries(standard),
    available: readAvailability(text(values.availability)).available,
    variants: objects(values.variants),
    extra: Object.fromEntries(extra),
  };
}
