import type { Json } from '../../base/json.ts';
import {
  type AmountFormat,
  amountFormat,
  currencySign,
  isCurrencyCode,
  resolveSign,
} from './currencies.ts';
import {
  decimalAmount,
  type PriceToken,
  priceShape,
  priceTokens,
  spellCents,
  writtenAmount,
} from './price-text.ts';

/** Returns the currency signs of a text, codes beside its digits first. */
function currencyMarks(tokens: readonly PriceToken[]): string[] {
  const codes: string[] = [];
  const signs: string[] = [];
  for (const [index, { type, text }] of tokens.entries()) {
    if (type !== 'currency') continue;
    const isBesideAmount = isAmountPart(tokens[index - 1]) || isAmountPart(tokens[index + 1]);
    if (!isCurrencyCode(text)) signs.push(text);
    else if (isBesideAmount) codes.push(text);
  }
  return [...codes, ...signs];
}

const isAmountPart = (token: PriceToken | undefined): boolean =>
  token?.type === 'number' || token?.type === 'currency';

/**
 * Returns the ISO code of a price text's currency: a code beside the digits ("TWD 436.12"), a
 * symbol of one currency ("52,41 €", "S$12.30"), or a symbol of several ("$", "￥"), which is
 * resolved with the store's currency `home`. Returns `home` without any of these, and null for a
 * symbol that is not that of `home` and does not tell its currency ("kr").
 */
export function priceCurrency(text: string, home: string | null): string | null {
  const marks = currencyMarks(priceTokens(text));
  if (marks.length === 0) return home;
  for (const mark of marks) {
    const code = resolveSign(currencySign(mark)!, home);
    if (code !== null) return code;
  }
  return null;
}

/** Returns true for a currency sign that does not stand for `currency`. */
function isOtherCurrency({ type, text }: PriceToken, currency: string | null): boolean {
  if (type !== 'currency') return false;
  const sign = currencySign(text)!;
  if (currency === null) return !sign.isShared;
  return !sign.currencies.includes(currency);
}

/**
 * Returns a price text as it is shown, with cents in an element of their own as decimals. Null if
 * the digits of its elements are not those of one amount.
 */
export function shownPrice(text: string): string | null {
  return spellCents(text, amountFormat(priceCurrency(text, null)));
}

/**
 * An amount with its currency before or after it; a code can stand beside a symbol ("NZD $100.70").
 */
const oneAmount = 'c{0,2}:?nc{0,2}';
/** Labels, and a percentage in parentheses, after an amount. */
const tail = '(?:[w.:/()!]|\\(p\\))*\\*{0,2}';
const single = new RegExp(`^[w.:()]*${oneAmount}${tail}$`);
const range = new RegExp(`^[w.:]*${oneAmount}-${oneAmount}${tail}$`);
// Between two amounts, a currency belongs to either: only one way of reading it keeps this linear.
const repeated = new RegExp(`^[w.:]*c{0,2}:?n(?:(?:c{0,3}|c?[|/]c{0,2}):?n)*c?[|/]?${tail}$`);
const splitAmount = new RegExp(`^[w.:()]*ncn${tail}$`);

/** A price text and what its parts mean. */
interface PriceText {
  tokens: readonly PriceToken[];
  shape: string;
  format: AmountFormat;
  /** Amounts of its numbers, in their order. Null for one that cannot be read. */
  amounts: readonly (number | null)[];
}

/** Returns the parts of a price text. Null for another currency, and for the amount of a tax. */
function parsePrice(text: string, currency: string | null): PriceText | null {
  const spelled = spellCents(text, amountFormat(currency));
  if (spelled === null) return null;
  const tokens = priceTokens(spelled);
  const shape = priceShape(tokens);
  if (shape === null) return null;
  if (tokens.some((token) => isOtherCurrency(token, currency))) return null;
  const signs = tokens.map(({ text }) => currencySign(text));
  const sharedSign = signs.find((sign) => sign?.isShared);
  const format = amountFormat(currency, sharedSign);
  return {
    tokens,
    shape,
    format,
    amounts: amountsIn(tokens, format),
  };
}

