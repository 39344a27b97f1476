import { isObject, type Json, type JsonObject } from '../../base/json.ts';
import { parseJsonc } from '../../base/jsonc.ts';
import { Fault } from '../../contract/fault.ts';
import { list, objects, onlyOf, text } from '../fields.ts';
import {
  attribute,
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
} from '../html/html.ts';
import { isElement } from '../html/html-tree.ts';
import type { PageWork } from '../html/page-work.ts';
import { parseJson } from '../json/script-json.ts';

/** Formats of structured data, the most reliable first. */
export type StructuredFormat = 'json-ld' | 'microdata' | 'rdfa' | 'opengraph';

/** Visits of values that readers of a page's structured data have left. All formats share one. */
export interface VisitBudget {
  remaining: number;
}

/** Items of a page in one format, all in the form of JSON-LD. */
export interface StructuredData {
  format: StructuredFormat;
  /** Items of the page itself, without those inside of others. */
  items: JsonObject[];
  /** Items by `@id`, to which others refer. */
  byId: ReadonlyMap<string, JsonObject>;
  /** Address of the `base` element of the page, which relative addresses refer to. */
  base: string | null;
  visits: VisitBudget;
  work: PageWork;
}

/** Maximum items of a page that are considered. Listings of shops have up to a few hundred. */
const maxItems = 5_000;
/**
 * Maximum visits of values. Items can refer to each other, so a walk is not bounded by the page's
 * length.
 */
const maxVisits = 50_000;

/**
 * Returns the structured data of a page by format, without formats that the page does not have. The
 * formats together have up to 5,000 items, the first ones of the page.
 */
export function structuredData(page: HtmlPage): StructuredData[] {
  const roots: Record<StructuredFormat, JsonObject[]> = {
    'json-ld': jsonLd(page),
    microdata: markedUp(page.root.children, microdataNames),
    rdfa: markedUp(page.root.children, rdfaNames),
    opengraph: openGraph(page),
  };
  const visits: VisitBudget = { remaining: maxVisits };
  const base = baseOf(page);
  const work = workOf(page.root);
  const found: StructuredData[] = [];
  let itemsLeft = maxItems;
  for (const [format, values] of Object.entries(roots)) {
    const items = pageItems(values, itemsLeft);
    itemsLeft -= items.length;
    if (items.length > 0)
      found.push({
        format: format as StructuredFormat,
        items,
        byId: itemsById(values),
        base,
        work,
        visits,
      });
  }
  return found;
}

/** Returns the address in the first `base` element of a page, as it is written. */
export const baseOf = ({ root }: HtmlPage): string | null =>
  attribute(find(root, 'base[href]'), 'href');

