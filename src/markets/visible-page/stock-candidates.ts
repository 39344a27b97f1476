import { isDispatchTime, readAvailability } from '../availability/availability.ts';
import { type Candidate, visibleSource } from '../candidates/candidates.ts';
import { type Element, workOf } from '../html/html.ts';
import { labelledText } from '../html/label-text.ts';
import { lineOf, namesOf, shortText, upwards } from '../html/visible-text.ts';
import { stockLabels, stockNames } from './element-names.ts';
import { pageCandidate } from './evidence.ts';
import type { PagePrices } from './price-candidates.ts';
import { isInCard } from './product-card.ts';
import { isCompareControl, isContactControl, type PurchaseControl } from './purchase-control.ts';
import { isBuyText, isCartText } from './purchase-words.ts';
import type { VisiblePage } from './visible-page.ts';

const maxStockText = 80;
const maxNearText = 40;
/** Maximum elements around a text that can be a control. */
const maxControlDepth = 5;

/** A text about stock and its element. */
interface StockText {
  text: string;
  element: Element;
}

/** Returns the texts of elements and after labels that say that they are about stock. */
function namedTexts({ fields, texts }: VisiblePage): StockText[] {
  const found: StockText[] = [];
  for (const element of fields) {
    if (!stockNames.test(namesOf(element))) continue;
    const text = shortText(element, maxStockText);
    if (text !== null) found.push({ text, element });
  }
  for (const visible of texts) {
    const { text: label, parent: element } = visible;
    if (label.length > maxStockText || !stockLabels.test(label.trim())) continue;
    const text = labelledText(visible, stockLabels, maxStockText);
    if (text !== null) found.push({ text, element });
  }
  return found;
}

/** Returns the lines of text in an element, except the texts of controls and of other products. */
function linesIn(page: VisiblePage, around: Element | null): StockText[] {
  const { texts, ranges, controls } = page;
  const range = around === null ? undefined : ranges.get(around);
  const skipped = new Set(controls.map(({ element }) => element));
  const found: StockText[] = [];
  for (const visible of texts) {
    const { text, parent: element } = visible;
    const { start } = ranges.get(element)!;
    const isIn = range !== undefined && range.start <= start && start <= range.end;
    if (!isIn || isInCard(element, page)) continue;
    const isControl = [...upwards(element, maxControlDepth)].some((outer) => skipped.has(outer));
    const line =
      !isControl && text.length <= maxNearText * 3 ? lineOf(visible, maxStockText) : null;
    if (line !== null && line.length <= maxNearText) found.push({ text: line, element });
  }
  return found;
}

/** Prices in a text about stock: "36,99 € - in stock". */
const prices = /(?:\p{Sc}\s?\d[\d.,]*|\d[\d.,]*\s?\p{Sc})/gu;

/**
 * Reads the statement of a text about stock, without prices, and without its label if that is not
 * a part of it.
 */
function stockOf({ text, element }: StockText) {
  const line = text.replace(prices, '');
  workOf(element).addParsed(line);
  const availability = readAvailability(line);
  if (availability.available !== null) return availability;
  return readAvailability(line.replace(stockLabels, ''));
}

/** A text about stock that is understood. */
interface StatedText extends StockText {
  state: string;
  available: boolean;
}

/** Texts about stock that are understood, and whether the product can be bought by them. */
interface StatedStock {
  first: StatedText;
  states: ReadonlySet<boolean>;
}

function statedStock(texts: readonly StockText[]): StatedStock | null {
  const stated = texts.flatMap((stockText): StatedText[] => {
    const { state, available } = stockOf(stockText);
    return state === null || available === null ? [] : [{ ...stockText, state, available }];
  });
  const [first] = stated;
  if (first === undefined) return null;
  return { first, states: new Set(stated.map(({ available }) => available)) };
}

