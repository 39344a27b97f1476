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
/** Selectors of the blocks of books that contain a price. */
const bookBlocks: readonly (readonly [string, string])[] = [
  ['buyNewSection', '.offer-price'],
  ['buybox', '.kindle-price .a-color-price'],
  ['buybox', '.offer-price'],
  ['usedBuySection', '.offer-price'],
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
  return blockIds.flatMap((id) =>
    allById(page, id).flatMap((block) => {
      for (const selector of toPay) {
        const element = findAll(block, selector).find(
          (candidate) =>
            !isUnitPrice(candidate) && attribute(candidate, 'data-a-strike') !== 'true',
        );
        const text = priceText(element);
        if (element && text !== null) return [{ kind: offerKind(element), text, block }];
      }
      return [];
    }),
  );
}

function olderPrices(page: HtmlPage): Priced[] {
  const single = priceIds.flatMap((id) => allById(page, id));
  const inBooks = bookBlocks.flatMap(([id, selector]) =>
    findAll(byId(page, id), selector)
      .filter((element) => offerKind(element) !== 'member')
      .slice(0, 1),
  );
  const anywhere = findAll(page.root, '.priceToPay, .apexPriceToPay').filter(
    (element) => !isOfOtherProduct(element) && !isPerUnit(element),
  );
  return [...single, ...inBooks, ...anywhere].flatMap((element) => {
    const text = priceText(element);
    const kind = element.attribs.id === 'usedPrice' ? 'used' : offerKind(element);
    return text === null ? [] : [{ kind, text, block: element }];
  });
}

/** Returns the prices in the page's script data. */
function dataPrices(page: HtmlPage): Priced[] {
  const options = findAll(page.root, '.twister-plus-buying-options-price-data').flatMap((element) =>
    Object.values(object(parseJson(words(element) ?? ''))).flatMap((group) => objects(group)),
  );
  const fromOptions = options.flatMap((option): Priced[] => {
    const displayPrice = text(option.displayPrice);
    return displayPrice === null
      ? []
      : [{ kind: kindNamed(text(option.buyingOptionType) ?? ''), text: displayPrice }];
  });
  const inputs = findAll(page.root, 'input[name*="customerVisiblePrice][displayString]"]').flatMap(
    (input): Priced[] => {
      const displayString = attribute(input, 'value');
      return displayString === null ? [] : [{ kind: offerKind(input), text: displayString }];
    },
  );
  const metrics = byId(page, 'cerberus-data-metrics');
  const code = attribute(metrics, 'data-asin-currency-code');
  const amount = datumAmount(attribute(metrics, 'data-asin-price'), code);
  const measured: Priced[] =
    amount === null || code === null ? [] : [{ kind: 'new', text: `${code} ${amount.toFixed(2)}` }];
  return [...fromOptions, ...inputs, ...measured];
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
const lineKinds: readonly (readonly [OfferKind, RegExp])[] = [
  ['member', /prime|member/i],
  [
    'used',
    /used|renewed|refurb|gebraucht|occasion|usat|usad|segunda mano|中古|begagnad|używan|tweedehands|kullanılmış/iu,
  ],
  ['new', /new|neu|nuov|nuev|novo|新品|nya?\b|nieuw|now[ey]|yeni/iu],
];

/**
 * Returns the prices in the line about all offers. Digital music and items without a buy box have
 * only this one.
 */
function offerLinePrices(page: HtmlPage): Priced[] {
  return findAll(page.root, offerLines.join(', ')).flatMap((line): Priced[] => {
    const offers = priceWords(line) ?? '';
    const kind = lineKinds.find(([, pattern]) => pattern.test(offers))?.[0];
    if (kind === undefined) return [];
    const block = find(line, '.a-price, .a-color-price');
    const after = /\s(?:from|ab|de|da|desde|vanaf|från|od|より)\s?:?\s(?=\D{0,4}\d)(.+)$/iu.exec(
      offers,
    );
    const text = block === undefined ? shownPrice(after?.[1] ?? '') : priceText(block);
    return text ? [{ kind, text }] : [];
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
  const sources = [blockPrices(page), olderPrices(page), dataPrices(page)];
  const ranked = offerKinds.flatMap((kind) =>
    sources.flat().filter((priced) => priced.kind === kind),
  );
  const line = offerLinePrices(page);
  const inLine = offerKinds.flatMap((kind) => line.filter((priced) => priced.kind === kind));
  for (const chosen of [...ranked, ...formatPrices(page), ...inLine]) {
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
