import type { Document, Element, HtmlPage } from './html.ts';
import type { Node } from './html-tree.ts';
import { controlOf, type PurchaseControl } from './purchase-control.ts';
import { otherRegions } from './purchase-words.ts';
import { plainName } from './structured-product.ts';
import { isHidden, namesOf, shortText, type VisibleText } from './visible-text.ts';

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

/** Returns true for navigation, and for regions that show other products or a cart. */
function isOtherRegion(element: Element): boolean {
  const { name, attribs } = element;
  if (name === 'nav' || name === 'footer' || attribs.role === 'navigation') return true;
  return otherRegions.test(namesOf(element));
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

/** Returns the control of the main product: the first one after its heading, otherwise the last before it. */
export function mainControl({ controls, heading, ranges }: VisiblePage): PurchaseControl | null {
  const start = heading === null ? -1 : ranges.get(heading)!.start;
  const after = controls.find(({ element }) => ranges.get(element)!.start >= start);
  return after ?? controls.at(-1) ?? null;
}
