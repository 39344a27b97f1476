import { sha256 } from '../base/id.ts';
import type { Json, JsonObject } from '../base/json.ts';
import { Fault } from '../contract/fault.ts';
import type { PageResponse } from '../fetch/page.ts';
import { readAvailability } from './availability.ts';
import { type Candidate, type FieldResolution, resolve } from './candidates.ts';
import { declaredSites } from './declared-sites.ts';
import { count, list, number, object, objects, positive, text } from './fields.ts';
import {
  attribute,
  bodyText,
  byId,
  type Document,
  type Element,
  find,
  findAll,
  type HtmlPage,
  parseHtml,
  priceWords,
  scriptText,
  words,
  workOf,
} from './html.ts';
import { datumAmount, priceCurrency, shownAmount } from './money.ts';
import { pageCandidates } from './page-candidates.ts';
import { statusFault } from './response.ts';
import { jsonAfter, parseJson } from './script-json.ts';
import {
  type FieldSource,
  type FieldSources,
  hasHost,
  productFields,
  type SiteDeclaration,
  type ValueType,
} from './site-declaration.ts';
import { pageStates, stateCandidates } from './state-candidates.ts';
import { structuredCandidates } from './structured-candidates.ts';
import { markupText, type StructuredData, structuredData } from './structured-data.ts';
import { addressOn } from './structured-offer.ts';
import { hasProduct, type ProductValues } from './structured-product.ts';
import { valueAt } from './tracked.ts';
import { unexpectedPage } from './unexpected-page.ts';
import { visiblePage } from './visible-page.ts';

/** A parsed page of a declared site. */
export interface SitePage {
  html: HtmlPage;
  /** Address of the page, without a fragment. */
  url: string;
  site: SiteDeclaration;
  /** Structured data, by format. */
  data: readonly StructuredData[];
  /** Embedded JSON by the name of its script. */
  states: Map<string, Json | undefined>;
}

/**
 * Values of a page, and where each comes from: "json-ld", "css .price", "json a.b", "page: heading, control".
 */
export interface SourcedValues {
  values: ProductValues;
  from: Record<string, string>;
}

/** Values of a product page. */
export interface ShopReading extends SourcedValues {
  /** Candidates that contradict each other or the value that was taken. */
  contradictions: readonly Candidate[];
  /** False if only the visible page and embedded state say that the page shows a product. */
  isStated: boolean;
}

/** Prepares a page for reading. */
export function openSitePage(html: HtmlPage, url: string, site: SiteDeclaration): SitePage {
  return { html, url: url.split('#')[0]!, site, data: structuredData(html), states: new Map() };
}

/** Maximum values of a list, and characters of a text. */
const maxValues = 100;
const maxText = 100_000;

/**
 * Returns the JSON of a script: of the element with that id, or of an assignment to that name. Without a
 * name, the first JSON script of the page.
 */
function embeddedState({ html, states }: SitePage, name = ''): Json | undefined {
  if (states.has(name)) return states.get(name);
  const element = name === '' ? find(html.root, 'script[type="application/json" i]') : byId(html, name);
  let state = element && parseJson(scriptText(element));
  if (state === undefined && name !== '')
    for (const script of findAll(html.root, 'script:not([src])')) {
      const source = scriptText(script);
      state = source.includes(name) ? jsonAfter(source, name, workOf(html.root)) : undefined;
      if (state !== undefined) break;
    }
  states.set(name, state);
  return state;
}

