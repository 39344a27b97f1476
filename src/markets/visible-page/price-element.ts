import { centsMark, type Element, priceWords } from '../html/html.ts';
import { namesOf, shortText, upwards } from '../html/visible-text.ts';
import { datumAmounts, priceCurrency, shownAmount } from '../money/money.ts';
import { priceNames } from './purchase-words.ts';

/** Maximum characters of the text of a price. */
export const maxPriceText = 60;
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

/** Returns true if the element before or after one is a currency: "294" and "元". */
function hasSignBeside(element: Element): boolean {
  return [element.prev, element.next].some((node) => {
    if (node === null) return false;
    const text =
      'attribs' in node ? shortText(node, 6) : 'data' in node ? node.data.trim().slice(0, 7) : null;
    return text !== null && text.length <= 6 && !/\d/.test(text) && hasCurrency(text);
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
  text: string,
  amount: number,
  home: string | null,
): PriceElement | null {
  const isNamed = [...upwards(element, 3)].some((outer) => priceNames.test(namesOf(outer)));
  const hasSign = hasCurrency(text) || hasSignBeside(element);
  if (!hasSign && !(isNamed && bareNumber.test(text))) return null;
  return { amount, text, currency: priceCurrency(text, home), element, isNamed, hasSign };
}

/**
 * Returns the smallest element around a text that is a price with a currency or a name of a price. Null if
 * the number is a part of a price that cannot be read as a whole, such as its cents.
 */
export function priceAround(parent: Element, home: string | null): PriceElement | null {
  let found: PriceElement | null = null;
  for (const element of upwards(parent, 4)) {
    const text = shortText(element, maxPriceText);
    if (text === null) break;
    const marked = priceWords(element) ?? text;
    const hasCents = marked.includes(centsMark);
    const amount = shownAmount(marked, home);
    if (amount === null || amount <= 0) {
      const isPart = hasCents || hasCurrency(text);
      if (found !== null && isPart && (!found.hasSign || hasCentsBeside(found.element))) return null;
      if (found !== null || (text.match(/\d+/g)?.length ?? 0) > 3) break;
      continue;
    }
    found = priceElement(element, text, amount, home) ?? found;
    if (found?.hasSign && !hasCentsBeside(found.element)) break;
  }
  return found;
}

/** Returns the text of an element, and the amounts that it can mean. */
export function unclearPrice(element: Element, home: string | null) {
  const text = shortText(element, maxPriceText) ?? '';
  return { element, text, readings: datumAmounts(text, home) };
}

/** Returns true for a text with a currency beside digits: "from €5", "$3.340". */
export const isPriceLike = (text: string) =>
  /(?<![-+−–]\s?)(?:\p{Sc}\s?\d|(?<![\d.,])\d[\d.,]*\s?(?:\p{Sc}|kr|元|円|zł|Kč|руб))/u.test(
    text.slice(0, maxPriceText * 3),
  );
