/** Currency codes of ISO 4217. */
const codes: ReadonlySet<string> = new Set(Intl.supportedValuesOf('currency'));

/** Symbols and abbreviations of one currency each. */
const signs: Readonly<Record<string, string>> = {
  US$: 'USD',
  CDN$: 'CAD',
  CA$: 'CAD',
  AU$: 'AUD',
  NZ$: 'NZD',
  HK$: 'HKD',
  NT$: 'TWD',
  MX$: 'MXN',
  S$: 'SGD',
  C$: 'CAD',
  A$: 'AUD',
  R$: 'BRL',
  '€': 'EUR',
  '£': 'GBP',
  円: 'JPY',
  '₹': 'INR',
  '₩': 'KRW',
  '₫': 'VND',
  đ: 'VND',
  원: 'KRW',
  euro: 'EUR',
  lei: 'RON',
  Lei: 'RON',
  LEI: 'RON',
  лв: 'BGN',
  '฿': 'THB',
  '₱': 'PHP',
  '₺': 'TRY',
  TL: 'TRY',
  '₪': 'ILS',
  '₽': 'RUB',
  Р: 'RUB',
  р: 'RUB',
  руб: 'RUB',
  '₴': 'UAH',
  грн: 'UAH',
  zł: 'PLN',
  Kč: 'CZK',
  Ft: 'HUF',
  Rp: 'IDR',
  RM: 'MYR',
  KD: 'KWD',
  BD: 'BHD',
  JD: 'JOD',
  DT: 'TND',
};

/** Abbreviations of several currencies, which tell nothing about the currency. */
const sharedSigns: ReadonlySet<string> = new Set(['kr', 'Rs', 'RS']);
const dollars: readonly string[] = ['USD', 'CAD', 'AUD', 'SGD', 'NZD', 'HKD', 'TWD', 'MXN'];

/** Words beside a price that do not change its amount, in lower case. */
const labels: ReadonlySet<string> = new Set(
  `price prices our your now only was list typical recommended retail rrp msrp sale deal estimate estimated
  each ea vat gst tax inc incl included including preis nur statt uvp mwst inkl prix conseillé ttc prezzo
  iva inclusa consigliato precio recomendado pvp incluido preço prijs adviesprijs pris moms cena ceny brutto
  běžná bežná naše naša dph harga termasuk ppn giá ราคา цена fiyat 価格 参考価格 税込`.split(/\s+/),
);
/** Words before the lowest of several prices, in lower case. */
const fromWords: ReadonlySet<string> = new Set(
  'from ab a à partir partire de da dari desde vanaf från od mulai từ от'.split(' '),
);
/** Separators of the ends of a range: dashes and words. */
const rangeWords: ReadonlySet<string> = new Set(
  '- – — ~ 〜 ～ to bis à a do до hingga sampai đến'.split(' '),
);

/** Longest text that is read as a price. */
const maxLength = 200;

