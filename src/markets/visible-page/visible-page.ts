import type { Document, Element, HtmlPage } from '../html/html.ts';
import type { Node } from '../html/html-tree.ts';
import { isHidden, namesOf, shortText, upwards, type VisibleText } from '../html/visible-text.ts';
import { plainName } from '../structured-data/plain-name.ts';
import { cartRegions, footerRegions, otherRegions } from './element-names.ts';
import { headingLevel, otherProductsLevel } from './other-products.ts';
import { type ElementRange, firstFrom } from './positions.ts';
import { type CardLinks, createCardLinks, isInCard } from './product-card.ts';
import { controlOf, isCartControl, type PurchaseControl } from './purchase-control.ts';

/** Visible content of a page, without navigation and lists of other products. */
export interface VisiblePage {
  heading: Element | null;
  texts: readonly VisibleText[];
  /** Elements with attributes that can name a product or its price. */
  fields: readonly Element[];
  controls: readonly PurchaseControl[];
  /** Links of other products. */
  cardLinks: CardLinks;
  /** Positions of each element and of its last descendant in document order. */
  ranges: ReadonlyMap<Element, ElementRange>;
}

/** Returns true for navigation, and for regions that show other products. */
function isOtherRegion({ name, attribs }: Element, names: string): boolean {
  if (name === 'nav' || name === 'footer' || attribs.role === 'navigation') return true;
  return otherRegions.test(names);
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
/** Names of elements that contain the name of a product without being headings. */
const nameNames = /(?:^|[\s_-])(?:product|prod|item|goods)?[_-]?(?:title|name)(?=$|[\s_-])/i;

/** Returns true for the logo of a shop, which can have the name of its title. */
const isLogo = (element: Element): boolean =>
  [...upwards(element, 6)].some(({ name }) => name === 'a' || name === 'header');

/** Returns true if a name is the longest part of a title, or its beginning. */
export function isMainPart(name: string, titles: readonly string[]): boolean {
  return titles.some((title) => {
    const parts = title.split(/\s[-–—|:·»]\s|\|/).map(plainName);
    const longest = Math.max(...parts.map(({ length }) => length));
    return parts[0] === name || parts.some((part) => part === name && part.length === longest);
  });
}

/**
 * Returns how an element can have the name of the product: as a heading, as an item, or by its own
 * name.
 */
function nameKind(element: Element): 'heading' | 'item' | 'name' | null {
  if (headingNames.has(element.name)) return 'heading';
  if (/\bname\b/.test(element.attribs.itemprop ?? '')) return 'item';
  return nameNames.test(namesOf(element)) ? 'name' : null;
}

/**
 * An element that can have the name of the product, and its text without differences in spelling.
 */
interface NamedElement {
  kind: NonNullable<ReturnType<typeof nameKind>>;
  name: string;
}

/** Returns the name in an element. Null for an element that cannot name the product. */
function namedElement(element: Element): NamedElement | null {
  const kind = nameKind(element);
  if (kind === null || isHidden(element)) return null;
  const text = shortText(element, maxHeading);
  return text === null ? null : { kind, name: plainName(text) };
}

/** Minimum characters of a name that is compared with titles. */
const minName = 5;

/** Returns true if a name is in one of the titles, as a whole part of it unless it is a heading. */
function isTitleName(
  { kind, name }: NamedElement,
  titles: readonly string[],
  names: readonly string[],
) {
  if (name.length < minName) return false;
  if (!names.some((title) => title.includes(name) || name.includes(title))) return false;
  return kind === 'heading' || isMainPart(name, titles);
}

/** Returns the first heading, or the first `h1` if there is one. */
function preferredHeading(current: Element | null, next: Element): Element {
  if (current === null) return next;
  return next.name === 'h1' && current.name !== 'h1' ? next : current;
}

/**
 * Returns the element with the name of the product: the heading whose text is in one of the titles,
 * otherwise the only `h1`, otherwise the element of another name with the main part of a title.
 */
function headingOf(elements: Iterable<Element>, titles: readonly string[]): Element | null {
  const names = titles.map(plainName).filter((name) => name.length >= minName);
  const mainHeadings = new Map<string, Element>();
  let heading: Element | null = null;
  let other: Element | null = null;
  for (const element of elements) {
    const named = namedElement(element);
    if (named === null) continue;
    // Pages repeat their heading for small screens.
    if (element.name === 'h1' && !mainHeadings.has(named.name))
      mainHeadings.set(named.name, element);
    if (!isTitleName(named, titles, names)) continue;
    if (named.kind !== 'name') heading = preferredHeading(heading, element);
    else if (other === null && !isLogo(element)) other = element;
  }
  const [first = null] = mainHeadings.values();
  const onlyHeading = mainHeadings.size === 1 ? first : null;
  return heading ?? onlyHeading ?? other;
}

/** Returns a test of the elements with a control in them. */
function createControlTest(
  ranges: ReadonlyMap<Element, ElementRange>,
  isControl: (element: Element) => boolean,
): (range: ElementRange) => boolean {
  let controls: readonly { at: number }[] | null = null;
  return ({ start, end }) => {
    controls ??= [...ranges]
      .slice(0, maxElements)
      .filter(([element]) => isControl(element))
      .map(([, range]) => ({ at: range.start }));
    const first = controls[firstFrom(controls, start)];
    return first !== undefined && first.at <= end;
  };
}

/** Maximum elements of a page that are considered. Large real pages have 30,000. */
const maxElements = 50_000;

/** Returns a test of the elements that are left out: navigation, other products, and the cart. */
function createSkipTest(
  ranges: ReadonlyMap<Element, ElementRange>,
  isMain: (element: Element) => boolean,
) {
  const isCartForm = createControlTest(ranges, isCartControl);
  const hasControl = createControlTest(ranges, (element) => controlOf(element) !== null);
  return (element: Element, range: ElementRange): boolean => {
    if (isMain(element)) return false;
    const names = namesOf(element);
    if (isOtherRegion(element, names)) return true;
    if (cartRegions.test(names)) return !isCartForm(range);
    // The last part of the product's own region can have its price and its control.
    return footerRegions.test(names) && !hasControl(range);
  };
}

/**
 * Returns the nodes without those under a heading of other products: its following siblings up to
 * the next heading of its level, or to the element with the heading of the page.
 */
function withoutOtherProducts(nodes: readonly Node[], isMain: (element: Element) => boolean) {
  let skippedLevel: number | null = null;
  return nodes.filter((node) => {
    if (!('attribs' in node)) return skippedLevel === null;
    if (skippedLevel !== null && isMain(node)) skippedLevel = null;
    const level = headingLevel(node);
    if (skippedLevel !== null && level !== null && level <= skippedLevel) skippedLevel = null;
    if (skippedLevel === null && !isMain(node)) skippedLevel = otherProductsLevel(node, level);
    return skippedLevel === null;
  });
}

/** Returns a text with the element around it, or null for white space. */
function visibleText(node: Extract<Node, { data: string }>): VisibleText | null {
  const { parent, data: text } = node;
  if (parent === null || !('attribs' in parent) || !/\S/.test(text)) return null;
  return { text, node, parent };
}

/** Reads the visible content of a page. `titles`: names of the page and of its product. */
export function visiblePage({ root }: HtmlPage, titles: readonly string[]): VisiblePage {
  const ranges = rangesOf(root);
  const heading = headingOf(ranges.keys(), titles);
  const headingStart = heading === null ? -1 : ranges.get(heading)!.start;
  const isMain = (element: Element) => {
    const { start, end } = ranges.get(element)!;
    return start <= headingStart && headingStart <= end;
  };
  const isSkipped = createSkipTest(ranges, isMain);
  const texts: VisibleText[] = [];
  const fields: Element[] = [];
  const controls: PurchaseControl[] = [];
  const cardLinks = createCardLinks();
  const visit = (node: Node) => {
    const text = node.type === 'text' ? visibleText(node) : null;
    if (text !== null) texts.push(text);
    if (!('attribs' in node) || fields.length >= maxElements || isHidden(node)) return;
    const range = ranges.get(node)!;
    if (isSkipped(node, range)) return;
    fields.push(node);
    if (node !== heading) cardLinks.add(node, range.start);
    const control = controlOf(node);
    if (control !== null) controls.push(control);
    withoutOtherProducts(node.children, isMain).forEach(visit);
  };
  withoutOtherProducts(root.children, isMain).forEach(visit);
  return {
    heading,
    texts,
    fields,
    controls,
    cardLinks,
    ranges,
  };
}

/**
 * Returns the control of the main product: the first one after its heading, otherwise the last
 * before it.
 */
export function mainControl(page: VisiblePage): PurchaseControl | null {
  const { heading, ranges } = page;
  const controls = page.controls.filter(({ element }) => !isInCard(element, page));
  const start = heading === null ? -1 : ranges.get(heading)!.start;
  const after = controls.find(({ element }) => ranges.get(element)!.start >= start);
  return after ?? controls.at(-1) ?? null;
}
