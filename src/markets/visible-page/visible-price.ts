import type { Element } from '../html/html.ts';
import { namesOf, upwards } from '../html/visible-text.ts';
import { isPriceLike, maxPriceText, type PriceElement, priceAround, unclearPrice } from './price-element.ts';
import { hasTaxLabel, isOldPrice, isOtherPrice } from './price-kind.ts';
import { isInCard } from './product-card.ts';
import { ownPriceNames, taxedWords, untaxedWords, weakOldNames } from './purchase-words.ts';
import type { VisiblePage } from './visible-page.ts';

/** Maximum texts with numbers of a page. Above, the page lists more than a product, and has no price. */
const maxNumbers = 3_000;

/** Position of a text in the order of the document. */
export interface Place {
  at: number;
}

/** A price that a page shows. */
export interface ShownPrice extends Place, PriceElement {
  /** True if the element is marked as the price to pay, and as one that can be another. */
  isOwn: boolean;
  isWeak: boolean;
}

/** A price of which a point can separate decimals or thousands. */
export interface UnclearPrice extends Place {
  readings: readonly number[];
  text: string;
  element: Element;
}

/** Prices of a page, each list in the order of the document. */
export interface ShownPrices {
  /** Prices that can be the one to pay. */
  prices: readonly ShownPrice[];
  /** Prices whose names say that they were before. */
  oldPrices: readonly ShownPrice[];
  /** Positions of texts with a currency and digits that are no price: "from €5", "$3.340". */
  unreadable: readonly Place[];
  /** Prices of something else, other than those without tax. */
  others: readonly Place[];
  /** Texts of one amount that can be read in two ways: "$3.340". */
  unclear: readonly UnclearPrice[];
  /** Amounts of all prices, other than those without tax. */
  amounts: ReadonlySet<number>;
  /** True if the page shows prices as without tax and others as with it. */
  hasTaxPair: boolean;
}

/** Returns a price with its place on the page, or null for a number in the name of the product. */
function placedPrice(price: PriceElement, { ranges, heading }: VisiblePage): ShownPrice | null {
  const headingRange = heading === null ? undefined : ranges.get(heading);
  const at = ranges.get(price.element)!.start;
  const isInHeading = headingRange !== undefined && at >= headingRange.start && at <= headingRange.end;
  if (isInHeading && !price.hasSign) return null;
  const names = [...upwards(price.element, 3)].map(namesOf).join(' ');
  const isOwn = /\bprice\b/.test(price.element.attribs.itemprop ?? '') || ownPriceNames.test(names);
  return { ...price, at, isOwn, isWeak: weakOldNames.test(names) };
}

/** Returns the prices that a page shows. `home`: currency of the shop. */
export function shownPrices(page: VisiblePage, home: string | null): ShownPrices {
  const [prices, oldPrices]: ShownPrice[][] = [[], []] as const;
  const [unreadable, others]: Place[][] = [[], []] as const;
  const unclear: UnclearPrice[] = [];
  const amounts = new Set<number>();
  const tax = { isWithout: false, isWith: false };
  const seen = new Set<Element>();
  const numbered = page.texts.filter(({ text }) => text.length <= maxPriceText * 3 && /[\d０-９]/.test(text));
  for (const { parent, text } of numbered.length > maxNumbers ? [] : numbered) {
    const found = priceAround(parent, home);
    if (found === null && isPriceLike(text)) {
      const price = { at: page.ranges.get(parent)!.start, ...unclearPrice(parent, home) };
      unreadable.push(price);
      if (price.readings.length > 1 && !isOtherPrice(parent, price.text)) unclear.push(price);
    }
    if (found === null || seen.has(found.element)) continue;
    seen.add(found.element);
    if (isInCard(found.element, page)) continue;
    const isWithout = hasTaxLabel(found.element, untaxedWords);
    tax.isWithout ||= isWithout;
    tax.isWith ||= hasTaxLabel(found.element, taxedWords);
    const isOther = isOtherPrice(found.element, found.text);
    if (!isOther || !isWithout) amounts.add(found.amount);
    if (isOther && !isWithout) others.push({ at: page.ranges.get(found.element)!.start });
    const price = isOther ? null : placedPrice(found, page);
    if (price !== null) (isOldPrice(price.element) ? oldPrices : prices)!.push(price);
  }
  const hasTaxPair = tax.isWithout && tax.isWith;
  return { prices, oldPrices, unreadable, unclear, others, amounts, hasTaxPair };
}
