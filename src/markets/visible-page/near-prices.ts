import type { Element } from '../html/html.ts';
import { upwards } from '../html/visible-text.ts';
import { firstFrom } from './positions.ts';
import { hiddenPriceWords } from './price-words.ts';
import type { VisiblePage } from './visible-page.ts';
import type { TextPosition, VisiblePrice, VisiblePrices } from './visible-price.ts';

/** Prices around an element: the only one to pay, or several that could be meant. */
export interface NearPrices {
  price: VisiblePrice | null;
  all: readonly VisiblePrice[];
  /** The smallest element with texts like prices around the other one. */
  around: Element | null;
  /** Number of texts like prices in it, also of those whose amount cannot be read. */
  textCount: number;
}

/** Maximum characters of a text about a hidden price. */
const maxHiddenText = 60;

const amountsOf = (prices: readonly VisiblePrice[]) => new Set(prices.map(({ amount }) => amount));

/** Returns the only price to pay of several, or null if more than one could be meant. */
function onlyPrice(prices: readonly VisiblePrice[]): VisiblePrice | null {
  const narrowed = [
    prices,
    prices.filter(({ isListed }) => !isListed),
    prices.filter(({ isWeak }) => !isWeak),
    prices.filter(({ isNamed }) => isNamed),
    prices.filter(({ isOwn, isWeak }) => isOwn && !isWeak),
  ];
  return narrowed.find((some) => amountsOf(some).size === 1)?.[0] ?? null;
}

/** Returns the texts in an element. */
export function placesIn<T extends TextPosition>(
  element: Element,
  places: readonly T[],
  { ranges }: VisiblePage,
): T[] {
  const { start, end } = ranges.get(element)!;
  return places.slice(firstFrom(places, start), firstFrom(places, end + 1));
}

/**
 * Returns the prices in the smallest ancestor of an element that contains any text like a price, or
 * the prices of the page if no ancestor does. Empty if none of these texts can be read as a price.
 */
export function pricesNear(
  element: Element,
  { prices, unreadable }: Pick<VisiblePrices, 'prices' | 'unreadable'>,
  page: VisiblePage,
): NearPrices {
  const textsIn = (outer: Element) =>
    placesIn(outer, prices, page).length + placesIn(outer, unreadable, page).length;
  let around: Element | null = null;
  let textCount = 0;
  for (const outer of upwards(element, Number.POSITIVE_INFINITY)) {
    textCount = textsIn(outer);
    if (textCount === 0) continue;
    around = outer;
    break;
  }
  // A page may have no body element.
  const all = around === null ? prices : placesIn(around, prices, page);
  const signed = all.filter(({ hasSign }) => hasSign);
  const price =
    onlyPrice(signed.length > 0 ? signed : all) ?? onlyPrice(all.filter(({ isNamed }) => isNamed));
  return { price, all, around, textCount };
}

/**
 * Returns the price that has the name of an old one if it is the only one in the element with the
 * heading and the control: a price that was needs another one that is. Null if the page says that
 * it hides that one.
 */
export function onlyOldPrice(
  control: Element,
  { prices, oldPrices, unreadable, others: otherPrices }: VisiblePrices,
  page: VisiblePage,
): VisiblePrice | null {
  const headingAt = page.heading === null ? null : page.ranges.get(page.heading)!.start;
  for (const outer of upwards(control, Number.POSITIVE_INFINITY)) {
    const { start, end } = page.ranges.get(outer)!;
    if (headingAt === null || headingAt < start || headingAt > end) continue;
    const beside = [prices, unreadable, otherPrices].flatMap((places) =>
      placesIn<TextPosition>(outer, places, page),
    );
    const old = placesIn(outer, oldPrices, page);
    if (beside.length > 0 || amountsOf(old).size !== 1) return null;
    const isHidden = page.texts.some(
      ({ text }) => text.length <= maxHiddenText && hiddenPriceWords.test(text),
    );
    return isHidden ? null : old[0]!;
  }
  return null;
}
