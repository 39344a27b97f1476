import { type Element, oneLine } from './html.ts';
import { shortText, upwards, type VisibleText } from './visible-text.ts';

/** Elements around a label that are searched for its value. */
const maxLabelDepth = 3;

/**
 * Returns the value after a label: in the same text, in the element around it, or in the next
 * element.
 */
export function labelledText(
  { text, parent }: Pick<VisibleText, 'text' | 'parent'>,
  label: RegExp,
  maxLength: number,
): string | null {
  const ownText = oneLine(text)?.replace(label, '') ?? '';
  if (ownText !== '') return ownText;
  for (const element of upwards(parent, maxLabelDepth)) {
    const elementText = shortText(element, maxLength);
    if (elementText === null) return null;
    const value = elementText.replace(label, '');
    if (value !== '' && value !== elementText) return value;
    const next = nextElement(element);
    const nextText = next && shortText(next, maxLength);
    if (nextText !== null) return nextText;
  }
  return null;
}

function nextElement(element: Element): Element | null {
  let next = element.next;
  while (next !== null && next.type === 'text' && next.data.trim() === '') next = next.next;
  return next !== null && 'attribs' in next ? next : null;
}
