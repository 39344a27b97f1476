import { isUtf8 } from 'node:buffer';
import { DomHandler, Parser } from 'htmlparser2';
import { createBoundedMap } from '../../base/bounded-map.ts';
import { Fault } from '../../contract/fault.ts';
import type { PageResponse } from '../../fetch/page.ts';
import { type Document, type Element, isElement, type Node } from './html-tree.ts';
import { createPageWork, type PageWork } from './page-work.ts';
import { compileSelector, type Matcher } from './selector.ts';

export type { Document, Element } from './html-tree.ts';

/**
 * Parsed HTML page: its tree, and its elements by `id` in document order, as pages repeat ids. An
 * element inside another one with the same id is left out.
 */
export interface HtmlPage {
  root: Document;
  ids: ReadonlyMap<string, readonly Element[]>;
}

/** Maximum depth of elements. Real pages stay below 100; deeper ones take quadratic time. */
const maxDepth = 400;

function standsIn(element: Element, ancestors: ReadonlySet<Node | Document>): boolean {
  for (let outer = element.parent; outer !== null; outer = outer.parent)
    if (ancestors.has(outer)) return true;
  return false;
}

/**
 * Maximum elements, texts and comments of a page. Large real pages have 30,000; each takes about
 * 300 bytes.
 */
const maxNodes = 300_000;

/**
 * Maximum attributes of a page, and pieces of its texts: a reference to a character divides a text.
 */
const maxAttributes = 500_000;
const maxTextPieces = 1_000_000;

class BoundedHandler extends DomHandler {
  private nodes = 0;
  private attributes = 0;
  private textPieces = 0;
  readonly ids = new Map<string, Element[]>();

  protected override addNode(node: Node): void {
    this.nodes += 1;
    if (this.nodes > maxNodes)
      throw new Fault('page_unreadable', `the page has more than ${maxNodes} nodes`);
    super.addNode(node);
  }

  /** Called by the parser for each attribute, before the tag ends. */
  onattribute(): void {
    this.attributes += 1;
    if (this.attributes > maxAttributes)
      throw new Fault('page_unreadable', `the page has more than ${maxAttributes} attributes`);
  }

  override ontext(text: string): void {
    this.textPieces += 1;
    if (this.textPieces > maxTextPieces)
      throw new Fault('page_unreadable', `the page has more than ${maxTextPieces} pieces of text`);
    super.ontext(text);
  }

  override onopentag(name: string, attributes: Record<string, string>): void {
    if (this.tagStack.length > maxDepth) {
      throw new Fault('page_unreadable', `the page is nested deeper than ${maxDepth} elements`);
    }
    super.onopentag(name, attributes);
    const { id } = attributes;
    if (!id) return;
    const element = this.tagStack.at(-1) as Element;
    const elements = this.ids.get(id);
    if (!elements) this.ids.set(id, [element]);
    else if (!standsIn(element, new Set(elements.slice(-1)))) elements.push(element);
  }
}

