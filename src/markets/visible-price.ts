import { centsMark, type Element, priceWords } from './html.ts';
import { priceCurrency, shownAmount } from './money.ts';
import {
  otherPriceNames,
  otherPriceWords,
  ownPriceNames,
  periodWords,
  priceNames,
  weakOldNames,
} from './purchase-words.ts';
import type { VisiblePage } from './visible-page.ts';
import { namesOf, shortText } from './visible-text.ts';

/** A price that a page shows. */
export interface ShownPrice {
  amount: number;
  text: string;
  currency: string | null;
  element: Element;
  /** Position in the order of the document. */
  at: number;
  /** True if the element is marked as the price to pay, and as one that can be another. */
  isOwn: boolean;
  isWeak: boolean;
  /** True if the names of the element say that it is a price. */
  isNamed: boolean;
  /** True if the text has a currency. */
  hasSign: boolean;
}

/** Prices around an element: the only one to pay, or several that could be meant. */
export interface NearPrices {
  price: ShownPrice | null;
  all: readonly ShownPrice[];
  /** The smallest element with prices around the other one. */
  around: Element | null;
}

/** Maximum texts with numbers of a page. Above, the page lists more than a product, and has no price. */
const maxNumbers = 3_000;
const maxPriceText = 60;
const maxLabel = 90;
const sharedSigns = /\p{Sc}|(?<!\p{L})(?:kr|тг|тенге|元|元整)(?!\p{L})/iu;

/** A number with few characters around it. */
const bareNumber = /^\D{0,12}\d[\d.,' ]*\D{0,4}$/;

const hasCurrency = (text: string) => priceCurrency(text, null) !== null || sharedSigns.test(text);

/** Returns the element and its parents, up to a number. */
function* upwards(element: Element, count: number): Generator<Element> {
  let current: Element | null = element;
  for (let level = 0; level < count && current !== null; level += 1) {
    yield current;
    current = current.parent !== null && 'attribs' in current.parent ? current.parent : null;
  }
}

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

type PriceElement = Omit<ShownPrice, 'at' | 'isOwn' | 'isWeak'>;

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
function priceAround(parent: Element, home: string | null): PriceElement | null {
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

/** Struck prices, and those of choices that are no controls to buy. */
const struckTags: ReadonlySet<string> = new Set(['del', 's', 'strike', 'button', 'option', 'label']);

/** Returns true if the text around a price says that it is not the price to pay. */
function hasOtherLabel(element: Element, text: string): boolean {
  if (otherPriceWords.test(text)) return true;
  for (const outer of [...upwards(element, 3)].slice(1)) {
    const label = shortText(outer, maxLabel);
    if (label === null) return false;
    const at = label.indexOf(text);
    if (at < 0) continue;
    const before = /\D*$/.exec(label.slice(0, at))![0];
    if (otherPriceWords.test(before) || periodWords.test(label.slice(at + text.length))) return true;
  }
  return false;
}

/** Returns true if the names of an element or its label say that a price is not the one to pay. */
function isOtherPrice(element: Element, text: string): boolean {
  for (const outer of upwards(element, 4)) {
    if (struckTags.has(outer.name) || otherPriceNames.test(namesOf(outer))) return true;
    if (/line-through/i.test(outer.attribs.style?.slice(0, 300) ?? '')) return true;
  }
  return hasOtherLabel(element, text);
}

/** Prices of a page in order, without those that are of something else, and the amounts of all of them. */
export interface ShownPrices {
  prices: readonly ShownPrice[];
  amounts: ReadonlySet<number>;
  /** True if the page also shows prices without tax. */
  hasUntaxed: boolean;
}

const taxWords =
  /(?<!\p{L})(?:(?:excl\.?|excluding) (?:vat|tax|gst|btw)|ex\.? (?:vat|tax|gst)|bez dph|brez ddv|hors taxes?|HT|sin iva|zzgl\. (?:mwst|ust)|netto|exkl\. moms|bez vat)(?!\p{L})/iu;

/** Returns true if the text around a price says that it is without tax. */
function isUntaxed(element: Element): boolean {
  const texts = [...upwards(element, 3)].map((outer) => shortText(outer, maxLabel));
  return texts.some((text) => text !== null && taxWords.test(text));
}

/** Returns the prices that a page shows. `home`: currency of the shop. */
export function shownPrices(page: VisiblePage, home: string | null): ShownPrices {
  const { texts, ranges, heading } = page;
  const headingRange = heading === null ? undefined : ranges.get(heading);
  const prices: ShownPrice[] = [];
  const amounts = new Set<number>();
  let hasUntaxed = false;
  const seen = new Set<Element>();
  const numbered = texts.filter(({ text }) => text.length <= maxPriceText * 3 && /[\d０-９]/.test(text));
  if (numbered.length > maxNumbers) return { prices, amounts, hasUntaxed };
  for (const { parent } of numbered) {
    const price = priceAround(parent, home);
    if (price === null || seen.has(price.element)) continue;
    seen.add(price.element);
    amounts.add(price.amount);
    hasUntaxed ||= isUntaxed(price.element);
    if (isOtherPrice(price.element, price.text)) continue;
    const at = ranges.get(price.element)!.start;
    // Names of products have numbers.
    const isHeading = headingRange !== undefined && at >= headingRange.start && at <= headingRange.end;
    if (isHeading && !price.hasSign) continue;
    const names = [...upwards(price.element, 3)].map(namesOf).join(' ');
    const isOwn = /\bprice\b/.test(price.element.attribs.itemprop ?? '') || ownPriceNames.test(names);
    prices.push({ ...price, at, isOwn, isWeak: weakOldNames.test(names) });
  }
  return { prices, amounts, hasUntaxed };
}

const amountsOf = (prices: readonly ShownPrice[]) => new Set(prices.map(({ amount }) => amount));

/** Returns the only price to pay of several, or null if more than one could be meant. */
function onlyPrice(prices: readonly ShownPrice[]): ShownPrice | null {
  const narrowed = [
    prices,
    prices.filter(({ isWeak }) => !isWeak),
    prices.filter(({ isNamed }) => isNamed),
    prices.filter(({ isOwn, isWeak }) => isOwn && !isWeak),
  ];
  return narrowed.find((some) => amountsOf(some).size === 1)?.[0] ?? null;
}

/** Returns the position of the first price at or after one, by bisection. */
function firstFrom(prices: readonly ShownPrice[], start: number): number {
  let [low, high] = [0, prices.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (prices[middle]!.at < start) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** Returns the prices in the smallest element around another one that has any. */
export function pricesNear(
  element: Element,
  prices: readonly ShownPrice[],
  { ranges }: VisiblePage,
): NearPrices {
  for (const outer of upwards(element, Number.POSITIVE_INFINITY)) {
    const { start, end } = ranges.get(outer)!;
    const first = firstFrom(prices, start);
    const last = firstFrom(prices, end + 1);
    if (last > first) {
      const all = prices.slice(first, last);
      const signed = all.filter(({ hasSign }) => hasSign);
      return { price: onlyPrice(signed.length > 0 ? signed : all), all, around: outer };
    }
  }
  return { price: null, all: [], around: null };
}
