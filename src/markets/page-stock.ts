import { readAvailability } from './availability.ts';
import type { Candidate } from './candidates.ts';
import { type Element, oneLine } from './html.ts';
import { labelledText } from './label-text.ts';
import { pageCandidate } from './page-evidence.ts';
import type { PagePrices } from './page-prices.ts';
import type { PurchaseControl } from './purchase-control.ts';
import { stockLabels, stockNames } from './purchase-words.ts';
import type { VisiblePage } from './visible-page.ts';
import { namesOf, shortText } from './visible-text.ts';

const maxStockText = 80;

/** Returns the texts of a page that state whether its product is in stock. */
function stockTexts({ fields, texts }: VisiblePage): { text: string; element: Element }[] {
  const found: { text: string; element: Element }[] = [];
  for (const element of fields) {
    if (!stockNames.test(namesOf(element))) continue;
    const text = shortText(element, maxStockText);
    if (text !== null) found.push({ text: text.replace(stockLabels, ''), element });
  }
  for (const { text: label, parent } of texts) {
    if (label.length > maxStockText || !stockLabels.test(label.trim())) continue;
    const text = labelledText({ text: label, parent }, stockLabels, maxStockText);
    if (text !== null) found.push({ text, element: parent });
  }
  return found;
}

const maxNearText = 40;

/** Returns the short texts in an element, without those of the control. */
function textsIn({ texts, ranges }: VisiblePage, around: Element | null, control: PurchaseControl | null) {
  const range = around === null ? undefined : ranges.get(around);
  const skipped = control === null ? undefined : ranges.get(control.element);
  const found: { text: string; element: Element }[] = [];
  for (const { text, parent: element } of texts) {
    const { start } = ranges.get(element)!;
    const isIn = range !== undefined && range.start <= start && start <= range.end;
    const isControl = skipped !== undefined && skipped.start <= start && start <= skipped.end;
    const line = isIn && !isControl && text.length <= maxNearText * 3 ? oneLine(text) : null;
    if (line !== null && line.length <= maxNearText) found.push({ text: line, element });
  }
  return found;
}

/** Returns the candidates for the availability of the product of a page. */
export function availabilityCandidates(
  page: VisiblePage,
  control: PurchaseControl | null,
  { near, atControl }: Pick<PagePrices, 'near' | 'atControl'>,
) {
  const found: Candidate[] = [];
  const field = 'availability';
  const isBuyable = control !== null && !control.isSoldOut && !control.isDisabled;
  const texts = [...stockTexts(page), ...textsIn(page, near.around, control)];
  const stated = texts.filter(({ text }) => readAvailability(text).available !== null);
  const states = new Set(stated.map(({ text }) => readAvailability(text).available));
  const [first] = stated;
  if (first !== undefined && states.size === 1) {
    const { state: value, available } = readAvailability(first.text);
    const isMarked = available ? control === null || !control.isSoldOut : !isBuyable;
    found.push(pageCandidate({ ...first, field, value, source: 'text', isMarked }));
    if (isMarked) found.push(pageCandidate({ ...first, field, value, source: 'only text', isMarked }));
  }
  if (control === null) return found;
  const { element, text } = control;
  const value = control.isSoldOut ? 'OutOfStock' : 'InStock';
  const push = (source: string) => found.push(pageCandidate({ field, value, source, text, element }));
  if (isBuyable || control.isSoldOut) push('control');
  if (isBuyable && atControl.price !== null) push('price at control');
  if (control.isSoldOut && control.isDisabled) push('disabled control');
  return found;
}