/** Returns the encoding of a byte order mark, or the first declared one besides UTF-8. */
function declaredEncoding({ headers, body }: PageResponse): string | undefined {
  const mark = body.toString('latin1', 0, 2);
  if (mark === '\xff\xfe') return 'utf-16le';
  if (mark === '\xfe\xff') return 'utf-16be';
  const header = /charset=["']?([\w-]+)/i.exec(headers['content-type'] ?? '');
  const page = /<meta[^>]{0,200}charset\s?=\s?["']?([\w-]+)/i.exec(
    body.toString('latin1', 0, 4096),
  );
  return [header, page].map((match) => match?.[1]).find((name) => name && !/^utf-?8$/i.test(name));
}

/**
 * Decodes the body of a response: as UTF-8 if it is valid UTF-8, otherwise with the encoding that
 * the header or the page declares. Never throws. Bytes that cannot be decoded are U+FFFD.
 */
export function bodyText(response: PageResponse): string {
  const { body } = response;
  const declared = declaredEncoding(response) ?? 'utf-8';
  // All bytes of this encoding are ASCII.
  const isAscii = /^iso-2022-jp$/i.test(declared);
  const encoding = isUtf8(body) && !isAscii ? 'utf-8' : declared;
  try {
    return new TextDecoder(encoding).decode(body);
  } catch {
    return new TextDecoder('utf-8').decode(body);
  }
}

/**
 * Parses HTML leniently, as browsers do, in linear time. Throws `page_unreadable` for a page that
 * is nested too deeply or has too many nodes, attributes or pieces of text.
 */
export function parseHtml(html: string): HtmlPage {
  const handler = new BoundedHandler();
  new Parser(handler).end(html);
  return { root: handler.root, ids: handler.ids };
}

/** Returns the first element with an id. */
export function byId(page: HtmlPage, id: string): Element | undefined {
  return page.ids.get(id)?.[0];
}

/** Returns every element with an id, in document order. */
export function allById(page: HtmlPage, id: string): readonly Element[] {
  return page.ids.get(id) ?? [];
}

/** Work of the readers of each page, by its root. */
const pageWork = new WeakMap<Node | Document, PageWork>();

/** Returns the counter of the work of the page that an element belongs to. */
export function workOf(element: Element | Document): PageWork {
  let root: Node | Document = element;
  let depth = 0;
  for (; root.parent !== null; depth += 1) root = root.parent;
  const work = pageWork.get(root) ?? createPageWork();
  pageWork.set(root, work);
  // An ancestor takes less time than a visit.
  work.add(depth >> 3);
  return work;
}

/** Compiled selectors. Those of the readers are fixed; operators declare others. */
const matchers = createBoundedMap<Matcher>({
  maxBytes: 4 * 1024 ** 2,
  sizeOf: ({ steps }) => 500 * steps,
});

function matcherOf(selector: string): Matcher {
  const matcher = matchers.get(selector) ?? compileSelector(selector);
  matchers.set(selector, matcher);
  return matcher;
}

/**
 * Returns the first descendant of `within` that matches a CSS selector (compileSelector). Throws
 * `page_too_complex` if the readers of the page have done too much work.
 */
export function find(
  within: Element | Document | undefined,
  selector: string,
): Element | undefined {
  if (!within) return undefined;
  let match: Element | undefined;
  matcherOf(selector).walk(within, workOf(within), (element) => {
    match = element;
    return true;
  });
  return match;
}

/**
 * Returns the descendants of `within` that match a CSS selector (compileSelector), in document
 * order. A match inside another match is left out, which keeps reading their texts linear. Throws
 * `page_too_complex` if the readers of the page have done too much work.
 */
export function findAll(within: Element | Document | undefined, selector: string): Element[] {
  if (!within) return [];
  const matches: Element[] = [];
  matcherOf(selector).walk(within, workOf(within), (element) => {
    matches.push(element);
    return false;
  });
  return matches;
}

/** Returns an attribute's trimmed value. Null if it is absent or blank. */
export function attribute(element: Element | undefined, name: string): string | null {
  return element?.attribs[name]?.trim() || null;
}

export function hasClass(element: Element, name: string): boolean {
  const classes = element.attribs.class;
  return classes?.includes(name) === true && classes.split(/\s+/).includes(name);
}

/**
 * Returns the element and its ancestors, innermost first. Throws `page_too_complex` if the readers
 * of the page have done too much work.
 */
export function* outwards(element: Element): Generator<Element> {
  const work = workOf(element);
  for (
    let node: Node | Document | null = element;
    node !== null;
    node = node.parent as typeof node
  ) {
    if (!isElement(node)) continue;
    const { id = '', class: classes = '' } = node.attribs;
    work.addSearch(id.length + classes.length);
    yield node;
  }
}

const hiddenTags: ReadonlySet<string> = new Set(['script', 'style', 'template', 'noscript']);
const inline: ReadonlySet<string> = new Set([
  'a',
  'abbr',
  'b',
  'bdi',
  'bdo',
  'cite',
  'code',
  'data',
  'em',
  'font',
  'i',
  'kbd',
  'mark',
  'q',
  's',
  'small',
  'span',
  'strike',
  'strong',
  'sub',
  'sup',
  'time',
  'u',
  'var',
  'wbr',
]);

/** Parts of the text of an element, as they are collected. */
interface TextParts {
  parts: string[];
  skip: (element: Element) => boolean;
  work: PageWork;
}

function collect(node: Node, text: TextParts): void {
  const { parts, skip, work } = text;
  if ('data' in node && node.type === 'text') {
    work.addRead(node.data.length);
    parts.push(node.data);
  }
  if (!('attribs' in node) || hiddenTags.has(node.name) || skip(node)) return;
  work.add(1 + node.children.length);
  if (!inline.has(node.name)) parts.push(' ');
  for (const child of node.children) collect(child, text);
  if (!inline.has(node.name)) parts.push(' ');
}

/**
 * Collapses all white space to single spaces and drops direction marks. Null if nothing is left.
 */
export function oneLine(text: string): string | null {
  return (
    text
      .replace(/[\u200b\u200e\u200f\u202a-\u202e\u2066-\u2069\ufeff]/g, '')
      // Most white space is a single space, which stays.
      .replace(/\s{2,}|[^\S ]/g, ' ')
      .trim() || null
  );
}

/**
 * Returns the text of an element on one line, without scripts, styles and the elements that `skip`
 * accepts. Null if there is none. Throws `page_too_complex` if the readers of the page have done
 * too much work.
 */
export function words(
  element: Element | Document | undefined,
  skip: (element: Element) => boolean = () => false,
): string | null {
  if (!element) return null;
  const text: TextParts = { parts: [], skip, work: workOf(element) };
  for (const child of element.children) collect(child, text);
  return oneLine(text.parts.join(''));
}

/**
 * Mark in a price text between the digits of two elements of which the second can hold the cents:
 * "54<sup>85</sup>".
 */
export const centsMark = '\ue000';
/** Mark in a price text between the digits of two elements that are numbers of their own. */
export const numberMark = '\ue001';

const raised: ReadonlySet<string> = new Set(['sup', 'small']);
const centsClass = /cents?(?![a-z])|fraction|decimal|superscript/i;

/** Returns true for an element that shows cents smaller or higher than the whole amount. */
function isRaised({ name, attribs }: Element): boolean {
  return raised.has(name) || (inline.has(name) && centsClass.test(attribs.class ?? ''));
}

/** Writes the text of a price, in the order of its elements. */
class PriceWriter {
  private readonly parts: string[] = [];
  /** Parent of the last text that is not blank. */
  private parent: Node['parent'] = null;
  private isRaised = false;
  private endsWithDigit = false;
  private isSpaced = true;
  private isNewLine = false;

  write(node: Node & { data: string }, isRaised: boolean): void {
    // A page's own characters of the marks are unknown ones.
    const text = node.data.replace(/[\ue000\ue001]/g, '\ufffd');
    if (text.trim() !== '') this.mark(text, node.parent, isRaised);
    else if (text !== '') this.isSpaced = true;
    this.parts.push(text);
  }

  /** Adds a mark between adjacent digits of two elements. */
  private mark(text: string, parent: Node['parent'], isRaised: boolean): void {
    const meetsDigit = this.endsWithDigit && /^\s*\p{Nd}/u.test(text);
    const isSeparate = this.isNewLine || this.isRaised;
    const isSpaced = this.isSpaced || /^\s/.test(text);
    const isCents = !isSeparate && (isRaised || !isSpaced);
    if (meetsDigit && (this.isNewLine || parent !== this.parent))
      this.parts.push(isCents ? centsMark : numberMark);
    this.parent = parent;
    this.isRaised = isRaised;
    this.endsWithDigit = /\p{Nd}\s*$/u.test(text);
    this.isSpaced = /\s$/.test(text);
    this.isNewLine = false;
  }

  startLine(): void {
    this.parts.push(' ');
    this.isNewLine = true;
  }

  get text(): string | null {
    return oneLine(this.parts.join(''));
  }
}

function collectPrice(node: Node, writer: PriceWriter, isRaisedText: boolean): void {
  if ('data' in node && node.type === 'text') writer.write(node, isRaisedText);
  if (!('attribs' in node) || hiddenTags.has(node.name)) return;
  const isBlock = !inline.has(node.name);
  if (isBlock) writer.startLine();
  for (const child of node.children) collectPrice(child, writer, isRaisedText || isRaised(node));
  if (isBlock) writer.startLine();
}

/**
 * Returns the text of a price's element as words() does, with centsMark or numberMark where the
 * digits of two elements meet, so that "54<sup>85</sup>" is not 5485. Null if there is none.
 */
export function priceWords(element: Element | undefined): string | null {
  if (!element) return null;
  const writer = new PriceWriter();
  for (const child of element.children) collectPrice(child, writer, false);
  return writer.text;
}

/** Returns the text of the first element that has one. */
export function firstWords(elements: readonly (Element | undefined)[]): string | null {
  for (const element of elements) {
    const text = words(element);
    if (text !== null) return text;
  }
  return null;
}

/**
 * Returns the source of a script element. Throws `page_too_complex` if the readers of the page have
 * done too much work.
 */
export function scriptText(script: Element): string {
  const source = script.children.map((child) => ('data' in child ? child.data : '')).join('');
  workOf(script).addSearch(source.length);
  return source;
}
