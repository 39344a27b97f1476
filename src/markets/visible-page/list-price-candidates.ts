import type { Candidate } from '../candidates/candidates.ts';
import { upwards } from '../html/visible-text.ts';
import { pageCandidate } from './evidence.ts';
import { placesIn } from './near-prices.ts';
import { hasOtherPrice } from './price-kind.ts';
import { besideListPrice, untaxedWords } from './price-words.ts';
import type { VisiblePage } from './visible-page.ts';
import type { VisiblePrice, VisiblePrices } from './visible-price.ts';

/** Maximum elements around a price that can contain its list price. */
const maxDepth = 6;

/** Returns the difference of two amounts, without the errors of fractions. */
const difference = (one: number, other: number): number => Number((one - other).toFixed(4));

/** Returns the digits of each number in a text. */
const numbersIn = (text: string): string[] =>
  (text.match(/\d(?:[\d.,'’\s]*\d)?/g) ?? []).map((number) => number.replace(/\D/g, ''));

/** Returns true for a text that repeats prices, or that has an amount of another kind. */
function isAside(text: string, prices: readonly VisiblePrice[]): boolean {
  if (besideListPrice.test(text) || untaxedWords.test(text) || hasOtherPrice(text)) return true;
  const amounts = new Set(prices.flatMap((price) => numbersIn(price.text)));
  return numbersIn(text).every((number) => amounts.has(number));
}

/**
 * Returns the only former price in the smallest element around a price that contains any, such as
 * one that is named as a list price. Null if the element contains another price to pay, or if the
 * former one is lower or in another currency.
 */
function formerPrice(
  price: VisiblePrice,
  { prices, formerPrices, unreadable }: VisiblePrices,
  page: VisiblePage,
): VisiblePrice | null {
  const isFormer = ({ isListed }: VisiblePrice) => isListed && !price.isListed;
  for (const outer of upwards(price.element, maxDepth)) {
    const pricesInside = placesIn(outer, prices, page);
    const [former, ...more] = [
      ...placesIn(outer, formerPrices, page),
      ...pricesInside.filter((one) => isFormer(one) && one.amount !== price.amount),
    ];
    if (former === undefined) continue;
    const isOnly = more.every(({ amount }) => amount === former.amount);
    const saving = difference(former.amount, price.amount);
    const possible = [price.amount, former.amount, saving];
    const isBeside = pricesInside.every(({ amount }) => possible.includes(amount));
    const isReadable = placesIn(outer, unreadable, page).every(({ text }) =>
      isAside(text, [price, former]),
    );
    const isHigher = former.amount > price.amount && former.currency === price.currency;
    return isOnly && isBeside && isReadable && isHigher ? former : null;
  }
  return null;
}

/** Returns the list prices that a page shows beside prices: struck, or labelled as one that was. */
export const listPriceCandidates = (
  prices: readonly VisiblePrice[],
  onPage: VisiblePrices,
  page: VisiblePage,
): Candidate[] =>
  prices.flatMap((price) => {
    const former = formerPrice(price, onPage, page);
    if (former === null) return [];
    const { amount: value, text, element, currency } = former;
    const listPrice = { field: 'list_price', value, text, element, currency };
    return ['former', 'beside price'].map((source) => ({
      ...pageCandidate({ ...listPrice, source }),
      price: price.amount,
    }));
  });
