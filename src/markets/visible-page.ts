import type { Document, Element, HtmlPage } from './html.ts';
import { oneLine } from './html.ts';
import type { Node } from './html-tree.ts';
import { buyActions, buyNames, buyWords, otherRegions, soldOutWords } from './purchase-words.ts';
import { plainName } from './structured-product.ts';

/** A text of a page with the element around it. */
export interface VisibleText {
  text: string;
  parent: Element;
}

/** A control that buys the product, or that says that it cannot be bought. */
export interface PurchaseControl {
  element: Element;
  text: string;
  isSoldOut: boolean;
  isDisabled: boolean;
}

/** What a visitor sees of a page, without navigation and lists of other products. */
export interface VisiblePage {
  heading: Element | null;
  texts: readonly VisibleText[];
  /** Elements with attributes that can name a product or its price. */
  fields: readonly Element[];
  controls: readonly PurchaseControl[];
  /** Position of each element in the order of the document, and that of its last descendant. */
  ranges: ReadonlyMap<Element, ElementRange>;
}

export interface ElementRange {
  start: number;
  end: number;
}

const unseen: ReadonlySet<string> = new Set([
  'script',
  'style',
  'template',
  'noscript',
  'head',
  'svg',
  'iframe',
]);
const blocks: ReadonlySet<string> = new Set(
  'address article aside blockquote br dd div dl dt fieldset figure form h1 h2 h3 h4 hr li main ol p pre section table tbody td th tr ul'.split(
    ' ',
  ),
);

const nameAttributes = [
  'class',
  'id',
  'itemprop',
  'data-testid',
  'data-test',
  'data-qa',
  'data-qa-qualifier',
  'data-cy',
];

/** Returns the names of an element that say what it is: its classes, id, and names for tests and data. */
export function namesOf({ attribs }: Element): string {
  const names = nameAttributes.map((name) => attribs[name]);
  return names.filter(Boolean).join(' ').slice(0, 300);
}

function isHidden({ name, attribs }: Element): boolean {
  if (unseen.has(name) || attribs.hidden !== undefined) return true;
  return /display\s*:\s*none/i.test(attribs.style?.slice(0, 300) ?? '');
}

/** Returns true for navigation, and for regions that show other products or a cart. */
function isOtherRegion(element: Element): boolean {
  const { name, attribs } = element;
  if (name === 'nav' || name === 'footer' || attribs.role === 'navigation') return true;
  return otherRegions.test(namesOf(element));
}

/** Maximum nodes whose texts are read for one short text. */
const maxShortNodes = 40;

/**
 * Returns the text of an element if it is short, otherwise null. Digits of two elements are kept apart, since
 * cents can be in an element of their own.
 */
export function shortText(element: Element, maxLength: number): string | null {
  let text = '';
  let nodes = 0;
  let owner: Node | Document | null = null;
  const visit = (node: Node): boolean => {
    nodes += 1;
    if (nodes > maxShortNodes || text.length > maxLength * 3) return false;
    if (node.type === 'text') {
      const isJoined = owner !== null && owner !== node.parent && /\d$/.test(text) && /^\d/.test(node.data);
      text += isJoined ? ` ${node.data}` : node.data;
      owner = node.parent;
      return true;
    }
    if (!('attribs' in node) || isHidden(node)) return true;
    if (blocks.has(node.name)) text += ' ';
    const isComplete = node.children.every(visit);
    if (blocks.has(node.name)) text += ' ';
    return isComplete;
  };
  if (!element.children.every(visit)) return null;
  const line = oneLine(text);
  return line === null || line.length > maxLength ? null : line;
}

/** Numbers the elements of a page in the order of the document. */
function rangesOf(root: Document): Map<Element, ElementRange> {
  const ranges = new Map<Element, ElementRange>();
  let position = 0;
  const visit = (node: Node) => {
    if (!('attribs' in node)) return;
    const range = { start: position, end: position };
    position += 1;
    ranges.set(node, range);
    node.children.forEach(visit);
    range.end = position - 1;
  };
  root.children.forEach(visit);
  return ranges;
}

