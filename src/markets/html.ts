import { compile, selectAll, selectOne } from 'css-select';
import { DomHandler, Parser, type parseDocument } from 'htmlparser2';
import { Fault } from '../contract/fault.ts';
import type { PageResponse } from '../fetch/page.ts';

export type Document = ReturnType<typeof parseDocument>;
export type Node = Document['children'][number];
/** Element with its attributes and children. */
export type Element = Extract<Node, { attribs: unknown }>;

/**
 * Parsed HTML page: its tree, and its elements by `id` in document order, as pages repeat ids. An element
 * inside another one with the same id is left out.
 */
export interface HtmlPage {
  root: Document;
  ids: ReadonlyMap<string, readonly Element[]>;
}

/** Maximum depth of elements. Real pages stay below 100; deeper ones take quadratic time. */
const maxDepth = 400;

function standsIn(element: Element, others: ReadonlySet<Node | Document>): boolean {
  for (let outer = element.parent; outer !== null; outer = outer.parent) if (others.has(outer)) return true;
  return false;
}

/**
 * Maximum elements, texts and comments of a page. Large real pages have 30,000; each takes about 300 bytes.
 */
const maxNodes = 300_000;

class BoundedHandler extends DomHandler {
  private nodes = 0;
  readonly ids = new Map<string, Element[]>();

  protected override addNode(node: Node): void {
    this.nodes += 1;
    if (this.nodes > maxNodes) throw new Fault('page_unreadable', `the page has more than ${maxNodes} nodes`);
    super.addNode(node);
  }

  override onopentag(name: string, attributes: Record<string, string>): void {
    if (this.tagStack.length > maxDepth) {
      throw new Fault('page_unreadable', `the page is nested deeper than ${maxDepth} elements`);
    }
    super.onopentag(name, attributes);
    const { id } = attributes;
    if (!id) return;
    const element = this.tagStack.at(-1) as Element;
    const known = this.ids.get(id);
    if (!known) this.ids.set(id, [element]);
    else if (!standsIn(element, new Set(known.slice(-1)))) known.push(element);
  }
}

function declaredEncoding(response: PageResponse): string | undefined {
  const header = /charset=["']?([\w-]+)/i.exec(response.headers['content-type'] ?? '');
  return (header ??
    /<meta[^>]{0,200}charset=["']?([\w-]+)/i.exec(response.body.toString('latin1', 0, 4096)))?.[1];
}

/**
 * Decodes the body of a response: as UTF-8 if it is valid UTF-8, otherwise with the encoding that the header
 * or the page declares. Never throws.
 */
export function bodyText(response: PageResponse): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(response.body);
  } catch {
    try {
      return new TextDecoder(declaredEncoding(response) ?? 'utf-8').decode(response.body);
    } catch {
      return new TextDecoder('utf-8').decode(response.body);
    }
  }
}

/**
 * Parses HTML leniently, as browsers do, in linear time. Throws `page_unreadable` for a page that is nested
 * too deeply or has too many nodes.
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

/** Returns true if a text is a CSS selector that find() supports. */
export function isSelector(selector: string): boolean {
  try {
    compile(selector);
    return true;
  } catch {
    return false;
  }
}

/** Returns the first descendant of `within` that matches a CSS selector. */
export function find(within: Element | Document | undefined, selector: string): Element | undefined {
  return within ? (selectOne<Node | Document, Element>(selector, within) ?? undefined) : undefined;
}

/**
 * Returns the descendants of `within` that match a CSS selector, in document order. A match inside another
 * match is left out, which keeps reading their texts linear.
 */
export function findAll(within: Element | Document | undefined, selector: string): Element[] {
  const found = within ? selectAll<Node | Document, Element>(selector, within) : [];
  const all = new Set<Node | Document>(found);
  return found.filter((element) => !standsIn(element, all));
}

/** Returns an attribute's trimmed value. Null if it is absent or blank. */
export function attribute(element: Element | undefined, name: string): string | null {
  return element?.attribs[name]?.trim() || null;
}

export function hasClass(element: Element, name: string): boolean {
  return (element.attribs.class ?? '').split(/\s+/).includes(name);
}

/** Returns the element and its ancestors, innermost first. */
export function* outwards(element: Element): Generator<Element> {
  for (let node: Node | Document | null = element; node !== null; node = node.parent as typeof node) {
    if ('attribs' in node) yield node;
  }
}

const unseen: ReadonlySet<string> = new Set(['script', 'style', 'template', 'noscript']);
const inline: ReadonlySet<string> = new Set(
  'a abbr b bdi bdo cite code data em font i kbd mark q s small span strike strong sub sup time u var wbr'.split(
    ' ',
  ),
);

function collect(node: Node, parts: string[], skip: (element: Element) => boolean): void {
  if ('data' in node && node.type === 'text') parts.push(node.data);
  if (!('attribs' in node) || unseen.has(node.name) || skip(node)) return;
  if (!inline.has(node.name)) parts.push(' ');
  for (const child of node.children) collect(child, parts, skip);
  if (!inline.has(node.name)) parts.push(' ');
}

/** Collapses all white space to single spaces and drops direction marks. Null if nothing is left. */
export function oneLine(text: string): string | null {
  return (
    text
      .replace(/[\u200b\u200e\u200f\u202a-\u202e\u2066-\u2069\ufeff]/g, '')
      .replace(/\s+/g, ' ')
      .trim() || null
  );
}

/**
 * Returns the text of an element on one line, without scripts, styles and the elements that `skip` accepts.
 * Null if there is none.
 */
export function words(
  element: Element | Document | undefined,
  skip: (element: Element) => boolean = () => false,
): string | null {
  if (!element) return null;
  const parts: string[] = [];
  for (const child of element.children) collect(child, parts, skip);
  return oneLine(parts.join(''));
}

/** Returns the text of the first element that has one. */
export function firstWords(elements: readonly (Element | undefined)[]): string | null {
  for (const element of elements) {
    const said = words(element);
    if (said !== null) return said;
  }
  return null;
}

/** Returns the source of a script element. */
export function scriptText(script: Element): string {
  return script.children.map((child) => ('data' in child ? child.data : '')).join('');
}