/** Returns the amounts of the numbers among the tokens. Null for one that cannot be read. */
function amountsIn(tokens: readonly PriceToken[], format: AmountFormat): (number | null)[] {
  const amounts: (number | null)[] = [];
  for (const [index, { type, text, isSpaced }] of tokens.entries()) {
    if (type !== 'number') continue;
    const isAfterSign = tokens[index - 1]?.type === 'currency' && !isSpaced;
    amounts.push(writtenAmount(text, format, isAfterSign));
  }
  return amounts;
}

/**
 * Returns the amount of a price whose currency stands for the decimal point: "35€ 99". Otherwise
 * null.
 */
function amountSplitBySign({ tokens, shape, format }: PriceText): number | null {
  if (!splitAmount.test(shape) || format.decimals !== 2) return null;
  const [integer, sign, cents] = tokens.slice(shape.indexOf('ncn'));
  const isDecimal = /^\d\d$/.test(cents!.text) && !sign!.isSpaced;
  return isDecimal ? decimalAmount(integer!.text, cents!.text, format) : null;
}

/**
 * Returns true if asterisks in the text can hide digits: "$2*". A footnote follows the currency or
 * the cents.
 */
function isMasked({ tokens, shape, format }: PriceText): boolean {
  const before = tokens[shape.indexOf('*') - 1];
  if (before?.type !== 'number') return false;
  return format.decimals !== 2 || !/[.,]\d\d$/.test(before.text);
}

/** Returns the amount of a text that states one price, also if it repeats it. */
function singleAmount(price: PriceText): number | null {
  if (isMasked(price)) return null;
  const split = amountSplitBySign(price);
  if (split !== null) return split;
  const [first = null] = price.amounts;
  if (single.test(price.shape)) return first;
  if (!repeated.test(price.shape)) return null;
  const isSame = price.amounts.every((amount) => amount === first);
  return isSame ? first : null;
}

/** Returns the lower end of a range: "$45.99 - $60.00". */
function lowerEnd({ shape, amounts }: PriceText): number | null {
  if (!range.test(shape)) return null;
  const [first = null, second = null] = amounts;
  if (first === null || second === null) return null;
  return first <= second ? first : null;
}

/**
 * Returns the lowest amount that a price text states, in currency units: of a single price, by
 * the rules of shownAmount(), or the lower end of a range ("$45.99 - $60.00" is 45.99). "Free" is
 * 0. Null for another currency than `currency`, which defaults to the text's currency.
 */
export function priceAmount(text: string, currency: string | null = null): number | null {
  if (/^\s*free!?\s*$/i.test(text)) return 0;
  const price = parsePrice(text, currency ?? priceCurrency(text, null));
  return price && (singleAmount(price) ?? lowerEnd(price));
}

/**
 * Returns the amount of a text that shows one price, in the format of its currency: "1.234,56 €",
 * "￥16,800", "1 234,50". `home` is the currency of the shop, for texts and symbols that do not tell
 * theirs. Null unless the whole text can be read in one way only: for unknown words, ranges,
 * several prices, instalments, discounts, unit prices, abbreviations ("Rp7,59jt"), masked amounts
 * ("$2?"), and more decimals than the currency has.
 */
export function shownAmount(text: string, home: string | null = null): number | null {
  const currency = priceCurrency(text, home);
  if (currency === null && home !== null) return null;
  const price = parsePrice(text, currency);
  return price && singleAmount(price);
}

/**
 * Returns a number rounded to the decimals of a currency, also if it is the result of inexact
 * arithmetic.
 */
function roundAmount(amount: number, { decimals }: AmountFormat): number {
  return Number(amount.toFixed(decimals));
}

/** Returns an amount, and the rounded amount if the currency has fewer decimals. */
function withRounded(amount: number, format: AmountFormat): number[] {
  const rounded = roundAmount(amount, format);
  return Math.abs(rounded - amount) < 1e-6 ? [rounded] : [amount, rounded];
}

