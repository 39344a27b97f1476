import type { Element } from '../html/html.ts';
import { isElement } from '../html/html-tree.ts';
import { namesOf, shortText, upwards } from '../html/visible-text.ts';
import {
  countedBefore,
  formerPriceWords,
  oldPriceNames,
  otherPriceNames,
  otherPriceWords,
  periodWords,
  untaxedNames,
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

/** Elements of struck prices. */
const struckTags: ReadonlySet<string> = new Set(['del', 's', 'strike']);

/** Returns true for an option, and for the label of a field of a form. */
function isChoice({ name, attribs, children }: Element): boolean {
  if (name !== 'label') return name === 'option';
  return attribs.for !== undefined || children.some((node) => isElement(node) && isField(node));
}

const isField = ({ name }: Element): boolean => name === 'input' || name === 'select';

/** Returns true for a button that does not put the product into the cart. */
const isOtherButton = (element: Element): boolean =>
  element.name === 'button' && !isCartText(shortText(element, maxLabel) ?? '');

/** Words after a price that it is without tax. With a colon, they are the label of the next one. */
const untaxedAfter = new RegExp(
  String.raw`^\s*[,(（]?\s?(?:${untaxedWords.source})(?!\.?\s?:)`,
  'iu',
);

/**
 * Returns the label of a price: the words before it, without those about the tax of another price.
 */
function labelBefore(text: string): string {
  const before = /\D*$/.exec(text)![0];
  return before.length === text.length ? before : before.replace(untaxedAfter, '');
}

/** What the texts around a price say about it. */
interface LabelKind {
  /** True for a price that was, or that is recommended. */
  isFormer: boolean;
  /** True for a price of something else, such as an instalment. */
  isOther: boolean;
}

/** Texts before and after a price that was: "de R$ 150 por R$ 120". */
const reducedLabel = /(?<!\p{L})de\s?:?\s*$/iu;
const reducedAfter = /^\s*por(?!\p{L})/iu;

/** Returns what the texts before and after a price say about it. */
function kindInLabel(before: string, after: string): LabelKind {
  const label = labelBefore(before);
  if (reducedLabel.test(label) && reducedAfter.test(after))
    return { isFormer: true, isOther: false };
  const isOther =
    otherPriceWords.test(label) ||
    untaxedWords.test(label) ||
    countedBefore.test(before) ||
    periodWords.test(after) ||
    untaxedAfter.test(after);
  return { isFormer: formerPriceWords.test(label), isOther };
}

/** Amounts with the sign before them. */
const amounts = /(?:\p{L}{0,3}\p{Sc}\s?)?\d(?:[\d.,]*\d)?/gu;

/** Returns true for a text with a price of something else: "or 10 x € 12,00". */
export const hasOtherPrice = (text: string): boolean =>
  [...text.slice(0, maxLabel).matchAll(amounts)].some(({ 0: amount, index }) => {
    const [before, after] = [text.slice(0, index), text.slice(index + amount.length)];
    return kindInLabel(before, after).isOther;
  });

const number = /\d[\d.,' ]*\d|\d/;

/** Returns what the text around a price says about it. */
function kindOfLabel(element: Element, text: string): LabelKind {
  const kind: LabelKind = {
    isFormer: formerPriceWords.test(text),
    isOther: otherPriceWords.test(text),
  };
  for (const outer of [...upwards(element, 5)].slice(1)) {
    const label = shortText(outer, maxLabel);
    if (label === null) break;
    // The currency of a price can be from an element on its other side.
    const written = label.includes(text) ? text : (number.exec(text)?.[0] ?? text);
    const at = label.indexOf(written);
    if (at < 0) continue;
    const { isFormer, isOther } = kindInLabel(label.slice(0, at), label.slice(at + written.length));
    kind.isFormer ||= isFormer;
    kind.isOther ||= isOther;
  }
  return kind;
}

/** Returns true for an element whose text is struck through. */
const isStruck = (element: Element): boolean =>
  struckTags.has(element.name) || /line-through/i.test(element.attribs.style?.slice(0, 300) ?? '');

/** Returns true for an element of a price of something else. */
const isOtherElement = (element: Element): boolean =>
  isChoice(element) || isOtherButton(element) || otherPriceNames.test(namesOf(element));

/** Returns true if the names of an element say that its price was the one to pay before. */
const hasOldName = (element: Element): boolean => oldPriceNames.test(namesOf(element));

/** What an element and its label say about a price. */
export interface VisiblePriceKind {
  /** True for a price that cannot be the one to pay. */
  isOther: boolean;
  /** True for a price that was the one to pay, by the names of its elements. */
  isOld: boolean;
  /** True for a price that was, or that is recommended: struck, named, or labelled as one. */
  isList: boolean;
}

/** Returns what the names of an element and its label say about a price. */
export function priceKind(element: Element, text: string): VisiblePriceKind {
  const around = [...upwards(element, 4)];
  const label = kindOfLabel(element, text);
  const otherAt = around.findIndex(isOtherElement);
  const formerAt = around.findIndex((outer) => isStruck(outer) || hasOldName(outer));
  // A former price can be in the element that names what is saved.
  const isUntaxed = around.some((outer) => untaxedNames.test(namesOf(outer)));
  const isOtherFormer = isUntaxed || (otherAt >= 0 && (formerAt < 0 || otherAt <= formerAt));
  return {
    isOther: label.isOther || label.isFormer || otherAt >= 0 || around.some(isStruck),
    isOld: around.some(hasOldName),
    isList: (label.isFormer || formerAt >= 0) && !label.isOther && !isOtherFormer,
  };
}

/** Returns true for an element that says itself that its price was the one to pay before. */
export const isFormerPrice = (element: Element): boolean =>
  struckTags.has(element.name) || hasOldName(element);
