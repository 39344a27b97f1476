import { readAvailability } from './availability.ts';
import type { Candidate } from './candidates.ts';
import { number } from './fields.ts';
import { type Element, oneLine } from './html.ts';
import { labelledText } from './label-text.ts';
import { shownAmount } from './money.ts';
import { pageCandidate } from './page-evidence.ts';
import { stockLabels, stockNames } from './purchase-words.ts';
import { namesOf, type PurchaseControl, shortText, type VisiblePage } from './visible-page.ts';
import { mainControl, type NearPrices, pricesNear, type ShownPrice, shownPrices } from './visible-price.ts';
import { skuCandidates } from './visible-sku.ts';

/** What the reader of a page knows before it looks at it. */
export interface PageFacts {
  url: string;
  /** Names of the page and of its product. */
  titles: readonly string[];
  /** Currency of the shop. */
  home: string | null;
  /** Description for search engines and previews. */
  description: string | null;
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
function describedAmounts(description: string | null, home: string | null): Set<number> {
  const texts =
    description?.slice(0, 1_000).match(/\p{Sc}\s?\d[\d.,]*|\d[\d.,]*\s?(?:\p{Sc}|元|円|zł|Kč)/gu) ?? [];
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

function priceCandidates(page: VisiblePage, control: PurchaseControl | null, facts: PageFacts) {
  const { home } = facts;
  const described = describedAmounts(facts.description, home);
  const { prices, amounts, hasUntaxed } = shownPrices(page, home);
  const atHeading = page.heading === null ? none : pricesNear(page.heading, prices, page);
  const atControl = control === null ? none : pricesNear(control.element, prices, page);
  const marked = markedPrice(atHeading, atControl);
  const found: Candidate[] = [];
  const push = (price: ShownPrice | null, source: string) => {
    if (price === null || isUnclear(price)) return;
    const { amount: value, text, element, currency } = price;
    const isMarked = marked?.amount === value;
    found.push(pageCandidate({ field: 'price', value, source, text, element, currency, isMarked }));
  };
  push(atHeading.price, 'heading');
  if (!hasUntaxed) push(atControl.price, 'control');
  if (marked?.isNamed && !hasUntaxed) push(marked, 'name');
  const near = atControl.all.length > 0 ? atControl : atHeading;
  const nearest = near.price === null ? near.all.slice(0, maxNear) : [near.price];
  for (const price of nearest) {
    if (near.price === null) push(price, 'near');
    if (hasAttribute(page, price.amount)) push(price, 'attribute');
    if (described.has(price.amount)) push(price, 'description');
  }
  const hasOthers = marked === null && atControl.all.length > 0;
  const shown = hasOthers ? [...amounts] : [];
  for (const value of shown)
    found.push(pageCandidate({ field: 'price', value, source: 'shown', text: null, element: null }));
  return { found, near, atControl };
}

const maxStockText = 80;

/** Returns the texts of a page that state whether its product is in stock. */
function stockTexts({ fields, texts }: VisiblePage): { text: string; element: Element }[] {
  const found: { text: string; element: Element }[] = [];
  for (const element of fields) {
    if (!stockNames.test(namesOf(element))) continue;
    const text = shortText(element, maxStockText);
    if (text !== null) found.push({ text: text.replace(stockLabels, ''), element });
  }
  for (const { text: label, parent } of texts) {
    if (label.length > maxStockText || !stockLabels.test(label.trim())) continue;
    const text = labelledText({ text: label, parent }, stockLabels, maxStockText);
    if (text !== null) found.push({ text, element: parent });
  }
  return found;
}

const maxNearText = 40;

/** Returns the short texts in an element, without those of the control. */
function textsIn({ texts, ranges }: VisiblePage, around: Element | null, control: PurchaseControl | null) {
  const range = around === null ? undefined : ranges.get(around);
  const skipped = control === null ? undefined : ranges.get(control.element);
  const found: { text: string; element: Element }[] = [];
  for (const { text, parent: element } of texts) {
    const { start } = ranges.get(element)!;
    const isIn = range !== undefined && range.start <= start && start <= range.end;
    const isControl = skipped !== undefined && skipped.start <= start && start <= skipped.end;
    const line = isIn && !isControl && text.length <= maxNearText * 3 ? oneLine(text) : null;
    if (line !== null && line.length <= maxNearText) found.push({ text: line, element });
  }
  return found;
}

function availabilityCandidates(
  page: VisiblePage,
  control: PurchaseControl | null,
  { near, atControl }: { near: NearPrices; atControl: NearPrices },
) {
  const found: Candidate[] = [];
  const field = 'availability';
  const isBuyable = control !== null && !control.isSoldOut && !control.isDisabled;
  const texts = [...stockTexts(page), ...textsIn(page, near.around, control)];
  const stated = texts.filter(({ text }) => readAvailability(text).available !== null);
  const states = new Set(stated.map(({ text }) => readAvailability(text).available));
  const [first] = stated;
  if (first !== undefined && states.size === 1) {
    const { state: value, available } = readAvailability(first.text);
    const isMarked = available ? control === null || !control.isSoldOut : !isBuyable;
    found.push(pageCandidate({ ...first, field, value, source: 'text', isMarked }));
    if (isMarked) found.push(pageCandidate({ ...first, field, value, source: 'only text', isMarked }));
  }
  if (control === null) return found;
  const { element, text } = control;
  const value = control.isSoldOut ? 'OutOfStock' : 'InStock';
  const push = (source: string) => found.push(pageCandidate({ field, value, source, text, element }));
  if (isBuyable || control.isSoldOut) push('control');
  if (isBuyable && atControl.price !== null) push('price at control');
  if (control.isSoldOut && control.isDisabled) push('disabled control');
  return found;
}

/** Returns the text of a heading, or that of the first element in it, that one of the titles contains. */
function titledText(heading: Element, titles: readonly string[]): string | null {
  const inner = heading.children.filter((node) => 'attribs' in node);
  for (const element of [heading, ...inner.slice(0, 10)]) {
    const text = shortText(element, 300)?.toLowerCase();
    if (text && text.length > 3 && titles.some((title) => title.toLowerCase().includes(text)))
      return shortText(element, 300);
  }
  return null;
}

function titleCandidates({ heading, fields }: VisiblePage, titles: readonly string[]): Candidate[] {
  if (heading === null) return [];
  const titled = titledText(heading, titles);
  const value = titled ?? shortText(heading, 300);
  if (value === null) return [];
  const isOnly = heading.name === 'h1' && fields.filter(({ name }) => name === 'h1').length === 1;
  const title = { field: 'title', value, text: value, element: heading };
  const found = [pageCandidate({ ...title, source: 'heading' })];
  if (titled !== null) found.push(pageCandidate({ ...title, source: 'title' }));
  else if (isOnly) found.push(pageCandidate({ ...title, source: 'only h1' }));
  return found;
}

/** Returns what a page shows of its product. */
export function pageCandidates(page: VisiblePage, facts: PageFacts): Candidate[] {
  const control = mainControl(page);
  const { found, near, atControl } = priceCandidates(page, control, facts);
  return [
    ...titleCandidates(page, facts.titles),
    ...found,
    ...availabilityCandidates(page, control, { near, atControl }),
    ...skuCandidates(page, facts.url),
  ];
}
