import type { Candidate } from '../candidates/candidates.ts';
import { type Element, oneLine } from '../html/html.ts';
import { labelledText } from '../html/label-text.ts';
import type { VisibleText } from '../html/visible-text.ts';
import { gtinIn } from '../structured-data/offer.ts';
import { gtinLabels } from './brand-labels.ts';
import { pageCandidate } from './evidence.ts';
import { isInCard } from './product-card.ts';
import type { VisiblePage } from './visible-page.ts';

/** Maximum characters of a value after a label. */
export const maxLabelled = 60;
/** Maximum labels of a field on a page that are considered. */
const maxLabels = 30;

/** A text after a label, the text that starts with the label, and the element with it. */
interface LabelledText {
  label: string;
  text: string;
  element: Element;
}

/** Returns the value after a label in a text: on its line, or in the next element. */
export function valueAfter(visible: VisibleText, labels: RegExp): LabelledText | null {
  const label = visible.text.length > maxLabelled * 2 ? null : oneLine(visible.text);
  if (label === null || !labels.test(label)) return null;
  const { parent: element } = visible;
  const text = labelledText({ text: label, parent: element }, labels, maxLabelled);
  return text === null ? null : { label, text, element };
}

/** Returns the values after the labels of a field, apart from those of other products. */
export function labelledTexts(page: VisiblePage, labels: RegExp): LabelledText[] {
  const found: LabelledText[] = [];
  for (const visible of page.texts) {
    if (found.length >= maxLabels) break;
    const value = valueAfter(visible, labels);
    if (value !== null && !isInCard(value.element, page)) found.push(value);
  }
  return found;
}

/** Returns the candidates of trade numbers after labels. Their check digits confirm them. */
export function gtinCandidates(page: VisiblePage): Candidate[] {
  return labelledTexts(page, gtinLabels).flatMap(({ text, element }) => {
    const value = gtinIn(text);
    if (value === null) return [];
    const gtin = { field: 'gtin', value, text, element };
    return ['label', 'check digit'].map((source) => pageCandidate({ ...gtin, source }));
  });
}