const tokenPattern = new RegExp(
  [
    /(?<percent>[-–−]?\s?\d+(?:[.,]\d+)?\s?%)/u,
    /(?<number>[.,]?\d+(?:(?:[.,'’]\s?|\s)?\d+)*)/u,
    /(?<currency>(?<!\p{L})(?:US|CDN|CA|AU|NZ|HK|NT|MX|[SCAR])\$|\p{Sc}|円)/u,
    /(?<word>[\p{L}\p{M}]+)/u,
    /(?<space>\s+)/u,
    /(?<other>.)/u,
  ]
    .map(({ source }) => source)
    .join('|'),
  'gu',
);

type TokenType = 'number' | 'percent' | 'currency' | 'word' | 'other';

interface Token {
  type: TokenType;
  text: string;
  /** True after white space, and at the start. */
  spaced: boolean;
}

/** Splits a text into tokens. Empty for a text that is too long to be a price. */
function tokensOf(text: string): Token[] {
  if (text.length > maxLength) return [];
  const narrow = text
    .trim()
    .replace(/[０-９．，]/g, (wide) => String.fromCharCode(wide.charCodeAt(0) - 0xfee0))
    .replaceAll('￥', '¥')
    // A dash instead of decimals: "50,-".
    .replace(/(\d)[.,]\s?[-–—]{1,2}(?!\s?\d)/g, '$1');
  const tokens: Token[] = [];
  let spaced = true;
  for (const { groups = {}, 0: found } of narrow.matchAll(tokenPattern)) {
    const type = Object.keys(groups).find((name) => groups[name] !== undefined);
    if (type !== 'space') {
      const isSign = type === 'currency' || (type === 'word' && isCurrencyWord(found));
      tokens.push({ type: isSign ? 'currency' : (type as TokenType), text: found, spaced });
    }
    spaced = type === 'space';
  }
  return tokens;
}

function isCurrencyWord(word: string): boolean {
  return codes.has(word) || Object.hasOwn(signs, word) || sharedSigns.has(word);
}

/**
 * Returns the currency of a token. A shared symbol is resolved with `home`. Null for words and codes without
 * one.
 */
function currencyOf(sign: string, home: string | null): string | null {
  if (Object.hasOwn(signs, sign)) return signs[sign]!;
  if (sign === '¥') return home === 'CNY' ? 'CNY' : 'JPY';
  if (sign === '$') return home !== null && dollars.includes(home) ? home : 'USD';
  return codes.has(sign) ? sign : null;
}

/**
 * Returns the ISO code of a price text's currency: a code beside the digits ("TWD 436.12"), a symbol of one
 * currency ("52,41 €", "S$12.30"), or a shared symbol ("$", "￥"), which is resolved with the store's currency
 * `home`. Returns `home` without any of these.
 */
export function priceCurrency(text: string, home: string | null): string | null {
  const tokens = tokensOf(text);
  const besideDigits = tokens.filter(
    ({ type, text: code }, at) =>
      type === 'currency' &&
      codes.has(code) &&
      [tokens[at - 1], tokens[at + 1]].some((near) => near?.type === 'number' || near?.type === 'currency'),
  );
  const marks = [
    ...besideDigits,
    ...tokens.filter(({ type, text: sign }) => type === 'currency' && !codes.has(sign)),
  ];
  const named = marks.map(({ text: sign }) => currencyOf(sign, home)).find((code) => code !== null);
  return named ?? home;
}

/** Returns the number of decimals of a currency; 2 for an unknown one. */
function decimalsOf(currency: string | null): number {
  if (currency === null || !codes.has(currency)) return 2;
  return (
    new Intl.NumberFormat('en', { style: 'currency', currency }).resolvedOptions().maximumFractionDigits ?? 2
  );
}

/**
 * Returns a whole part without its separators, or null unless they separate thousands (or lakhs, by commas).
 */
function wholeOf(digits: string): string | null {
  const isGrouped =
    /^\d+$/.test(digits) ||
    /^[1-9]\d{0,2}(?:([.,'’ ])\d{3})(?:\1\d{3})*$/.test(digits) ||
    /^[1-9]\d?(?:,\d{2})+,\d{3}$/.test(digits);
  return isGrouped ? digits.replace(/\D/g, '') : null;
}

/**
 * Returns true if a single separator, followed by these digits, separates decimals. Null if both are
 * possible.
 */
function isDecimalPoint(
  whole: string,
  point: string,
  fraction: string,
  currency: string | null,
): boolean | null {
  const decimals = decimalsOf(currency);
  if (fraction.length !== 3) return true;
  if (/^0+$/.test(whole)) return true;
  if (whole.length > 3 || whole.startsWith('0')) return decimals === 3 ? true : null;
  if (decimals === 3) return point === '.' ? true : null;
  return false;
}

/**
 * Returns the value of a number in any locale's format. Null if it has none, or more than one is possible.
 */
function amountOf(written: string, currency: string | null): number | null {
  const digits = written.replace(/([.,])\s(?=\d{2}$)/, '$1').replace(/\s/g, ' ');
  if (/[.,'’]\s/.test(digits)) return null;
  const bare = /^[.,](\d{1,2})$/.exec(digits);
  if (bare) return decimalsOf(currency) === 0 ? null : Number(`0.${bare[1]}`);
  const split = /^(.*\d)([.,])(\d+)$/.exec(digits);
  if (!split) return numberOf(wholeOf(digits), '');
  const [, whole = '', point = '', fraction = ''] = split;
  const others = whole.replace(/\d/g, '');
  if (others.includes(point)) return numberOf(wholeOf(digits), '');
  if (others !== '') return fractionOf(wholeOf(whole), fraction, currency);
  const isPoint = isDecimalPoint(whole, point, fraction, currency);
  if (isPoint === null) return null;
  if (!isPoint) return numberOf(wholeOf(digits), '');
  return fractionOf(whole, fraction, currency);
}

function fractionOf(whole: string | null, fraction: string, currency: string | null): number | null {
  return decimalsOf(currency) === 0 && /[1-9]/.test(fraction) ? null : numberOf(whole, fraction);
}

function numberOf(whole: string | null, fraction: string): number | null {
  if (whole === null) return null;
  const value = Number(`${whole}.${fraction}0`);
  return Number.isSafeInteger(Math.trunc(value)) ? value : null;
}

/** Returns the letter of a token in the shape of a price text; "x" for a token that no price text has. */
function letterOf({ type, text, spaced }: Token, at: number, tokens: readonly Token[]): string {
  if (type === 'number') return 'n';
  if (type === 'percent') return 'p';
  if (type === 'currency') return 'c';
  const word = text.toLowerCase();
  if (rangeWords.has(word) && tokens[at - 1]?.type !== 'word' && at > 0) return '-';
  if (type === 'other') return '.:/()*|!'.includes(text) ? text : 'x';
  const next = tokens[at + 1];
  // "A4" is no price.
  if (fromWords.has(word)) return next?.type === 'number' && !next.spaced ? 'x' : 'w';
  return spaced || tokens[at - 1]?.type !== 'number' ? (labels.has(word) ? 'w' : 'x') : 'x';
}

/** An amount with its currency before or after it; a code can stand beside a symbol ("NZD $100.70"). */
const oneAmount = 'c{0,2}:?nc?';
/** Labels, and a percentage in parentheses, after an amount. */
const tail = '(?:[w.:/()!]|\\(p\\))*\\*{0,2}';
const single = new RegExp(`^[w.:(]*${oneAmount}${tail}$`);
const range = new RegExp(`^[w.:]*${oneAmount}-${oneAmount}${tail}$`);
// Between two amounts, a currency belongs to either: only one way of reading it keeps this linear.
const repeated = new RegExp(`^[w.:]*c{0,2}:?n(?:(?:c{0,3}|c?[|/]c{0,2}):?n)*c?[|/]?${tail}$`);

/**
 * Returns the amount of a price whose currency stands for the decimal point: "35€ 99". Null for another text.
 */
function splitByCurrency(shape: string, tokens: readonly Token[], currency: string | null): number | null {
  const [whole, , cents] = tokens;
  const isSplit = shape === 'ncn' && /^\d\d$/.test(cents!.text) && !tokens[1]!.spaced;
  return isSplit && decimalsOf(currency) === 2 ? numberOf(wholeOf(whole!.text), cents!.text) : null;
}

/**
 * Returns true if asterisks in the text can hide digits: "$2*". A footnote follows the currency or the cents.
 */
function isMasked(shape: string, tokens: readonly Token[], currency: string | null): boolean {
  const star = shape.indexOf('*');
  const before = tokens[star - 1];
  if (before?.type !== 'number') return false;
  return decimalsOf(currency) !== 2 || !/[.,]\d\d$/.test(before.text);
}

/**
 * Returns the amount of a price text in currency units, in any locale's format: "1.234,56 €", "￥16,800", "1
 * 234,50", "$45.99 - $60.00" (45.99). A single separator before exactly three digits separates thousands,
 * unless the currency has three decimals. "Free" is 0. Null unless the whole text can be read in one way
 * only: for unknown words, several prices, discounts, unit prices, masked amounts ("$2?"), decimals that the
 * currency does not have, and for another currency than `currency`, which defaults to the text's currency.
 */
export function priceAmount(text: string, currency: string | null = null): number | null {
  if (/^\s*free!?\s*$/i.test(text)) return 0;
  const expected = currency ?? priceCurrency(text, null);
  const tokens = tokensOf(text);
  const isOther = ({ type, text: sign }: Token) =>
    type === 'currency' && (currencyOf(sign, expected) ?? expected) !== expected;
  if (tokens.some(isOther)) return null;
  const shape = tokens.map(letterOf).join('');
  if (isMasked(shape, tokens, expected)) return null;
  const split = splitByCurrency(shape, tokens, expected);
  if (split !== null) return split;
  const [first = null, ...others] = tokens
    .filter(({ type }) => type === 'number')
    .map(({ text: digits }) => amountOf(digits, expected));
  if (first === null) return null;
  if (single.test(shape)) return first;
  if (range.test(shape)) return others[0] != null && first <= others[0] ? first : null;
  return repeated.test(shape) && others.every((other) => other === first) ? first : null;
}

/** Characters that stand for hidden digits, or after which a price is that of a unit or a period. */
const notOwnPrice = /[?•●×/%]|\bper\b|\bpro\b/i;

/**
 * Returns the amount of a text that is known to be a price: as priceAmount(), otherwise that of its only
 * number, whatever words are around it ("Prezzo SVB: 19,95 €", "1 Lek"). Null for several numbers, masked
 * amounts, discounts, and prices per unit.
 */
export function shownAmount(text: string, currency: string | null = null): number | null {
  const amount = priceAmount(text) ?? priceAmount(text, currency);
  if (amount !== null || notOwnPrice.test(text)) return amount;
  const tokens = tokensOf(text);
  const [at, ...others] = tokens.keys().filter((index) => tokens[index]!.type === 'number');
  const before = at === undefined ? undefined : tokens[at - 1];
  // "A4" is no price, and a minus is a discount.
  const isGlued = before?.type === 'word' && !tokens[at!]!.spaced;
  if (at === undefined || others.length > 0 || isGlued || /^[-–−*]$/.test(before?.text ?? '')) return null;
  if (tokens[at + 1]?.text === '*' || tokens.some(({ type }) => type === 'percent')) return null;
  return amountOf(tokens[at]!.text, priceCurrency(text, currency));
}
