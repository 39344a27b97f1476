import { type Element, oneLine } from './html.ts';
import { shortText, type VisibleText } from './visible-text.ts';

/** Returns the value after a label: in the same text, in the element around it, or in the next element. */
export function labelledText(
  { text, parent }: Pick<VisibleText, 'text' | 'parent'>,
  label: RegExp,
  maxLength: number,
): string | null {
  const own = oneLine(text)?.replace(label, '') ?? '';
  if (own !== '') return own;
  let element: Element = parent;
  for (let level = 0; level < 3; level += 1) {
    const around = shortText(element, maxLength);
    const value = around?.replace(label, '') ?? '';
    if (around === null) return null;
    if (value !== '' && value !== around) return value;
    const next = nextElement(element);
    const beside = next === null ? null : shortText(next, maxLength);
    if (beside !== null) return beside;
    if (element.parent === null || !('attribs' in element.parent)) return null;
    element = element.parent;
  }
  return null;
}

function nextElement(element: Element): Element | null {
  let next = element.next;
  while (next !== null && next.type === 'text' && next.data.trim() === '') next = next.next;
  return next !== null && 'attribs' in next ? next : null;
}
