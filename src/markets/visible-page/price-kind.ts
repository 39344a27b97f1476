import type { Element } from '../html/html.ts';
import { namesOf, shortText, upwards } from '../html/visible-text.ts';
import {
  countedBefore,
  oldPriceNames,
  otherPriceNames,
  otherPriceWords,
  periodWords,
  untaxedWords,
} from './price-words.ts';
import { isCartText } from './purchase-words.ts';

/** Maximum characters of the text around a price that can be its label. */
const maxLabel = 90;

/** Returns true if the text around a price has words about tax. */
export function hasTaxLabel(element: Element, words: RegExp): boolean {
  const texts = [...upwards(element, 3)].map((outer) => shortText(outer, maxLabel));
  return texts.some((text) => text !== null && words.test(text));
}

/** Elements of struck prices, and of choices. */
const struckTags: ReadonlySet<string> = new Set(['del', 's', 'strike']);
const choiceTags: ReadonlySet<string> = new Set(['option', 'label']);

/** Returns true for a button that does not put the product into the cart. */
const isOtherButton = (element: Element): boolean =>
  element.name === 'button' && !isCartText(shortText(element, maxLabel) ?? '');

/** Words after a price that it is without tax. With a colon, they are the label of the next one. */
const untaxedAfter = new RegExp(String.raw`^\s*[,(（]?\s?(?:${untaxedWords.source})(?!\s?:)`, 'iu');

/**
 * Returns the label of a price: the words before it, without those about the tax of another price.
 */
function labelBefore(text: string): string {
  const before = /\D*$/.exec(text)![0];
  return before.length === text.length ? before : before.replace(untaxedAfter, '');
}

/** Returns true if the text around a price says that it is not the price to pay. */
function hasOtherLabel(element: Element, text: string): boolean {
  if (otherPriceWords.test(text)) return true;
  for (const outer of [...upwards(element, 3)].slice(1)) {
    const label = shortText(outer, maxLabel);
    if (label === null) return false;
    const at = label.indexOf(text);
    if (at < 0) continue;
    const before = labelBefore(label.slice(0, at));
    const after = label.slice(at + text.length);
    if (otherPriceWords.test(before) || untaxedWords.test(before)) return true;
    if (countedBefore.test(label.slice(0, at))) return true;
    if (periodWords.test(after) || untaxedAfter.test(after)) return true;
  }
  return false;
}

/** Returns true if the names of an element or its label say that a price is of something else. */
export function isOtherPrice(element: Element, text: string): boolean {
  for (const outer of upwards(element, 4)) {
    if (struckTags.has(outer.name) || choiceTags.has(outer.name)) return true;
    if (isOtherButton(outer)) return true;
    if (otherPriceNames.test(namesOf(outer))) return true;
    if (/line-through/i.test(outer.attribs.style?.slice(0, 300) ?? '')) return true;
  }
  return hasOtherLabel(element, text);
}

/** Returns true if the names of an element say that a price was the one to pay before. */
export const isOldPrice = (element: Element): boolean =>
  [...upwards(element, 4)].some((outer) => oldPriceNames.test(namesOf(outer)));

/** Returns true for an element that says itself that its price was the one to pay before. */
export const isFormerPrice = (element: Element): boolean =>
  struckTags.has(element.name) || oldPriceNames.test(namesOf(element));
