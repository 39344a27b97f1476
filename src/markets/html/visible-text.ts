import type { Document, Element } from './html.ts';
import { oneLine } from './html.ts';
import type { Node } from './html-tree.ts';

/** A text of a page with its node and the element around it. */
export interface VisibleText {
  text: string;
  node: Node;
  parent: Element;
}

const hiddenTags: ReadonlySet<string> = new Set([
  'script',
  'style',
  'template',
  'noscript',
  'head',
  'svg',
  'iframe',
]);
const blocks: ReadonlySet<string> = new Set([
  'address',
  'article',
  'aside',
  'blockquote',
  'br',
  'dd',
  'div',
  'dl',
  'dt',
  'fieldset',
  'figure',
  'form',
  'h1',
  'h2',
  'h3',
  'h4',
  'hr',
  'li',
  'main',
  'ol',
  'p',
  'pre',
  'section',
  'table',
  'tbody',
  'td',
  'th',
  'tr',
  'ul',
]);

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

/** Returns the names that describe an element: its classes, id, and names for tests and data. */
export function namesOf({ attribs }: Element): string {
  const names = nameAttributes.map((name) => attribs[name]);
  return names.filter(Boolean).join(' ').slice(0, 300);
}

/** Returns true for an element that visitors do not see. */
export function isHidden({ name, attribs }: Element): boolean {
  if (hiddenTags.has(name) || attribs.hidden !== undefined) return true;
  return /display\s*:\s*none/i.test(attribs.style?.slice(0, 300) ?? '');
}

/** Returns the element and its parents, up to a number. */
export function* upwards(element: Element, count: number): Generator<Element> {
  let current: Element | null = element;
  for (let level = 0; level < count && current !== null; level += 1) {
    yield current;
    current = current.parent !== null && 'attribs' in current.parent ? current.parent : null;
  }
}

/** Maximum nodes whose texts are read for one short text. */
const maxShortNodes = 40;

/** Text that is collected from the nodes of an element. */
interface JoinedText {
  text: string;
  /** Parent of the last text node. */
  owner: Node | Document | null;
}

/** Appends the text of a node, apart from the digits of another element. */
function appendText(joined: JoinedText, { data, parent }: Extract<Node, { data: string }>): void {
  const isOtherElement = joined.owner !== null && joined.owner !== parent;
  const isNumber = isOtherElement && /\d$/.test(joined.text) && /^\d/.test(data);
  joined.text += isNumber ? ` ${data}` : data;
  joined.owner = parent;
}

/**
 * Returns the text of an element if it is short, otherwise null. Digits of two elements are kept
 * apart, since cents can be in an element of their own.
 */
export function shortText(element: Element, maxLength: number): string | null {
  const joined: JoinedText = { text: '', owner: null };
  let nodeCount = 0;
  const visit = (node: Node): boolean => {
    nodeCount += 1;
    if (nodeCount > maxShortNodes || joined.text.length > maxLength * 3) return false;
    if (node.type === 'text') {
      appendText(joined, node);
      return true;
    }
    if (!('attribs' in node) || isHidden(node)) return true;
    const separator = blocks.has(node.name) ? ' ' : '';
    joined.text += separator;
    const isComplete = node.children.every(visit);
    joined.text += separator;
    return isComplete;
  };
  if (!element.children.every(visit)) return null;
  const line = oneLine(joined.text);
  return line === null || line.length > maxLength ? null : line;
}

const maxLineNodes = 12;

/** Returns true for a block element, which starts a line. */
const isBlock = (node: Node) => 'attribs' in node && blocks.has(node.name);

/** Returns the text of a node of a line, or null if it is long. */
function lineText(node: Node, maxLength: number): string | null {
  if (node.type === 'text') return node.data.length > maxLength * 3 ? null : node.data;
  if (!('attribs' in node) || isHidden(node)) return '';
  return node.children.length === 0 ? '' : shortText(node, maxLength);
}

/** Returns the nodes of the line of a node: it, and those beside it up to the next block. */
function lineNodes(node: Node): Node[] | null {
  const nodes = [node];
  for (let before = node.prev; before !== null && !isBlock(before); before = before.prev)
    if (nodes.unshift(before) > maxLineNodes) return null;
  for (let after = node.next; after !== null && !isBlock(after); after = after.next)
    if (nodes.push(after) > maxLineNodes) return null;
  return nodes;
}

/**
 * Returns the whole line of a text: "1,448 sold" for "sold" beside a number. Null if it is long.
 */
export function lineOf({ node }: VisibleText, maxLength: number): string | null {
  let start: Node = node;
  for (let level = 0; level < 3; level += 1) {
    const { parent } = start;
    if (parent === null || !('attribs' in parent) || isBlock(parent)) break;
    start = parent;
  }
  const parts = lineNodes(start)?.map((part) => lineText(part, maxLength)) ?? [null];
  const line = parts.includes(null) ? null : oneLine(parts.join(' '));
  return line === null || line.length > maxLength ? null : line;
}
