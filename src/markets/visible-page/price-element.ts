import { positive } from '../fields.ts';
import { centsMark, type Element, priceWords, workOf } from '../html/html.ts';
import type { Node } from '../html/html-tree.ts';
import { namesOf, shortText, upwards } from '../html/visible-text.ts';
import { datumAmounts, priceCurrency, shownAmount } from '../money/money.ts';
import { isFormerPrice } from './price-kind.ts';
import { barePriceNames, priceNames } from './price-words.ts';

/** Maximum characters of the text of a price. */
export const maxPriceText = 60;
/** Maximum characters of a currency beside a price. */
const maxSign = 6;
const sharedSigns = /\p{Sc}|(?<!\p{L})(?:kr|тг|тенге|元|元整)(?!\p{L})/iu;

/** An element with the text of a price. */
export interface PriceElement {
  amount: number;
  text: string;
  currency: string | null;
  element: Element;
  /** True if the names of the element say that it is a price. */
  isNamed: boolean;
  /** True if the text has a currency. */
  hasSign: boolean;
}

/** A number with few characters around it. */
const bareNumber = /^\D{0,12}\d[\d.,' ]*\D{0,4}$/;

const hasCurrency = (text: string) => priceCurrency(text, null) !== null || sharedSigns.test(text);

/** Returns true for a text that is only a currency: "EUR", "元". */
const isSign = (text: string): boolean => !/\d/.test(text) && hasCurrency(`1 ${text}`);

/** Returns the first characters of a node's text. */
function beginningOf(node: Node): string | null {
  if ('attribs' in node) return shortText(node, maxSign);
  return 'data' in node ? node.data.trim().slice(0, maxSign + 1) : null;
}

/** Returns true if the element before or after one is a currency: "294" and "元". */
function hasSignBeside(element: Element): boolean {
  return [element.prev, element.next].some((node) => {
    const text = node && beginningOf(node);
    return text !== null && text.length <= maxSign && isSign(text);
  });
}

/** Returns true if the next element or text is two digits, which can be the cents of a price. */
function hasCentsBeside({ next }: Element): boolean {
  if (next === null) return false;
  if ('attribs' in next) return /^\d{2}$/.test(shortText(next, 6) ?? '');
  return 'data' in next && /^\s*\d{2}\s*$/.test(next.data.slice(0, 20));
}

/** Returns an element with the text of a price, if it has a currency or a name of a price. */
function priceElement(
  element: Element,
  { text, amount }: PriceContent,
  home: string | null,
): PriceElement | null {
  if (amount === null) return null;
  const names = [...upwards(element, 3)].map(namesOf).join(' ');
  const hasSign = hasCurrency(text) || hasSignBeside(element);
  if (!hasSign && !(barePriceNames.test(names) && bareNumber.test(text))) return null;
  return {
    amount,
    text,
    currency: priceCurrency(text, home),
    element,
    isNamed: priceNames.test(names),
    hasSign,
  };
}

/**
 * Returns the smallest element around a text that is a price with a currency or a name of a price.
 * Null if the number is a part of a price that cannot be read as a whole, such as its cents.
 */
export function priceAround(parent: Element, home: string | null): PriceElement | null {
  let price: PriceElement | null = null;
  for (const element of upwards(parent, 4)) {
    const content = priceContent(element, home);
    if (content === null) break;
    const isPrice = content.amount !== null;
    if (!isPrice && price !== null) return unlessPart(price, content);
    if (!isPrice && countNumbers(content.text) > maxNumbers) break;
    price = priceElement(element, content, home) ?? price;
    if (price !== null && isComplete(price)) break;
  }
  return price;
}

/** Maximum nodes of an element whose texts and elements are prices of their own. */
const maxBeside = 12;

/** Returns true for an element without numbers, or with a price of its own. */
function isApart(element: Element): boolean {
  if (element.children.length === 0) return true;
  const text = shortText(element, maxPriceText);
  if (text === null) return false;
  return !/\d/.test(text) || isFormerPrice(element) || hasCurrency(text);
}

/**
 * Returns the price in a text of an element that has others in elements of their own: "€ 12,50"
 * beside a struck price.
 */
export function priceBeside(
  parent: Element,
  text: string,
  home: string | null,
): PriceElement | null {
  if (parent.children.length > maxBeside || text.length > maxPriceText) return null;
  const inner = parent.children.filter((node) => 'attribs' in node);
  if (inner.length === 0 || !inner.every(isApart)) return null;
  const signs = inner.map((element) => shortText(element, maxSign)).filter((sign) => sign !== null);
  const written = `${text.trim()} ${signs.find(isSign) ?? ''}`.trim();
  workOf(parent).addParsed(written);
  const amount = positive(shownAmount(written, home));
  return priceElement(parent, { text: written, markedText: written, amount }, home);
}

/** The short text of an element, as a price. */
interface PriceContent {
  text: string;
  /** The text with marks between the digits of its elements. */
  markedText: string;
  /** Null for a text that is not a price above 0. */
  amount: number | null;
}

/** Returns the text of an element as a price, or null if it is long. */
function priceContent(element: Element, home: string | null): PriceContent | null {
  const text = shortText(element, maxPriceText);
  if (text === null) return null;
  const markedText = priceWords(element) ?? text;
  workOf(element).addParsed(markedText);
  const amount = shownAmount(markedText, home);
  return { text, markedText, amount: amount !== null && amount > 0 ? amount : null };
}

/** Maximum numbers in the text around a part of a price. */
const maxNumbers = 3;

const countNumbers = (text: string): number => text.match(/\d+/g)?.length ?? 0;

/** Returns true for a price with a currency and without cents beside it. */
const isComplete = ({ hasSign, element }: PriceElement): boolean =>
  hasSign && !hasCentsBeside(element);

/** Returns a price, or null if it is a part of the price in the text around it. */
function unlessPart(price: PriceElement, { text, markedText }: PriceContent): PriceElement | null {
  const isPriceText = markedText.includes(centsMark) || hasCurrency(text);
  return isPriceText && !isComplete(price) ? null : price;
}

/** Returns the text of an element, and the amounts that it can mean. */
export function unclearPrice(element: Element, home: string | null) {
  const text = shortText(element, maxPriceText) ?? '';
  return { element, text, readings: datumAmounts(text, home) };
}

/** Returns true for a text with a currency beside digits: "from €5", "$3.340". */
export const isPriceLike = (text: string) =>
  /(?<![-+−–]\s?\p{L}{0,3})(?:\p{Sc}\s?\d|(?<![\d.,])\d[\d.,]*\s?(?:\p{Sc}|kr|元|円|zł|Kč|руб))/u.test(
    text.slice(0, maxPriceText * 3),
  );

const bareRange = /^\s*\d[\d.,]*\s?[-–~]\s?\d[\d.,]*\s*$/;

/** Returns true for a range without a currency in an element that is named as a price. */
export const isPriceRange = (parent: Element, text: string): boolean =>
  bareRange.test(text) && barePriceNames.test([...upwards(parent, 3)].map(namesOf).join(' '));
