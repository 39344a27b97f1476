import type { Candidate } from './candidates.ts';
import { number } from './fields.ts';
import type { Element } from './html.ts';
import { shownAmount } from './money.ts';
import { hasOnePriceText, type NearPrices, onlyOldPrice, pricesNear } from './near-prices.ts';
import { pageCandidate } from './page-evidence.ts';
import type { PurchaseControl } from './purchase-control.ts';
import type { VisiblePage } from './visible-page.ts';
import { type ShownPrice, shownPrices } from './visible-price.ts';

/** What the reader of prices knows before it looks at a page. */
export interface PriceFacts {
  /** Currency of the shop. */
  home: string | null;
  /** Descriptions for search engines and previews. */
  description: string;
}

/** Prices of a page as candidates and by their places. */
export interface PagePrices {
  found: Candidate[];
  /** Prices around the control, otherwise around the heading. */
  near: NearPrices;
  atControl: NearPrices;
  /** True if a text with a currency is near the control, also if its amount cannot be read. */
  hasPriceAtControl: boolean;
}

const none: NearPrices = { price: null, all: [], around: null };

/**
 * Returns the price that a page marks: the only one near the heading and near the control, as far as both
 * exist.
 */
function markedPrice(heading: NearPrices, control: NearPrices): ShownPrice | null {
  const [title, purchase] = [heading.price, control.price];
  if (title !== null && purchase !== null) return title.amount === purchase.amount ? purchase : null;
  const only = purchase ?? title;
  const other = purchase === null ? control : heading;
  const isPossible = other.all.length === 0 || other.all.some(({ amount }) => amount === only?.amount);
  return only?.isNamed && isPossible ? only : null;
}

/** Prices around a control or heading that are compared with other sources. */
const maxNear = 10;

/** Returns the amounts with a currency in the description of a page. */
function describedAmounts(description: string, home: string | null): Set<number> {
  const texts =
    description.slice(0, 2_000).match(/\p{Sc}\s?\d[\d.,]*|\d[\d.,]*\s?(?:\p{Sc}|元|円|zł|Kč)/gu) ?? [];
  const amounts = texts.map((text) => shownAmount(text.replace(/[.,]$/, ''), home));
  return new Set(amounts.filter((amount) => amount !== null));
}

const priceAttributes = [
  'data-price',
  'data-price-amount',
  'data-product-price',
  'price',
  'data-current-price',
];

/** Returns true if an element has an attribute with a price. */
const hasAttribute = ({ fields }: VisiblePage, amount: number): boolean =>
  fields.some(({ attribs }) => priceAttributes.some((name) => number(attribs[name]) === amount));

/** Returns true if a point can separate decimals or thousands: "$3.340" in an unknown currency. */
const isUnclear = ({ text, currency }: ShownPrice): boolean =>
  (currency === null || currency === 'USD') && /(?<![\d.,])\d{1,3}\.\d{3}(?![\d.,])/.test(text);

/** Returns the candidates for the price of a page, and its prices around the heading and the control. */
export function priceCandidates(
  page: VisiblePage,
  control: PurchaseControl | null,
  { home, description }: PriceFacts,
): PagePrices {
  const described = describedAmounts(description, home);
  const shownOnPage = shownPrices(page, home);
  const { amounts, unreadable, hasTaxPair } = shownOnPage;
  const old = control === null ? null : onlyOldPrice(control.element, shownOnPage, page);
  const nearOf = (element: Element | null | undefined): NearPrices => {
    if (!element) return none;
    return old === null
      ? pricesNear(element, shownOnPage, page)
      : { price: old, all: [old], around: old.element };
  };
  const atHeading = nearOf(page.heading);
  const atControl = nearOf(control?.element);
  const marked = hasTaxPair ? null : markedPrice(atHeading, atControl);
  const found: Candidate[] = [];
  const push = (price: ShownPrice | null, source: string) => {
    if (price === null || isUnclear(price)) return;
    const { amount: value, text, element, currency } = price;
    const isMarked = marked?.amount === value;
    found.push(pageCandidate({ field: 'price', value, source, text, element, currency, isMarked }));
  };
  push(atHeading.price, 'heading');
  if (!hasTaxPair) push(atControl.price, 'control');
  if (marked?.isNamed) push(marked, 'name');
  const near = atControl.all.length > 0 ? atControl : atHeading;
  const nearest = near.price === null ? near.all.slice(0, maxNear) : [near.price];
  for (const price of nearest) {
    if (near.price === null) push(price, 'near');
    if (hasAttribute(page, price.amount)) push(price, 'attribute');
    if (described.has(price.amount)) push(price, 'description');
  }
  const isComparable = (price: ShownPrice) =>
    !isUnclear(price) && (price.currency === null || price.currency === home);
  const isComplete = atControl.all.length > 0 && atControl.all.every(isComparable) && unreadable.length === 0;
  const shown = marked === null && isComplete ? [...amounts] : [];
  for (const value of shown)
    found.push(pageCandidate({ field: 'price', value, source: 'shown', text: null, element: null }));
  const hasPriceAtControl =
    control !== null && (atControl.price !== null || hasOnePriceText(control.element, shownOnPage, page));
  return { found, near, atControl, hasPriceAtControl };
}
