import { object, objects, text } from '../fields.ts';
import {
  allById,
  attribute,
  byId,
  centsMark,
  type Element,
  find,
  findAll,
  type HtmlPage,
  hasClass,
  outwards,
  priceWords,
  words,
} from '../html/html.ts';
import { isElement } from '../html/html-tree.ts';
import { parseJson } from '../json/script-json.ts';
import { datumAmount, priceAmount, priceCurrency, shownPrice } from '../money/money.ts';
import { anyOf } from '../patterns.ts';
import { isConditionText, kindNamed, type OfferKind, offerKind, offerKinds } from './offers.ts';

/** Price of an offer, in currency units. */
export interface Price {
  amount: number | null;
  currency: string | null;
  original_price: number | null;
}

/** A price text and its offer. */
interface Priced {
  kind: OfferKind;
  text: string;
  /** Container of the price. Absent for prices from script data. */
  block?: Element;
}

/** Selectors of the blocks with an offer's price, newest layouts first. */
const blockIds = [
  'corePriceDisplay_desktop_feature_div',
  'corePriceDisplay_mobile_feature_div',
  'corePrice_desktop',
  'corePrice_feature_div',
  'corePrice_mobile_feature_div',
  'apex_desktop',
  'apex_offerDisplay_desktop',
];
/** Selectors of the price to pay within a block, most reliable first. */
const toPay = [
  '.priceToPay',
  '.apexPriceToPay',
  '.apex-pricetopay-value',
  '.a-price[data-a-size]:not(.a-text-price)',
  '.a-price:not(.a-text-price)',
];

/** Selectors of prices in older layouts. A deal price is next to the price that it replaces. */
const priceIds = [
  'priceblock_dealprice',
  'priceblock_saleprice',
  'priceblock_ourprice',
  'price_inside_buybox',
  'newBuyBoxPrice',
  'kindle-price',
  'actualPriceValue',
  'usedPrice',
];
/** Ids of the blocks of books that contain a price, and selectors of the price in them. */
const bookPrices = [
  { blockId: 'buyNewSection', selector: '.offer-price' },
  { blockId: 'buybox', selector: '.kindle-price .a-color-price' },
  { blockId: 'buybox', selector: '.offer-price' },
  { blockId: 'usedBuySection', selector: '.offer-price' },
];

const originalIds = ['listPrice', 'digital-list-price', 'priceblock_strikeprice'];
const struckPrices = [
  '.a-price[data-a-strike="true"]',
  '.basisPrice .a-price',
  '.priceBlockStrikePriceString',
  '.a-text-strike',
];

/**
 * Returns the text of a price element: its text for screen readers or, if new pages leave that
 * empty, its visible parts, with cents in an element of their own as decimals. Null without digits,
 * and if the digits of its elements are not those of one amount.
 */
export function priceText(element: Element | undefined): string | null {
  if (!element) return null;
  const spoken = priceWords(find(element, '.a-offscreen'));
  if (spoken !== null && /\d/.test(spoken)) return shownPrice(spoken);
  const integer = words(find(element, '.a-price-whole'))?.replace(/\s/g, '');
  if (integer) {
    const symbol = words(find(element, '.a-price-symbol')) ?? '';
    const fraction = words(find(element, '.a-price-fraction')) ?? '';
    const border = fraction === '' || /[.,]$/.test(integer) ? '' : centsMark;
    return shownPrice(`${symbol}${integer}${border}${fraction}`);
  }
  const visible = priceWords(element);
  return visible !== null && /\d/.test(visible) ? shownPrice(visible) : null;
}

/** Returns true for a price with its unit or period after it: "$0.50/ounce", "$25/mo". */
export function isPerUnit(element: Element): boolean {
  const next = element.next ?? (element.parent as Element | null)?.next;
  if (!next) return false;
  const following = isElement(next) ? words(next) : (next as { data?: string }).data;
  return /^\s*\//.test(following ?? '');
}

function isUnitPrice(element: Element): boolean {
  for (const outer of outwards(element)) if (hasClass(outer, 'pricePerUnit')) return true;
  return isPerUnit(element);
}

