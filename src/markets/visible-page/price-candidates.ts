import type { Json } from '../../base/json.ts';
import type { Candidate } from '../candidates/candidates.ts';
import { number } from '../fields.ts';
import type { Element } from '../html/html.ts';
import { shortText, upwards } from '../html/visible-text.ts';
import { shownAmount } from '../money/money.ts';
import { pageCandidate } from './evidence.ts';
import { listPriceCandidates } from './list-price-candidates.ts';
import { type NearPrices, onlyOldPrice, pricesNear } from './near-prices.ts';
import { maxPriceText } from './price-element.ts';
import type { PurchaseControl } from './purchase-control.ts';
import type { VisiblePage } from './visible-page.ts';
import { type VisiblePrice, type VisiblePrices, visiblePrices } from './visible-price.ts';

/** Facts about a page that the reader of prices is given. */
export interface PriceFacts {
  /** Currency of the shop. */
  home: string | null;
  /** Descriptions for search engines and previews. */
  description: string;
  /** Prices of the product in structured data. */
  statedPrices: ReadonlySet<Json>;
}

/** Prices of a page as candidates and by their places. */
export interface PagePrices {
  found: Candidate[];
  /** Prices around the control, otherwise around the heading. */
  near: NearPrices;
  /**
   * True if the price of the product is near the control, or a range, or a text with a currency
   * whose amount cannot be read.
   */
  hasPriceAtControl: boolean;
}

const none: NearPrices = {
  price: null,
  all: [],
  around: null,
  textCount: 0,
};

/** Prices around a control or heading that are compared with other sources. */
const maxNear = 10;
/** Maximum elements around a price that can contain a range. */
const maxRangeDepth = 4;

/**
 * Returns the price that a page marks: the only one near the heading and near the control, as far
 * as both exist.
 */
function markedPrice(heading: NearPrices, control: NearPrices): VisiblePrice | null {
  const [title, purchase] = [heading.price, control.price];
  if (title !== null && purchase !== null)
    return title.amount === purchase.amount ? purchase : null;
  const only = purchase ?? title;
  const other = purchase === null ? control : heading;
  // One of many prices is that of an entry of a list.
  const isPossible =
    other.all.length === 0 ||
    (other.all.length <= maxNear && other.all.some(({ amount }) => amount === only?.amount));
  return only?.isNamed && isPossible ? only : null;
}