/** Returns the embedded JSON of a page by the names under which embeddedState() finds it. */
export function embeddedStates(page: SitePage): Map<string, Json> {
  const names = findAll(page.html.root, 'script:not([src])').flatMap((script) => {
    const id = attribute(script, 'id');
    if (/json/i.test(attribute(script, 'type') ?? '')) return id === null ? [] : [id];
    return [...scriptText(script).matchAll(/(?<![\w$])([A-Za-z_$][\w$]{2,60})\s{0,20}=\s{0,20}[{[]/g)].map(
      ([, name]) => name!,
    );
  });
  const states = [...new Set(names)]
    .slice(0, maxValues)
    .map((name) => [name, embeddedState(page, name)] as const);
  return new Map(states.filter((state): state is [string, Json] => state[1] !== undefined));
}

/** Converts a raw value of a page to a type. Returns null if it has no such value. */
function toType(raw: Json | undefined, type: ValueType, { site }: SitePage): Json {
  const said = text(raw);
  switch (type) {
    case 'price':
      return datumAmount(raw, site.currency ?? null);
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

/** Values that a page states without a declaration, by field. */
type PageValues = ReadonlyMap<string, FieldResolution>;

/** Reads a source. Returns undefined if the page does not have it. */
function readSource(
  page: SitePage,
  within: Element | Document,
  found: PageValues,
  { css, json, script, attribute: name, type }: FieldSource,
  field: string,
): ReadValue | undefined {
  const own = type ?? productFields[field as keyof typeof productFields] ?? 'text';
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
    if (own === 'list') return { value: toType(texts, own, page), from };
    const values = texts.map((said) => {
      const value = isPriceText ? positive(shownAmount(said, page.site.currency)) : toType(said, own, page);
      return { value, from, said };
    });
    return values.find(({ value }) => !isMissing(value));
  }
  if (json !== undefined) {
    const value = toType(valueAt(embeddedState(page, script), json), own, page);
    return { value, from: `json ${script === undefined ? '' : `${script} `}${json}` };
  }
  const resolution = found.get(field);
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
    const read = readSource(page, within, found, source, field);
    if (read !== undefined && !isMissing(read.value)) return read;
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
      sources === undefined ? found.get(name) : firstValue(page, within, found, { field: name, sources });
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

/** Returns the currency of a product if all embedded states that have one agree. */
function onlyCurrency(states: readonly Candidate[]): string | null {
  const currencies = new Set(
    states.filter(({ field }) => field === 'currency').map(({ value }) => text(value)),
  );
  return currencies.size === 1 ? [...currencies][0]! : null;
}

/** Returns what a page states for the fields of its product, in all formats and places. */
function pageCandidatesOf(page: SitePage): Candidate[] {
  const { root } = page.html;
  const titles = findAll(root, 'h1, title').map((element) => words(element));
  titles.push(attribute(find(root, 'meta[property="og:title"]'), 'content'));
  const stated = structuredCandidates(page.data, page.url, titles);
  const currency = stated.find(({ field }) => field === 'currency')?.value;
  const pageNames = [words(find(root, 'title')), titles.at(-1) ?? null];
  const productName = text(stated.find(({ field }) => field === 'title')?.value);
  const names = [productName, ...pageNames].filter((name) => name !== null);
  const visible = visiblePage(page.html, names);
  const descriptions = findAll(root, 'meta[property="og:description"], meta[name="description" i]');
  const description = descriptions.map((element) => attribute(element, 'content')).join('\n');
  const headings = visible.heading === null ? [] : [words(visible.heading) ?? ''];
  const embedded = pageStates(page.html, visible.fields);
  const states = stateCandidates(embedded, [...names, ...headings], page.url);
  const home = page.site.currency ?? text(currency) ?? onlyCurrency(states);
  return [
    ...stated,
    ...states,
    ...pageCandidates(visible, { url: page.url, titles: names, home, description }),
  ];
}

/** Returns what was decided for each field that a page states. */
function resolvePage(page: SitePage): Map<string, FieldResolution> {
  const byField = Map.groupBy(pageCandidatesOf(page), ({ field }) => field);
  return new Map([...byField].map(([field, values]) => [field, resolve(field, values)]));
}

/** Returns the values of a product page and their sources, or null if the page shows no product. */
export function readProductPage(page: SitePage): ShopReading | null {
  const { fields } = page.site;
  const resolutions = resolvePage(page);
  const read = readFields(page, page.html.root, fields, resolutions);
  const isDeclared = Object.keys(fields).some((name) => name !== 'title' && name in read.from);
  const isOffered = ['price', 'availability', 'sku'].some((name) => read.values[name] !== undefined);
  const isStated = isDeclared || [...resolutions.values()].some(({ rung }) => rung === 'structured');
  const contradictions = [...resolutions.values()].flatMap((resolution) => resolution.contradictions);
  if (read.values.title === undefined || !(isStated || isOffered)) return null;
  return { ...read, contradictions, isStated };
}

/** Returns the id of a page: the words of its path and query, which is all that every shop has. */
function idOf(url: string): string {
  const { pathname, search } = new URL(url);
  const id = (pathname + search).replace(/\W+/g, '-').replace(/^-|-$/g, '');
  return id.length > 200 ? sha256(id) : id || 'home';
}

/** Returns the record of values: every standard field, null if it is missing, and `extra`. */
export function recordOf({ values }: Pick<SourcedValues, 'values'>, url: string, site: string): JsonObject {
  const standard = Object.entries(productFields).map(([name, type]) => [
    name,
    values[name] ?? (type === 'list' ? [] : null),
  ]);
  const extra = Object.entries(values).filter(([name]) => !(name in productFields) && name !== 'variants');
  return {
    id: idOf(url),
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

/** Returns the site of a unit. Throws `origin_missing` if its declaration was removed. */
export function siteOf(name: string, url?: URL): SiteDeclaration {
  const site = declaredSites.find(name, url);
  if (site !== undefined) return site;
  throw new Fault(
    'origin_missing',
    `the site ${name} is not declared: an operator must add it to GLEANER_SITES`,
  );
}

/**
 * Parses a page of a site. Throws the faults of statusFault(), and `page_mismatch` for a redirect to a host
 * that the site does not have.
 */
export function openPage(response: PageResponse, site: SiteDeclaration): SitePage & { text: string } {
  if (response.status < 200 || response.status > 299) throw statusFault(response, null);
  const url = URL.parse(response.url);
  if (url === null || !hasHost(site, url))
    throw new Fault(
      'page_mismatch',
      `${site.name} redirected to ${url?.host}, which is not one of its hosts`,
    );
  const html = bodyText(response);
  return { ...openSitePage(parseHtml(html), url.href, site), text: html };
}

/** Codes of faults that pages of products can have as well: shops have forms to log in on all pages. */
const productCodes: ReadonlySet<string> = new Set(['page_unreadable', 'page_login']);

/** Returns the fault of a page that states no product. */
function pageFault(page: SitePage & { text: string }, input: JsonObject): Fault {
  const requested = URL.parse(String(input.url))?.pathname;
  // Shops redirect from removed products to their first page.
  if (new URL(page.url).pathname === '/' && requested !== '/')
    return new Fault('page_not_found', 'the site redirected to its first page');
  const fault = unexpectedPage(page.text, 'a product');
  if (fault.code !== 'page_unreadable' || !page.data.some(hasProduct)) return fault;
  return new Fault('page_unreadable', 'the page states products, but none with its address or its name');
}

/** Reads the record of a response, the source of each of its fields, and the sources that disagree. */
export function readProduct(
  response: PageResponse,
  input: JsonObject,
  region: string,
): { record: JsonObject } & Pick<ShopReading, 'from' | 'contradictions'> {
  const site = siteOf(region);
  const page = openPage(response, site);
  const read = readProductPage(page);
  if (read === null) throw pageFault(page, input);
  const fault = read.isStated ? null : pageFault(page, input);
  if (fault !== null && !productCodes.has(fault.code)) throw fault;
  const { from, contradictions } = read;
  return { record: recordOf(read, page.url, site.name), from, contradictions };
}
