import type { Element } from '../html/html.ts';
import { namesOf, shortText } from '../html/visible-text.ts';
import { isOtherProducts } from '../other-products-words.ts';

const maxHeading = 80;
/** Elements around a heading that contain nothing else: "You may also like", "See all". */
const maxWrappers = 3;
const headingNames = /(?:^|[\s_-])(?:title|head|heading|header|headline)(?=$|[\s_-])/i;
/** Level of a heading that is no heading element: any heading ends its section. */
const lowestLevel = 7;

const levelOf = ({ name }: Element): number | null =>
  /^h[1-6]$/.test(name) ? Number(name[1]) : null;

/** Returns the level of the heading that an element is or starts with. Null for none. */
export function headingLevel(element: Element): number | null {
  let current: Element | undefined = element;
  for (let depth = 0; depth <= maxWrappers && current !== undefined; depth += 1) {
    const level = levelOf(current);
    if (level !== null) return level;
    current = current.children.find((node) => 'attribs' in node);
  }
  return null;
}

/**
 * Returns the level of the heading of a list of other products, "You may also like", from 2; 7 for
 * an element that only has the name of a heading. Null for another element. `ownLevel` is that of
 * headingLevel().
 */
export function otherProductsLevel(element: Element, ownLevel: number | null): number | null {
  const level = ownLevel ?? (headingNames.test(namesOf(element)) ? lowestLevel : null);
  if (level === null || level === 1) return null;
  const text = shortText(element, maxHeading);
  return text !== null && isOtherProducts(text) ? level : null;
}