const headingNames: ReadonlySet<string> = new Set(['h1', 'h2', 'h3']);
const maxHeading = 300;

/**
 * Returns the element with the name of the product: the heading, or the element of another name, whose text
 * is in one of the titles, otherwise the only `h1`.
 */
function headingOf(elements: Iterable<Element>, titles: readonly string[]): Element | null {
  const names = titles.map(plainName).filter((name) => name.length > 4);
  const firsts: Element[] = [];
  let named: Element | null = null;
  for (const element of elements) {
    const isHeading = headingNames.has(element.name);
    const isNamed = isHeading || /\bname\b/.test(element.attribs.itemprop ?? '');
    if (!isNamed || isHidden(element)) continue;
    const text = shortText(element, maxHeading);
    if (text === null) continue;
    if (element.name === 'h1') firsts.push(element);
    const name = plainName(text);
    const isTitle = name.length > 4 && names.some((title) => title.includes(name) || name.includes(title));
    if (isTitle && (named === null || (element.name === 'h1' && named.name !== 'h1'))) named = element;
  }
  return named ?? (firsts.length === 1 ? firsts[0]! : null);
}

const controlNames: ReadonlySet<string> = new Set(['button', 'input', 'a', 'img']);

/** Returns a control that buys the product of a page, or null for another element. */
function controlOf(element: Element): PurchaseControl | null {
  const { name, attribs } = element;
  const names = [namesOf(element), attribs.name].join(' ');
  const isActive = attribs.role === 'button' || attribs.onclick !== undefined;
  const isButton = controlNames.has(name) || isActive || /buy|cart|basket/i.test(names);
  if (!isButton || (name === 'input' && !/^(?:submit|button|image)$/i.test(attribs.type ?? ''))) return null;
  const written = name === 'input' ? (attribs.value ?? attribs.alt ?? '') : (shortText(element, 60) ?? '');
  const labels = [written, attribs['aria-label'], attribs.title].map((label) => oneLine(label ?? '') ?? '');
  const link = (attribs.href ?? attribs.formaction ?? '').slice(0, 300);
  const isSoldOut = labels.some((label) => soldOutWords.test(label.slice(0, 100)));
  const isWorded = labels.some((label) => buyWords.test(label.slice(0, 100)));
  const isBuy = isWorded || (controlNames.has(name) && (buyNames.test(names) || buyActions.test(link)));
  if (!isBuy && !isSoldOut) return null;
  const isDisabled =
    attribs.disabled !== undefined || attribs['aria-disabled'] === 'true' || /\bdisabled\b/.test(names);
  return { element, text: labels.find((label) => label !== '') ?? '', isSoldOut, isDisabled };
}

/** Maximum elements of a page that are considered. Large real pages have 30,000. */
const maxElements = 50_000;

/** Reads what a visitor sees of a page. `titles`: names of the page and of its product. */
export function visiblePage({ root }: HtmlPage, titles: readonly string[]): VisiblePage {
  const ranges = rangesOf(root);
  const heading = headingOf(ranges.keys(), titles);
  const headingStart = heading === null ? -1 : ranges.get(heading)!.start;
  const texts: VisibleText[] = [];
  const fields: Element[] = [];
  const controls: PurchaseControl[] = [];
  const visit = (node: Node) => {
    if (node.type === 'text' && node.parent !== null && 'attribs' in node.parent) {
      if (/\S/.test(node.data)) texts.push({ text: node.data, parent: node.parent });
      return;
    }
    if (!('attribs' in node) || fields.length >= maxElements || isHidden(node)) return;
    const { start, end } = ranges.get(node)!;
    const hasHeading = start <= headingStart && headingStart <= end;
    if (!hasHeading && isOtherRegion(node)) return;
    fields.push(node);
    const control = controlOf(node);
    if (control !== null) controls.push(control);
    node.children.forEach(visit);
  };
  root.children.forEach(visit);
  return { heading, texts, fields, controls, ranges };
}
