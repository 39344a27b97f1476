import type { Document, Element } from './html.ts';
import { oneLine } from './html.ts';
import type { Node } from './html-tree.ts';

/** A text of a page with the element around it. */
export interface VisibleText {
  text: string;
  parent: Element;
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

/** Returns true for an element that visitors do not see. */
export function isHidden({ name, attribs }: Element): boolean {
  if (unseen.has(name) || attribs.hidden !== undefined) return true;
  return /display\s*:\s*none/i.test(attribs.style?.slice(0, 300) ?? '');
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
