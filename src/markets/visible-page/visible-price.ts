import type { Element } from '../html/html.ts';
import { namesOf, upwards, type VisibleText } from '../html/visible-text.ts';
import {
  isPriceLike,
  isPriceRange,
  maxPriceText,
  type PriceElement,
  priceAround,
  priceBeside,
  unclearPrice,
} from './price-element.ts';
import { hasTaxLabel, priceKind } from './price-kind.ts';
import {
  listPriceNames,
  ownPriceNames,
  taxedWords,
  untaxedWords,
  weakOldNames,
} from './price-words.ts';
import { isInCard } from './product-card.ts';
import type { VisiblePage } from './visible-page.ts';

/**
 * Maximum texts with numbers of a page. Above, the page lists more than a product, and has no
 * price.
 */
const maxNumbers = 3_000;

/** Position of a text in the order of the document. */
export interface TextPosition {
  at: number;
}

/** A price that a page shows. */
export interface VisiblePrice extends TextPosition, PriceElement {
  /** True if the element is marked as the price to pay, and as one that can be another. */
  isOwn: boolean;
  isWeak: boolean;
  /** True if the element is named as a list price, which can be the price to pay if it is alone. */
  isListed: boolean;
}

/** A text with a currency and digits that is not one price. */
export interface UnreadableText extends TextPosition {
  text: string;
}

/** A price whose point can separate decimals or thousands. */
export interface UnclearPrice extends UnreadableText {
  readings: readonly number[];
  element: Element;
}

/** Prices of a page, each list in the order of the document. */
export interface VisiblePrices {
  /** Prices that can be the one to pay. */
  prices: readonly VisiblePrice[];
  /** Prices whose element names mark them as former prices. */
  oldPrices: readonly VisiblePrice[];
  /** Prices that are struck or that were, also by their label: list prices of the one to pay. */
  formerPrices: readonly VisiblePrice[];
  /** Texts with a currency and digits that are not one price: "from €5", "$3.340". */
  unreadable: readonly UnreadableText[];
  /** Positions of prices of something else, except prices without tax. */
  others: readonly TextPosition[];
  /** Texts of one amount that can be read in two ways: "$3.340". */
  unclear: readonly UnclearPrice[];
  /** Amounts of all prices, other than those without tax. */
  amounts: ReadonlySet<number>;
  /** True if the page shows prices as without tax and others as with it. */
  hasTaxPair: boolean;
}

/** Returns a price with its place on the page, or null for a number in the name of the product. */
function placedPrice(price: PriceElement, { ranges, heading }: VisiblePage): VisiblePrice | null {
  const headingRange = heading === null ? undefined : ranges.get(heading);
  const at = ranges.get(price.element)!.start;
  const isInHeading =
    headingRange !== undefined && at >= headingRange.start && at <= headingRange.end;
  if (isInHeading && !price.hasSign) return null;
  const names = [...upwards(price.element, 3)].map(namesOf).join(' ');
  const isOwn = /\bprice\b/.test(price.element.attribs.itemprop ?? '') || ownPriceNames.test(names);
  return {
    ...price,
    at,
    isOwn,
    isWeak: weakOldNames.test(names),
    isListed: listPriceNames.test(names),
  };
}

/** Collects the prices of a page in the order of the document. */
class PriceCollector {
  readonly prices: VisiblePrice[] = [];
  readonly oldPrices: VisiblePrice[] = [];
  readonly formerPrices: VisiblePrice[] = [];
  readonly unreadable: UnreadableText[] = [];
  readonly unclear: UnclearPrice[] = [];
  readonly others: TextPosition[] = [];
  readonly amounts = new Set<number>();
  private readonly elements = new Set<Element>();
  private hasUntaxed = false;
  private hasTaxed = false;
  private readonly page: VisiblePage;
  private readonly home: string | null;

  constructor(page: VisiblePage, home: string | null) {
    this.page = page;
    this.home = home;
  }

  get hasTaxPair(): boolean {
    return this.hasUntaxed && this.hasTaxed;
  }

  /** Adds the price that contains a text, if there is one. */
  add({ parent, text }: VisibleText): void {
    const price = priceAround(parent, this.home) ?? priceBeside(parent, text, this.home);
    if (price !== null) this.addPrice(price);
    else if (isPriceLike(text) || isPriceRange(parent, text)) this.addUnreadable(parent);
  }

  private addUnreadable(element: Element): void {
    const price = { at: this.positionOf(element), ...unclearPrice(element, this.home) };
    this.unreadable.push(price);
    if (price.readings.length > 1 && !priceKind(element, price.text).isOther)
      this.unclear.push(price);
  }

  private addPrice(price: PriceElement): void {
    const { element, text, amount } = price;
    if (this.elements.has(element)) return;
    this.elements.add(element);
    if (isInCard(element, this.page)) return;
    const isUntaxed = hasTaxLabel(element, untaxedWords);
    this.hasUntaxed ||= isUntaxed;
    this.hasTaxed ||= hasTaxLabel(element, taxedWords);
    const { isOther, isOld, isList } = priceKind(element, text);
    if (!isOther || !isUntaxed) this.amounts.add(amount);
    if (isOther && !isUntaxed) this.others.push({ at: this.positionOf(element) });
    const placed = isOther && !isList ? null : placedPrice(price, this.page);
    if (placed === null) return;
    if (isList) this.formerPrices.push(placed);
    if (!isOther) (isOld ? this.oldPrices : this.prices).push(placed);
  }

  private positionOf(element: Element): number {
    return this.page.ranges.get(element)!.start;
  }
}

/** Returns the prices that a page shows. `home`: currency of the shop. */
export function visiblePrices(page: VisiblePage, home: string | null): VisiblePrices {
  const collector = new PriceCollector(page, home);
  const numbers = page.texts.filter(
    ({ text }) => text.length <= maxPriceText * 3 && /\p{Nd}/u.test(text),
  );
  if (numbers.length <= maxNumbers) for (const text of numbers) collector.add(text);
  return collector;
}
