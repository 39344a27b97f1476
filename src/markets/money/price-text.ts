import { centsMark, numberMark } from '../html/html.ts';
import { anyOf } from '../patterns.ts';
import { type AmountFormat, currencySign } from './currencies.ts';
import {
  buyerGroups,
  fromWords,
  inclusionWords,
  priceLabels,
  rangeWords,
  taxNames,
} from './price-labels.ts';

type TokenType = 'number' | 'percent' | 'currency' | 'word' | 'other';

export interface PriceToken {
  type: TokenType;
  text: string;
  /** True after white space, and at the start. */
  isSpaced: boolean;
}

/** Maximum characters of a text that is read as a price. */
const maxLength = 200;

const tokenPattern = new RegExp(
  [
    /(?<percent>[-–−]?\s?\d+(?:[.,]\d+)?\s?%)/u,
    /(?<number>[.,]?\d+(?:(?:[.,'’]\s?|\s)?\d+)*)/u,
    /(?<currency>(?<!\p{L})(?:(?:US|CDN|CA|AU|NZ|HK|NT|MX|C)\s?|[SAR])\$|(?!¢)\p{Sc}|円|元(?!\p{L})|ر\.س|د\.إ|ج\.م|د\.ك)/u,
    /(?<word>[\p{L}\p{M}]+)/u,
    /(?<space>\s+)/u,
    /(?<other>.)/u,
  ]
    .map(({ source }) => source)
    .join('|'),
  'gu',
);

/** First digits of scripts whose shops write prices with their own digits. */
const zeros = ['٠', '۰', '०', '০', '๐'].map((zero) => zero.charCodeAt(0));

function asciiDigit(digit: string): string {
  const code = digit.charCodeAt(0);
  return String(code - zeros.find((zero) => code >= zero && code <= zero + 9)!);
}

const taxes = [...taxNames].join('|');
const rate = String.raw`\d{1,2}(?:[.,]\d{1,2})?\s?%`;
/** Rate of a tax beside its name: "inkl. 19 % MwSt.", "IVA 21%". */
const taxRate = new RegExp(
  `(?<![\\d.,])${rate}(?=\\s?(?:${taxes})(?!\\p{L}))|(?<=(?:${taxes})\\.?\\s?)${rate}`,
  'giu',
);
/** Words after a price that delivery costs extra. */
const plusDelivery = anyOf(
  ['versand(?:kosten)?', 'shipping', 'delivery', 'postage', 'verzendkosten', 'livraison'],
  {
    flags: 'iu',
    before: '\\s*[,(]?\\s?(?:zzgl\\.?|zuzüglich|exkl\\.?|excl\\.?|plus|\\+|hors)\\s',
    after: '\\)?$',
  },
);

/**
 * Rewrites spellings that do not change a price: wide characters, dashes for decimals, points in a
 * sign.
 */
function plainSpelling(text: string): string {
  return (
    text
      .trim()
      .replace(/[\u200b\u200e\u200f\u202a-\u202e\u2066-\u2069\ufeff]/g, '')
      .replace(/[！-～]/g, (wide) => String.fromCharCode(wide.charCodeAt(0) - 0xfee0))
      .replace(/[٠-٩۰-۹०-९০-৯๐-๙]/g, asciiDigit)
      .replaceAll('٫', '.')
      .replaceAll('٬', ',')
      .replaceAll('￥', '¥')
      .replace(/(?<!\p{L})L\.E(?!\p{L})\.?/gu, 'LE')
      .replace(/(?<!\p{L})S\/\.?\s?(?=\d)/gu, 'PEN ')
      .replace(/(?<!\p{L})RD\$\s?(?=\d)/gu, 'DOP ')
      // Not the size of a tyre: "R17".
      .replace(/(?<![\p{L}\d])R\s?(?=\d{1,3}(?:[ ,]?\d{3})*[.,]\d\d(?!\d))/gu, 'ZAR ')
      .replace(/(?<=\p{L})[.](?=\d)/gu, '. ')
      .replace(/(?<=\d)(?<point>[.,])\s?[-–—]{1,2}(?!\s?\d)/g, '$<point>00')
      .replace(/(?<=\d):[-–—](?!\s?\d)/g, ',00')
      .replace(/(?<=\d)\/-(?!\S)/g, '')
      .replace(taxRate, '')
      .replace(plusDelivery, '')
  );
}

/** Splits a text into tokens. Empty for a text that is too long to be a price. */
export function priceTokens(text: string): PriceToken[] {
  if (text.length > maxLength) return [];
  const tokens: PriceToken[] = [];
  let isSpaced = true;
  for (const { groups = {}, 0: found } of plainSpelling(text).matchAll(tokenPattern)) {
    const type = Object.keys(groups).find((name) => groups[name] !== undefined);
    const previous = tokens.at(-1);
    const isAfterWord = previous?.type === 'currency' && /\p{L}$/u.test(previous.text);
    // "Rs. 500", "12 руб."
    const isAbbreviation = found === '.' && !isSpaced && isAfterWord;
    if (type !== 'space' && !isAbbreviation)
      tokens.push(tokenOf(type as TokenType, found, isSpaced));
    isSpaced = type === 'space';
  }
  return tokens;
}

function tokenOf(type: TokenType, found: string, isSpaced: boolean): PriceToken {
  const text = type === 'currency' ? found.replace(/\s/g, '') : found;
  const isSign = (type === 'currency' || type === 'word') && currencySign(text) !== undefined;
  if (isSign) return { type: 'currency', text, isSpaced };
  return { type: type === 'currency' ? 'other' : type, text, isSpaced };
}

/** Returns true for the name of a shop in its own label: "Prezzo SVB:". */
function isShopName(index: number, tokens: readonly PriceToken[]): boolean {
  const { text } = tokens[index]!;
  const label = tokens[index - 1];
  if (label?.type !== 'word' || tokens[index + 1]?.text !== ':') return false;
  if (!/^\p{Lu}{2,5}$/u.test(text) || buyerGroups.has(text.toLowerCase())) return false;
  return priceLabels.has(label.text.toLowerCase());
}

function wordLetter(token: PriceToken, index: number, tokens: readonly PriceToken[]): string {
  const word = token.text.toLowerCase();
  if (fromWords.has(word)) {
    const next = tokens[index + 1];
    // "A4" is not a price.
    const isName = next?.type === 'number' && !next.isSpaced && /\p{ASCII}/u.test(word);
    return isName ? 'x' : 'w';
  }
  const isUnit = !token.isSpaced && tokens[index - 1]?.type === 'number';
  if (isUnit) return 'x';
  if (taxNames.has(word)) return 't';
  if (inclusionWords.has(word)) return 'i';
  return priceLabels.has(word) || isShopName(index, tokens) ? 'w' : 'x';
}

/**
 * Returns the letter of a token in the shape of a price text; "x" for a token that no price text
 * has.
 */
function letterOf(token: PriceToken, index: number, tokens: readonly PriceToken[]): string {
  const { type, text } = token;
  if (type === 'number') return 'n';
  if (type === 'percent') return 'p';
  if (type === 'currency') return 'c';
  const isInside = index > 0 && tokens[index - 1]?.type !== 'word';
  if (isInside && rangeWords.has(text.toLowerCase())) return '-';
  if (type === 'other') return '.:/()*|!'.includes(text) ? text : 'x';
  return wordLetter(token, index, tokens);
}

/**
 * Returns the shape of a price text, one letter per token: n number, p percentage, c currency, w
 * label, "-" between the ends of a range, x anything else, and punctuation as it is. Null for the
 * amount of a tax.
 */
export function priceShape(tokens: readonly PriceToken[]): string | null {
  const shape = tokens.map(letterOf).join('');
  if (shape.includes('t') && !shape.includes('i')) return null;
  return shape.replace(/[it]/g, 'w');
}

/**
 * Returns the digits of a integer part without its separators, or null unless they separate
 * thousands (or lakhs, by commas).
 */
function wholeDigits(written: string): string | null {
  const isInteger = integerForms.some((form) => form.test(written));
  return isInteger ? written.replace(/\D/g, '') : null;
}

/** Integers without separators, with thousands ("1.234.567"), and with lakhs ("12,34,567"). */
const integerForms: readonly RegExp[] = [
  /^\d+$/,
  /^[1-9]\d{0,2}(?:([.,'’ ])\d{3})(?:\1\d{3})*$/,
  /^[1-9]\d?(?:,\d{2})+,\d{3}$/,
];

function joinParts(integer: string, fraction: string): number | null {
  const digits = wholeDigits(integer);
  if (digits === null) return null;
  const value = Number(`${digits}.${fraction}0`);
  return Number.isSafeInteger(Math.trunc(value)) ? value : null;
}

/**
 * Returns the amount of an integer part and its decimals. Null for more decimals than the currency
 * has.
 */
export function decimalAmount(
  integer: string,
  fraction: string,
  { decimals }: AmountFormat,
): number | null {
  if (decimals === 0 && !/^0{1,2}$/.test(fraction)) return null;
  if (decimals > 0 && fraction.length > decimals) return null;
  return joinParts(integer, fraction);
}

/**
 * Returns the amount of digits with one separator before the last three: thousands if the currency
 * is written so. Null if the separator could be that of decimals.
 */
function groupedAmount(
  written: string,
  separator: string,
  format: AmountFormat,
  isAfterSign: boolean,
): number | null {
  const { decimals, point, currency } = format;
  if (decimals === 0) return joinParts(written, '');
  if (decimals === 3) return separator === '.' ? Number(written) : null;
  if (point === null) return null;
  // Shops in English write "€1,299"; those in other languages write the sign after the amount or a
  // space.
  const isEnglish = currency === 'EUR' && separator === ',' && isAfterSign;
  if (point === separator && !isEnglish) return null;
  return joinParts(written, '');
}

/**
 * Returns the amount of a number in the format of its currency. Null for an ambiguous or invalid
 * number.
 */
export function writtenAmount(
  written: string,
  format: AmountFormat,
  isAfterSign = false,
): number | null {
  const digits = written.replace(/([.,])\s(?=\d{2}$)/, '$1').replace(/\s/g, ' ');
  if (/[.,'’]\s/.test(digits)) return null;
  const cents = /^[.,](\d{1,2})$/.exec(digits);
  if (cents) return decimalAmount('0', cents[1]!, format);
  const parts = /^(.*\d)([.,])(\d+)$/.exec(digits);
  if (parts === null) return joinParts(digits, '');
  const [, integer = '', separator = '', fraction = ''] = parts;
  const otherSeparators = integer.replace(/\d/g, '');
  if (otherSeparators.includes(separator)) return joinParts(digits, '');
  const isGrouped =
    fraction.length === 3 && otherSeparators === '' && /^[1-9]\d{0,2}$/.test(integer);
  if (isGrouped) return groupedAmount(digits, separator, format, isAfterSign);
  return decimalAmount(integer, fraction, format);
}

/** An integer amount, and the digits of the next element. */
const markedAmount = new RegExp(
  `(?<![\\d.,'’${centsMark}])(\\d[\\d.,'’\\s]*?)\\s?${centsMark}\\s?(\\d{2,3})(?![\\d${centsMark}]|[.,]\\d)`,
  'u',
);

/**
 * Returns a price text with cents in an element of their own as decimals: "$54", "85" is "$54.85".
 * Null if the digits of its elements are not those of one amount.
 */
export function spellCents(text: string, { decimals }: AmountFormat): string | null {
  if (text.includes(numberMark)) return null;
  if (!text.includes(centsMark)) return text;
  if (text.length > maxLength) return null;
  const [marked, integer = '', cents = ''] = markedAmount.exec(text) ?? [];
  const isWhole = wholeDigits(integer.trim().replace(/\s/g, ' ')) !== null;
  const length = decimals === 3 ? 3 : 2;
  if (marked === undefined || !isWhole || cents.length !== length) return null;
  const point = integer.includes('.') ? ',' : '.';
  const spelled = text.replace(marked, () => `${integer.trim()}${point}${cents}`);
  return spelled.includes(centsMark) ? null : spelled;
}