/** Returns the amounts that digits with three decimals can mean, which may be thousands. */
function threeDecimals({ integer, fraction }: DecimalDigits, format: AmountFormat): number[] {
  const amount = Number(`${integer}.${fraction}`);
  const isGroup = /^[1-9]\d{0,2}$/.test(integer);
  if (format.decimals === 3 || !isGroup) return withRounded(amount, format);
  const thousands = Number(integer + fraction);
  if (format.decimals === 0) return [thousands];
  return [...withRounded(amount, format), thousands];
}

/** Three digits after a separator, beside a currency. */
const digitsBesideCurrency =
  /^(?:\p{Sc}|[A-Z]{3})?\s?(?<integer>\d{1,3})[.,](?<fraction>\d{3})\s?(?:\p{Sc}|[A-Z]{3})?$/u;

/** Returns the amounts that digits beside a currency can mean: "1,299 €" is 1.299 or 1,299. */
function amountsBesideCurrency(written: string, currency: string | null): number[] {
  const ownCurrency = priceCurrency(written, currency);
  if (currency !== null && ownCurrency !== currency) return [];
  const digits = digitsBesideCurrency.exec(written)?.groups as DecimalDigits | undefined;
  if (digits === undefined) return [];
  return threeDecimals(digits, amountFormat(ownCurrency)).filter((amount) => amount > 0);
}

/**
 * Returns the amounts that a price in data can mean: a number, or text in which a point separates
 * decimals. None for a value without a price; several for one that breaks the rule of the format,
 * such as three decimals in a currency with two ("12.500" is 12.5 or 12,500), or more decimals than
 * the currency has. In currencies without decimals, a point separates thousands. Other text is read
 * by the rules of priceAmount().
 */
export function datumAmounts(value: Json | undefined, currency: string | null): number[] {
  const format = amountFormat(currency);
  if (typeof value === 'number') {
    const isPrice = value > 0 && value <= Number.MAX_SAFE_INTEGER;
    return isPrice ? withRounded(value, format) : [];
  }
  if (typeof value !== 'string') return [];
  const written = value.trim();
  const decimal = parseDecimal(written, format);
  if (decimal === null) return amountsOfText(written, currency);
  return decimalAmounts(decimal, format).filter((amount) => amount > 0);
}

/** Returns the amounts that a number in data can mean. */
function decimalAmounts(digits: DecimalDigits, format: AmountFormat): number[] {
  if (digits.fraction.length === 3) return threeDecimals(digits, format);
  return withRounded(Number(`${digits.integer}.${digits.fraction}`), format);
}

/** Digits of a number in data, before and after its separator. */
interface DecimalDigits {
  integer: string;
  fraction: string;
}

/**
 * Parses a number in data. A comma is a separator only if it can separate thousands. Null for any
 * other text.
 */
function parseDecimal(written: string, format: AmountFormat): DecimalDigits | null {
  const [, integer, separator, fraction = '0'] =
    /^(\d{1,15})(?:([.,])(\d{1,20}))?$/.exec(written) ?? [];
  if (integer === undefined) return null;
  const canGroup = fraction.length === 3 && format.point !== '.';
  return separator === ',' && !canGroup ? null : { integer, fraction };
}

/** Returns the amounts that a text which is not only a number can mean. */
function amountsOfText(written: string, currency: string | null): number[] {
  const amount = priceAmount(written, currency);
  if (amount === null) return amountsBesideCurrency(written, currency);
  return amount > 0 ? [amount] : [];
}

/**
 * Returns the amount of a price in data by the rules of datumAmounts(). A value that can be read in
 * several ways is the one in `pageAmounts`, which are other amounts of the page; otherwise null.
 */
export function datumAmount(
  value: Json | undefined,
  currency: string | null,
  pageAmounts: readonly number[] = [],
): number | null {
  const amounts = datumAmounts(value, currency);
  if (amounts.length === 1) return amounts[0]!;
  const confirmed = amounts.filter((amount) => pageAmounts.includes(amount));
  return confirmed.length === 1 ? confirmed[0]! : null;
}