/** Returns the candidates of the texts about stock, if they agree. */
function textCandidates(stated: StatedStock | null, control: PurchaseControl | null): Candidate[] {
  if (stated === null || stated.states.size > 1) return [];
  const { state: value, available, text, element } = stated.first;
  const isBuyable = control !== null && !control.isSoldOut && !control.isDisabled;
  // Shops show how soon they send an item also while they have none.
  const isStock = control !== null || !isDispatchTime(text.replace(stockLabels, ''));
  const isMarked = available ? isStock && !control?.isSoldOut : !isBuyable;
  const candidate = {
    field: 'availability',
    value,
    text,
    element,
    isMarked,
  };
  const found = [pageCandidate({ ...candidate, source: 'text' })];
  if (isMarked) found.push(pageCandidate({ ...candidate, source: 'only text' }));
  // No evidence beside a control that buys the product, but structured data must not deny it.
  else if (!available) found.push(pageCandidate({ ...candidate, source: visibleSource }));
  return found;
}

/**
 * Returns true if the page also has the other kind of control: one that buys at once, or the
 * cart's.
 */
function hasOtherKind(control: PurchaseControl, page: VisiblePage): boolean {
  const isCart = isCartText(control.text);
  return page.controls.some(
    ({ element, text, isDisabled, isSoldOut }) =>
      isCartText(text) !== isCart &&
      isBuyText(text) &&
      !isDisabled &&
      !isSoldOut &&
      !isInCard(element, page),
  );
}

/**
 * Returns the candidates of a control that buys the product, or that says that it cannot be bought.
 */
function controlCandidates(
  control: PurchaseControl,
  page: VisiblePage,
  { hasPriceAtControl, stated }: PagePrices & { stated: StatedStock | null },
): Candidate[] {
  const { element, text, isSoldOut, isDisabled } = control;
  const isDenied = stated !== null && !stated.states.has(true);
  const sources: string[] = [];
  if (isSoldOut) sources.push('control', ...(isDisabled ? ['disabled control'] : []));
  else if (!isDisabled && !isDenied) {
    sources.push('control');
    if (hasPriceAtControl) sources.push('price at control');
    if (hasOtherKind(control, page)) sources.push('other control');
  }
  const value = isSoldOut ? 'OutOfStock' : 'InStock';
  // The control that would buy the product is disabled and says that it is sold out.
  const isMarked = isSoldOut && isDisabled && !stated?.states.has(true);
  const candidate = {
    field: 'availability',
    value,
    text,
    element,
    isMarked,
  };
  return sources.map((source) => pageCandidate({ ...candidate, source }));
}

/** Returns the candidates of an ad with one price, whose seller can be written to or called. */
function adCandidates({ fields }: VisiblePage, { near }: PagePrices): Candidate[] {
  const contacts = fields.filter(isContactControl);
  const [element] = contacts;
  const offer = { field: 'availability', value: 'InStock' };
  if (near.price === null || element === undefined || contacts.length > 1) return [];
  const text = shortText(element, maxNearText);
  const price = { source: 'price', text: near.price.text, element: near.price.element };
  return [
    pageCandidate({
      ...offer,
      source: 'contact',
      text,
      element,
    }),
    pageCandidate({ ...offer, ...price }),
  ];
}

/** Returns the candidate of a page that compares the offers of several shops. */
function comparisonCandidates({ fields }: VisiblePage): Candidate[] {
  const element = fields.find(isCompareControl);
  if (element === undefined) return [];
  const text = shortText(element, maxNearText);
  return [
    pageCandidate({
      field: 'availability',
      value: 'InStock',
      source: 'offers of shops',
      text,
      element,
    }),
  ];
}

/** Returns the candidates for the availability of the product of a page. */
export function availabilityCandidates(
  page: VisiblePage,
  control: PurchaseControl | null,
  prices: PagePrices,
): Candidate[] {
  const texts = [...namedTexts(page), ...linesIn(page, prices.near.around)];
  const stated = statedStock(texts);
  const found = textCandidates(stated, control);
  if (control !== null)
    return [...found, ...controlCandidates(control, page, { ...prices, stated })];
  return found.length > 0 ? found : [...adCandidates(page, prices), ...comparisonCandidates(page)];
}