/** Names of blocks with other products. */
const otherProducts = /carousel|similarit|compar|sponsored|recommend|bundle|fbt/i;

function isOfOtherProduct(element: Element): boolean {
  for (const { attribs } of outwards(element))
    if (otherProducts.test(`${attribs.id ?? ''} ${attribs.class ?? ''}`)) return true;
  return false;
}

function blockPrices(page: HtmlPage): Priced[] {
  const blocks = blockIds.flatMap((id) => allById(page, id));
  return blocks.map(blockPrice).filter((price) => price !== null);
}

/** Returns the price to pay within a block. */
function blockPrice(block: Element): Priced | null {
  for (const selector of toPay) {
    const element = findAll(block, selector).find(
      (candidate) => !isUnitPrice(candidate) && attribute(candidate, 'data-a-strike') !== 'true',
    );
    const text = priceText(element);
    if (element && text !== null) return { kind: offerKind(element), text, block };
  }
  return null;
}

function olderPrices(page: HtmlPage): Priced[] {
  const elements = priceIds.flatMap((id) => allById(page, id));
  for (const { blockId, selector } of bookPrices) {
    const inBlock = findAll(byId(page, blockId), selector);
    const element = inBlock.find((candidate) => offerKind(candidate) !== 'member');
    if (element !== undefined) elements.push(element);
  }
  const anywhere = findAll(page.root, '.priceToPay, .apexPriceToPay').filter(
    (element) => !isOfOtherProduct(element) && !isPerUnit(element),
  );
  const prices: Priced[] = [];
  for (const element of [...elements, ...anywhere]) {
    const text = priceText(element);
    const kind = element.attribs.id === 'usedPrice' ? 'used' : offerKind(element);
    if (text !== null) prices.push({ kind, text, block: element });
  }
  return prices;
}

/** Returns the prices in the page's script data. */
function dataPrices(page: HtmlPage): Priced[] {
  const prices: Priced[] = [];
  for (const element of findAll(page.root, '.twister-plus-buying-options-price-data')) {
    const groups = Object.values(object(parseJson(words(element) ?? '')));
    for (const option of groups.flatMap(objects)) {
      const displayPrice = text(option.displayPrice);
      const kind = kindNamed(text(option.buyingOptionType) ?? '');
      if (displayPrice !== null) prices.push({ kind, text: displayPrice });
    }
  }
  for (const input of findAll(page.root, 'input[name*="customerVisiblePrice][displayString]"]')) {
    const displayString = attribute(input, 'value');
    if (displayString !== null) prices.push({ kind: offerKind(input), text: displayString });
  }
  const metrics = byId(page, 'cerberus-data-metrics');
  const code = attribute(metrics, 'data-asin-currency-code');
  const amount = datumAmount(attribute(metrics, 'data-asin-price'), code);
  if (amount !== null && code !== null)
    prices.push({ kind: 'new', text: `${code} ${amount.toFixed(2)}` });
  return prices;
}

/** Returns the price next to the selected format of a book, or else the lowest of all offers. */
function formatPrices(page: HtmlPage): Priced[] {
  const selected = find(byId(page, 'tmmSwatches'), '.swatchElement.selected');
  const text =
    priceText(find(selected, '.a-color-price')) ?? priceText(find(selected, '.slot-price'));
  if (selected === undefined || text === null) return [];
  return [{ kind: byId(page, 'usedOnlyBuybox') ? 'used' : 'new', text, block: selected }];
}

/** Places of the line with the lowest price of all offers: "3 New from $8.00". */
const offerLines = [
  '#olp_feature_div a',
  '#olpLinkWidget_feature_div a',
  '#dynamic-aod-ingress-box a',
  '#mediaOlp .olp-link',
  '.swatchElement.selected .olp-link',
];

/**
 * Words for the condition of the offers in such a line, in the languages of the stores. A line for
 * members has neither.
 */