/** Returns the amounts with a currency in the description of a page. */
function describedAmounts(description: string, home: string | null): Set<number> {
  const texts =
    description.slice(0, 2_000).match(/\p{Sc}\s?\d[\d.,]*|\d[\d.,]*\s?(?:\p{Sc}|元|円|zł|Kč)/gu) ??
    [];
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
const isUnclear = ({ text, currency }: VisiblePrice): boolean =>
  (currency === null || currency === 'USD') && /(?<![\d.,])\d{1,3}\.\d{3}(?![\d.,])/.test(text);

/** Prices of a page by their position, and the marked price. */
interface PriceView {
  home: string | null;
  onPage: VisiblePrices;
  atHeading: NearPrices;
  atControl: NearPrices;
  /** Prices around the control, otherwise around the heading. */
  near: NearPrices;
  marked: VisiblePrice | null;
}

function viewOf(
  page: VisiblePage,
  control: PurchaseControl | null,
  home: string | null,
): PriceView {
  const onPage = visiblePrices(page, home);
  const old = control === null ? null : onlyOldPrice(control.element, onPage, page);
  const nearOf = (element: Element | null | undefined): NearPrices => {
    if (!element) return none;
    if (old === null) return pricesNear(element, onPage, page);
    return {
      price: old,
      all: [old],
      around: old.element,
      textCount: 1,
    };
  };
  const atHeading = nearOf(page.heading);
  const atControl = nearOf(control?.element);
  const near = atControl.all.length > 0 ? atControl : atHeading;
  const marked = onPage.hasTaxPair ? null : markedPrice(atHeading, atControl);
  return {
    home,
    onPage,
    atHeading,
    atControl,
    near,
    marked,
  };
}

/** Returns the candidates of places at which the page shows the price to pay. */
function placeCandidates({ onPage, atHeading, atControl, marked }: PriceView): Candidate[] {
  const places: [source: string, price: VisiblePrice | null][] = [['heading', atHeading.price]];
  if (!onPage.hasTaxPair) places.push(['control', atControl.price]);
  if (marked?.isNamed) places.push(['name', marked]);
  return places.flatMap(([source, price]) => priceCandidate(price, source, marked));
}

/** Returns the candidate of a price, or none if its amount is unclear. */
function priceCandidate(
  price: VisiblePrice | null,
  source: string,
  marked: VisiblePrice | null,
): [Candidate] | [] {
  if (price === null || isUnclear(price)) return [];
  const { amount: value, text, element, currency } = price;
  const isMarked = marked?.amount === value;
  return [
    pageCandidate({
      field: 'price',
      value,
      source,
      text,
      element,
      currency,
      isMarked,
    }),
  ];
}

/** Returns the candidates of prices near the control that attributes or descriptions confirm. */
function confirmedCandidates(page: VisiblePage, view: PriceView, description: string): Candidate[] {
  const { near, marked, home } = view;
  const described = describedAmounts(description, home);
  const nearest = near.price === null ? near.all.slice(0, maxNear) : [near.price];
  return nearest.flatMap((price) => [
    ...(near.price === null ? priceCandidate(price, 'near', marked) : []),
    ...(hasAttribute(page, price.amount) ? priceCandidate(price, 'attribute', marked) : []),
    ...(described.has(price.amount) ? priceCandidate(price, 'description', marked) : []),
  ]);
}

/**
 * Returns the readings of unclear prices, which another source decides, if the page has no clear
 * one.
 */
function readingCandidates({ near, onPage }: PriceView): Candidate[] {
  if (near.all.length > 0) return [];
  return onPage.unclear.slice(0, maxNear).flatMap(({ readings, text, element }) =>
    readings.map((value) =>
      pageCandidate({
        field: 'price',
        value,
        source: 'reading',
        text,
        element,
      }),
    ),
  );
}

/** Returns the amounts of a page that marks no price, as evidence against others. */
function shownCandidates({ home, onPage, atControl, marked }: PriceView): Candidate[] {
  const isComparable = (price: VisiblePrice) =>
    !isUnclear(price) && (price.currency === null || price.currency === home);
  const isComplete =
    atControl.all.length > 0 && atControl.all.every(isComparable) && onPage.unreadable.length === 0;
  if (marked !== null || !isComplete) return [];
  return [...onPage.amounts].map((value) =>
    pageCandidate({
      field: 'price',
      value,
      source: 'shown',
      text: null,
      element: null,
    }),
  );
}

/** A lowest and a highest price, which can be repeated for assistive technology. */
const rangeText =
  /^\D{0,12}(\d+(?:[.,\s]\d+)*)\D{0,8}\s[–-]\s\D{0,8}(\d+(?:[.,\s]\d+)*)\D{0,12}(?:\D{0,30}\1\D{1,30}\2\D{0,12})?$/;

/** Returns true if prices are the lowest and the highest of variants: "$9 – $13". */
const areRange = ({ all }: NearPrices): boolean =>
  all.length > 0 &&
  all.every(({ element }) =>
    [...upwards(element, maxRangeDepth)].some((outer) =>
      rangeText.test(shortText(outer, maxPriceText * 2) ?? ''),
    ),
  );

/**
 * Returns the candidates for the price of a page, and its prices around the heading and the
 * control.
 */
export function priceCandidates(
  page: VisiblePage,
  control: PurchaseControl | null,
  { home, description, statedPrices }: PriceFacts,
): PagePrices {
  const view = viewOf(page, control, home);
  const { near, atControl, atHeading } = view;
  const around = [...atControl.all.slice(0, maxNear), ...atHeading.all.slice(0, maxNear)];
  const found = [
    ...placeCandidates(view),
    ...confirmedCandidates(page, view, description),
    ...readingCandidates(view),
    ...shownCandidates(view),
    ...listPriceCandidates(around, view.onPage, page),
  ];
  const hasPriceAtControl =
    atControl.price !== null ||
    atControl.textCount === 1 ||
    areRange(atControl) ||
    atControl.all.some(({ amount }) => statedPrices.has(amount));
  return { found, near, hasPriceAtControl };
}