/** Returns the types of an item: "Product" for "https://schema.org/Product". */
export function typesOf(item: JsonObject): string[] {
  const types = [item['@type'], ...list(item['@type'])].map(text).filter((type) => type !== null);
  return types.map((type) => type.split(/[/#:]/).at(-1)!);
}

const productTypes: ReadonlySet<string> = new Set([
  'product',
  'productgroup',
  'productmodel',
  'individualproduct',
  'someproducts',
  'vehicle',
  'car',
  'book',
]);
const offerTypes: ReadonlySet<string> = new Set(['offer', 'aggregateoffer']);

const hasType = (item: JsonObject, types: ReadonlySet<string>): boolean =>
  typesOf(item).some((type) => types.has(type.toLowerCase()));

/** Returns true for an item of a type of products. */
export const isProduct = (item: JsonObject): boolean => hasType(item, productTypes);

const isOffer = (item: JsonObject): boolean => hasType(item, offerTypes);

/**
 * Returns the objects of a value that is an object, an array, or the `@id` of an item, each once.
 * Throws `page_too_complex` if readers of the page have visited too many values.
 */
export function itemsOf(
  value: Json | undefined,
  { byId, visits }: Pick<StructuredData, 'byId' | 'visits'>,
): JsonObject[] {
  const elements = isObject(value) ? [value] : list(value);
  visits.remaining -= elements.length;
  if (visits.remaining < 0)
    throw new Fault(
      'page_too_complex',
      `the structured data has more than ${maxVisits} references`,
    );
  const items = new Set<JsonObject>();
  for (const element of elements) {
    if (!isObject(element)) continue;
    items.add(isReference(element) ? (byId.get(element['@id'] as string) ?? element) : element);
  }
  return [...items];
}

/** Returns true for an item that only names another one. */
const isReference = (item: JsonObject): boolean =>
  text(item['@id']) !== null && Object.keys(item).length === 1;

/**
 * Returns the text of a value without markup: a string, the first of several, or the `name` of an
 * item.
 */
export function plainText(value: Json | undefined): string | null {
  const [first] = Array.isArray(value) ? value : [value];
  const named = isObject(first) ? (first.name ?? first['@value'] ?? null) : first;
  const plain = markupText(text(named));
  return plain === null || isPlaceholder(plain) ? null : plain;
}

/** Parts of a text that a page's template did not replace with a value. */
const placeholder = /\{\{|\$\{|<%|\[\[|^%[\w.-]+%$|^\$[a-z_][\w.]*$/;

/** Returns true for the placeholder of a template: "{{brand}}". */
export const isPlaceholder = (text: string): boolean => placeholder.test(text);

/** Maximum values of a list of which one is expected. */
const maxListed = 100;

/**
 * Returns the only text in a value or a list of values: of a string, or of a typed value or an
 * `@id`. Null for several different ones.
 */
export function onlyText(
  value: Json | undefined,
  isValue: (text: string) => boolean = () => true,
): string | null {
  const values = Array.isArray(value) ? value : [value];
  if (values.length > maxListed) return null;
  const found = new Set<string>();
  for (const one of values) {
    const own = isObject(one) ? (one['@value'] ?? one['@id'] ?? null) : one;
    const plain = text(own)?.trim() ?? null;
    if (plain !== null && isValue(plain)) found.add(plain);
  }
  return onlyOf(found);
}

/** Members of pages and of graphs whose items are items of the page. */
const wrappers = ['@graph', 'mainEntity', 'mainEntityOfPage'];

/** Member of an item that the row of a table declares. */
export const rowMember = '@row';
/** Member with the address to which the name of an item leads. */
export const nameLinkMember = '@nameLink';

/** Returns true for an action of a visitor, such as a `BuyAction`, whose object is the product. */
const isAction = (item: JsonObject): boolean =>
  typesOf(item).some((type) => type.endsWith('Action'));

/**
 * Returns the items of the page: the roots and those inside of wrappers, each once, up to a
 * maximum.
 */
function pageItems(roots: readonly JsonObject[], maximum: number): JsonObject[] {
  const items = new Set<JsonObject>();
  const visit = (value: Json | undefined) => {
    if (Array.isArray(value)) value.forEach(visit);
    if (!isObject(value) || items.has(value) || items.size >= maximum) return;
    items.add(value);
    for (const name of wrappers) visit(value[name]);
    if (isAction(value)) visit(value.object);
  };
  roots.forEach(visit);
  return [...items];
}

/**
 * Returns the items at any depth by their `@id`: the first of each that is more than a reference.
 */
function itemsById(roots: readonly JsonObject[]): Map<string, JsonObject> {
  const byId = new Map<string, JsonObject>();
  const seen = new Set<Json>();
  const visit = (value: Json | undefined) => {
    if (typeof value !== 'object' || value === null || seen.has(value)) return;
    seen.add(value);
    const id = isObject(value) ? text(value['@id']) : null;
    if (id !== null && !byId.has(id) && !isReference(value as JsonObject))
      byId.set(id, value as JsonObject);
    Object.values(value).forEach(visit);
  };
  roots.forEach(visit);
  return byId;
}

function jsonLd({ root }: HtmlPage): JsonObject[] {
  return findAll(root, 'script[type*="ld+json" i]').flatMap((script) => {
    // Shops write line breaks into strings, and wrap the text in comments or references to
    // characters.
    const source = scriptText(script)
      .replace(/^\s*(?:<!--|\/[/*]\s*<!\[CDATA\[(?:\s*\*\/)?)/, '')
      .replace(/(?:-->|(?:\/[/*]\s*)?\]\]>(?:\s*\*\/)?)\s*$/, '')
      .replace(/;\s*$/, '');
    const plain = /^\s*[[{]\s*&quot;/.test(source) ? (words(parseHtml(source).root) ?? '') : source;
    const joined = plain
      .replace(/\p{Cc}+/gu, ' ')
      // Without quotes, the zeros of "12.500" would be lost, whose point can separate thousands.
      .replace(/("(?:low|high)?price" ?: ?)(\d{1,3}\.\d{3})(?=\s*[,}])/gi, '$1"$2"');
    const value = parseJson(joined) ?? parseLenient(plain) ?? parseLenient(joined);
    return isObject(value) ? [value] : objects(value);
  });
}

/**
 * Parses JSON with comments and trailing commas. Undefined for other mistakes, whose meaning is
 * unclear.
 */
function parseLenient(text: string): Json | undefined {
  try {
    // Read again within the limits of parseJson().
    return parseJson(JSON.stringify(parseJsonc(text)) ?? '');
  } catch {
    // Nested too deeply.
    return undefined;
  }
}

/** Attributes with the value of an element; others have it as their text. */
const valueAttributes: Readonly<Record<string, string>> = {
  a: 'href',
  area: 'href',
  link: 'href',
  object: 'data',
  data: 'value',
  meter: 'value',
  img: 'src',
  audio: 'src',
  video: 'src',
  source: 'src',
  iframe: 'src',
  time: 'datetime',
};

/** Names of the attributes that declare an item, its type, its id, and a member. */
interface MarkupNames {
  scope: string;
  type: string;
  id: string;
  member: string;
}
const microdataNames: MarkupNames = {
  scope: 'itemscope',
  type: 'itemtype',
  id: 'itemid',
  member: 'itemprop',
};
const rdfaNames: MarkupNames = {
  scope: 'typeof',
  type: 'typeof',
  id: 'resource',
  member: 'property',
};

/** An item that is not marked as a member of the item around it. */
interface MarkedItem {
  item: JsonObject;
  /** Item of the nearest element around it. */
  around: JsonObject | null;
}

/**
 * Returns the items in the attributes of a tree. Members of nested items belong to those. An offer
 * inside of a product without offers is one of its offers, although it is not marked as its member.
 */
function markedUp(nodes: Document['children'], names: MarkupNames): JsonObject[] {
  const items: MarkedItem[] = [];
  collectItems(nodes, { names, items }, { item: null, textDepth: 0 });
  const accepting = new Map<JsonObject, boolean>();
  return items.flatMap(({ item, around }) => {
    if (around === null || !isOffer(item)) return [item];
    if (!accepting.has(around))
      accepting.set(around, isProduct(around) && around.offers === undefined);
    if (!accepting.get(around)) return [item];
    addMember(around, 'offers', item);
    return [];
  });
}

/**
 * Maximum depth at which the texts of nested members are read. Each depth reads the same text
 * again.
 */
const maxNestedTexts = 4;

/** Attributes that are read, and the items that are found. */
interface MarkupWalk {
  names: MarkupNames;
  items: MarkedItem[];
}

/** Item around the nodes that are read, and number of members around them whose texts were read. */
interface MarkupOwner {
  item: JsonObject | null;
  textDepth: number;
}

function collectItems(nodes: Document['children'], walk: MarkupWalk, owner: MarkupOwner): void {
  for (const node of nodes) {
    if (!('attribs' in node)) continue;
    const item = itemOf(node, walk.names);
    const members = memberNames(node, walk.names);
    const isMember = owner.item !== null && members.length > 0;
    const isText = isMember && item === null;
    const isRead = isMember && (item !== null || owner.textDepth < maxNestedTexts);
    if (isRead) addElement(owner.item!, node, { members, item });
    else if (item !== null) walk.items.push({ item, around: owner.item });
    const textDepth = isText ? owner.textDepth + 1 : owner.textDepth;
    collectItems(node.children, walk, { item: item ?? owner.item, textDepth });
  }
}

/**
 * Returns the item that an element declares, with its types and its id. Null if it declares none.
 */
function itemOf({ name, attribs }: Element, names: MarkupNames): JsonObject | null {
  if (attribs[names.scope] === undefined) return null;
  // Without a prototype, a member of any name is an own one.
  const item: JsonObject = Object.create(null);
  item['@type'] = (attribs[names.type] ?? '').split(/\s+/);
  const id = attribs[names.id];
  if (id) item['@id'] = id;
  if (name === 'tr') item[rowMember] = true;
  return item;
}

/**
 * Returns the members that an element is, each once: a repeated name would add its value as often.
 */
function memberNames({ attribs }: Element, names: MarkupNames): string[] {
  const members = attribs[names.member]?.split(/\s+/).filter((name) => name !== '');
  return [...new Set(members)];
}

const isPriceMember = (name: string): boolean => /price$/i.test(name);

/** Adds a value under names. Removes the prefixes of RDFa. */
function addMembers(item: JsonObject, names: readonly string[], value: Json): void {
  for (const name of names)
    addMember(item, name.replace(/^(?:schema:|https?:\/\/schema\.org\/)/, ''), value);
}

function addMember(item: JsonObject, name: string, value: Json): void {
  const current = item[name];
  if (current === undefined) item[name] = value;
  else if (Array.isArray(current)) current.push(value);
  else item[name] = [current, value];
}

/** Adds the item or the text of an element that is a member of an item. */
function addElement(
  owner: JsonObject,
  element: Element,
  { members, item }: { members: readonly string[]; item: JsonObject | null },
): void {
  addMembers(owner, members, item ?? memberText(element, members));
  if (item === null && members.includes('name')) addNameLink(owner, element);
}

/** Adds the address to which the first name of an item leads as a whole. */
function addNameLink(item: JsonObject, element: Element): void {
  if (item[nameLinkMember] !== undefined) return;
  const [inner, ...more] = element.children.filter(
    (node) => node.type !== 'text' || /\S/.test(node.data),
  );
  const links = [element, ...(inner === undefined || more.length > 0 ? [] : [inner])];
  const link = links.filter(isElement).find(({ name }) => name === 'a');
  item[nameLinkMember] = attribute(link, 'href');
}

/** Members whose value is a name, also if the element with it is a link. */
const nameMembers = /(?:^|[:/])(?:name|brand|manufacturer|category)$/;

/** Members whose value is a number of a product. */
const codeMembers = /(?:^|[:/])(?:sku|productID|mpn|gtin\d*)$/i;

/** Returns true for an element with an empty value, or with texts on several lines. */
function isNoCode({ attribs, children }: Element): boolean {
  if (attribs.content !== undefined) return attribs.content.trim() === '';
  const texts = children.map((node) => (node.type === 'text' ? node.data : ''));
  return /\S\s*[\r\n]\s*\S/.test(texts.join('').trim());
}

/**
 * Returns the text of a member. That of a price has marks between the digits of its elements. That
 * of a name is not the address to which the name leads.
 */
function memberText(element: Element, members: readonly string[]): string {
  if (members.some((name) => codeMembers.test(name)) && isNoCode(element)) return '';
  const isLinkedName = element.name === 'a' && members.some((name) => nameMembers.test(name));
  const valueAttribute = isLinkedName ? undefined : valueAttributes[element.name];
  return (
    attribute(element, 'content') ??
    // A picture that is loaded later has another one as its source until then.
    attribute(element, element.name === 'img' ? 'data-src' : '') ??
    attribute(element, valueAttribute ?? '') ??
    (members.some(isPriceMember) ? priceWords(element) : words(element)) ??
    ''
  );
}

/** Maximum values for previews of one name. */
const maxPreviewValues = 50;

/** Returns the values for previews by their names. */
function previewValues({ root }: HtmlPage): Map<string, string[]> {
  const values = new Map<string, string[]>();
  for (const meta of findAll(root, 'meta[content]')) {
    const name = attribute(meta, 'property') ?? attribute(meta, 'name');
    const content = attribute(meta, 'content');
    if (name === null || content === null) continue;
    values.set(name, [...(values.get(name) ?? []), content].slice(0, maxPreviewValues));
  }
  return values;
}

/**
 * Returns the product that a page describes for previews, if it states a type or a price of one.
 */
function openGraph(page: HtmlPage): JsonObject[] {
  const values = previewValues(page);
  const all = (...names: string[]) => names.map((name) => values.get(name)).find(Boolean) ?? null;
  const first = (...names: string[]) => all(...names)?.[0] ?? null;
  const price = all('product:sale_price:amount', 'product:price:amount', 'og:price:amount');
  // Categories are groups of products.
  const isProductType = /product(?!\.group)/i.test(first('og:type') ?? '');
  if (price === null && !isProductType) return [];
  // Lists state the type and the price of each of their products.
  const isList = (values.get('og:type')?.length ?? 0) > 2 && new Set(price).size > 2;
  if (isList) return [];
  const before =
    all('product:original_price:amount') ??
    (values.has('product:sale_price:amount') ? all('product:price:amount') : null);
  return [
    {
      '@type': 'Product',
      name: first('og:title'),
      description: first('og:description'),
      url: first('og:url'),
      image: values.get('og:image') ?? null,
      brand: first('product:brand', 'og:brand'),
      // Shops also write names into it.
      sku: all('product:retailer_item_id')?.filter((id) => !/\s/.test(id) || /\d/.test(id)) ?? null,
      gtin: first('product:gtin', 'product:ean', 'product:upc', 'product:isbn'),
      mpn: first('product:mfr_part_no'),
      category: first('product:category'),
      offers: {
        price,
        priceCurrency: all(
          'product:sale_price:currency',
          'product:price:currency',
          'og:price:currency',
        ),
        availability: all('product:availability', 'og:availability'),
        itemCondition: first('product:condition', 'og:product:condition'),
        priceSpecification: before === null ? null : { price: before, priceType: 'ListPrice' },
      },
    },
  ];
}

/** Returns a text without tags and character references, which some shops leave in their data. */
export function markupText(value: string | null): string | null {
  if (value === null || !/[&<]/.test(value)) return value?.replace(/\s+/g, ' ').trim() || null;
  const plain = words(parseHtml(value).root);
  // "&amp;amp;"
  return plain?.replace(/&(amp|quot|#0?39);/g, (_mark, name: string) => references[name]!) ?? null;
}

/** Characters of references that remain in texts which were written for HTML twice. */
const references: Readonly<Record<string, string>> = {
  amp: '&',
  quot: '"',
  '#39': "'",
  '#039': "'",
};