const lineKinds: readonly { kind: OfferKind; pattern: RegExp }[] = [
  { kind: 'member', pattern: /prime|member/i },
  {
    kind: 'used',
    pattern: anyOf(
      [
        'used',
        'renewed',
        'refurb',
        'gebraucht',
        'occasion',
        'usat',
        'usad',
        'segunda mano',
        '中古',
        'begagnad',
        'używan',
        'tweedehands',
        'kullanılmış',
      ],
      { flags: 'iu' },
    ),
  },
  { kind: 'new', pattern: /new|neu|nuov|nuev|novo|新品|nya?\b|nieuw|now[ey]|yeni/iu },
];

/** The lowest price in such a line, after a word for "from". */
const lowestPrice = /\s(?:from|ab|de|da|desde|vanaf|från|od|より)\s?:?\s(?=\D{0,4}\d)(.+)$/iu;

/**
 * Returns the prices in the line about all offers. Digital music and items without a buy box have
 * only this one.
 */
function offerLinePrices(page: HtmlPage): Priced[] {
  return findAll(page.root, offerLines.join(', ')).flatMap((line): Priced[] => {
    const offers = priceWords(line) ?? '';
    const lineKind = lineKinds.find(({ pattern }) => pattern.test(offers));
    if (lineKind === undefined) return [];
    const element = find(line, '.a-price, .a-color-price');
    const wordsOfPrice = lowestPrice.exec(offers)?.[1] ?? '';
    const text = element === undefined ? shownPrice(wordsOfPrice) : priceText(element);
    return text ? [{ kind: lineKind.kind, text }] : [];
  });
}

function originalText(page: HtmlPage, chosen: Priced): string | null {
  const blocks = blockIds
    .flatMap((id) => allById(page, id))
    .filter((block) => offerKind(block) === chosen.kind);
  for (const block of chosen.block ? [chosen.block, ...blocks] : blocks) {
    for (const selector of struckPrices) {
      const originalPrice = priceText(
        findAll(block, selector).find((element) => !isUnitPrice(element)),
      );
      if (originalPrice !== null) return originalPrice;
    }
  }
  if (chosen.kind !== 'new') return null;
  for (const id of originalIds) {
    const originalPrice = priceText(byId(page, id));
    if (originalPrice !== null) return originalPrice;
  }
  const older = find(byId(page, 'price'), '.priceBlockStrikePriceString, .a-text-strike');
  return priceText(older);
}

/** Returns prices in the order of their offers, the preferred kind first. */
const byKind = (prices: readonly Priced[]): Priced[] =>
  offerKinds.flatMap((kind) => prices.filter((price) => price.kind === kind));

/** Returns true if the text beside a price of 0 is about a trial or a membership. */
function isTrial({ block }: Priced): boolean {
  return isConditionText(words(block) ?? '');
}

/**
 * Returns the one-time price for a buyer without membership and its offer: the new offer, otherwise
 * the used one, otherwise the first delivery of a subscription. `original_price` is the struck
 * price of the same offer if it is higher. A range gives its lower end. If the page offers nothing
 * itself, the price comes from the line about all offers ("3 New from $8.00"). All values are null
 * for a page without a price, which is normal: unavailable, or not delivered to the visitor.
 */
export function readPrice(page: HtmlPage, home: string | null): { price: Price; kind: OfferKind } {
  const ownPrices = [...blockPrices(page), ...olderPrices(page), ...dataPrices(page)];
  const candidates = [
    ...byKind(ownPrices),
    ...formatPrices(page),
    ...byKind(offerLinePrices(page)),
  ];
  for (const chosen of candidates) {
    const currency = priceCurrency(chosen.text, home);
    const amount = priceAmount(chosen.text, currency);
    if (amount === null || (amount === 0 && isTrial(chosen))) continue;
    const struck = originalText(page, chosen);
    const original = struck === null ? null : priceAmount(struck, currency);
    const higher = original !== null && original > amount ? original : null;
    return { price: { amount, currency, original_price: higher }, kind: chosen.kind };
  }
  return { price: { amount: null, currency: null, original_price: null }, kind: 'new' };
}
