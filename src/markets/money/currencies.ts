/* cspell:disable */
/** Currency codes of ISO 4217, and those that are words in the labels of prices. */
const codes: ReadonlySet<string> = new Set(
  Intl.supportedValuesOf('currency').filter((code) => !['XXX', 'XTS'].includes(code)),
);
const wordCodes: ReadonlySet<string> = new Set(['SOS', 'TOP']);

/**
 * Currencies of a symbol or word. Without a home currency it stands for the first one, unless
 * shared.
 */
interface CurrencySign {
  currencies: readonly string[];
  /** True if the symbol alone does not identify the currency. */
  isShared?: true;
}

const dollars: CurrencySign = {
  currencies: [
    'USD',
    'CAD',
    'AUD',
    'SGD',
    'NZD',
    'HKD',
    'TWD',
    'MXN',
    'ARS',
    'CLP',
    'COP',
    'UYU',
    'DOP',
    'JMD',
    'TTD',
    'BBD',
    'BSD',
    'BZD',
    'FJD',
    'BND',
    'NAD',
    'GYD',
  ],
  isShared: true,
};
const crowns: CurrencySign = { currencies: ['SEK', 'NOK', 'DKK', 'ISK'], isShared: true };
const rupees: CurrencySign = {
  currencies: ['INR', 'PKR', 'LKR', 'NPR', 'MUR', 'SCR'],
  isShared: true,
};
const yuan: CurrencySign = { currencies: ['CNY', 'TWD', 'HKD', 'MOP'], isShared: true };
const riyals: CurrencySign = { currencies: ['SAR', 'QAR', 'OMR', 'YER'], isShared: true };
const dirhams: CurrencySign = { currencies: ['AED', 'MAD'], isShared: true };
const pounds: CurrencySign = { currencies: ['EGP', 'LBP', 'SYP', 'SDG'], isShared: true };
const roubles: CurrencySign = { currencies: ['RUB', 'BYN'], isShared: true };
const one = (currency: string): CurrencySign => ({ currencies: [currency] });

/** Symbols and abbreviations of currencies. */
const signs: ReadonlyMap<string, CurrencySign> = new Map([
  ['$', dollars],
  ['¥', { currencies: ['JPY', 'CNY'], isShared: true }],
  ['£', { currencies: ['GBP', 'GIP', 'FKP', 'SHP'] }],
  ['US$', one('USD')],
  ['CDN$', one('CAD')],
  ['CA$', one('CAD')],
  ['C$', { currencies: ['CAD', 'NIO'], isShared: true }],
  ['AU$', one('AUD')],
  ['A$', one('AUD')],
  ['NZ$', one('NZD')],
  ['HK$', one('HKD')],
  ['NT$', one('TWD')],
  ['MX$', one('MXN')],
  ['S$', one('SGD')],
  ['R$', one('BRL')],
  ['€', one('EUR')],
  ['₹', one('INR')],
  ['₩', one('KRW')],
  ['₫', one('VND')],
  ['฿', one('THB')],
  ['₱', one('PHP')],
  ['₺', one('TRY')],
  ['₪', one('ILS')],
  ['₽', one('RUB')],
  ['₴', one('UAH')],
  ['₸', one('KZT')],
  ['₼', one('AZN')],
  ['₾', one('GEL')],
  ['₮', one('MNT')],
  ['៛', one('KHR')],
  ['₭', one('LAK')],
  ['₦', one('NGN')],
  ['₵', one('GHS')],
  ['₡', one('CRC')],
  ['₲', one('PYG')],
  ['৳', one('BDT')],
  ['円', one('JPY')],
  ['元', yuan],
  ['원', one('KRW')],
  ['ر.س', one('SAR')],
  ['د.إ', one('AED')],
  ['ج.م', one('EGP')],
  ['LE', one('EGP')],
  ['د.ك', one('KWD')],
  ['﷼', { currencies: [...riyals.currencies, 'IRR'], isShared: true }],
]);

/** Words that stand for currencies, in lower case. */
const currencyWords: ReadonlyMap<string, CurrencySign> = new Map([
  ['dollar', dollars],
  ['dollars', dollars],
  ['kr', crowns],
  ['rs', rupees],
  ['euro', one('EUR')],
  ['euros', one('EUR')],
  ['eur', one('EUR')],
  ['usd', one('USD')],
  ['gbp', one('GBP')],
  ['yen', one('JPY')],
  ['đ', one('VND')],
  ['đồng', one('VND')],
  ['vnđ', one('VND')],
  ['lei', { currencies: ['RON', 'MDL'], isShared: true }],
  ['lek', one('ALL')],
  ['лв', one('BGN')],
  ['tl', one('TRY')],
  ['rmb', one('CNY')],
  ['ntd', one('TWD')],
  ['р', roubles],
  ['руб', roubles],
  ['рублей', roubles],
  ['грн', one('UAH')],
  ['тг', one('KZT')],
  ['zł', one('PLN')],
  ['kč', one('CZK')],
  ['ft', one('HUF')],
  ['rp', one('IDR')],
  ['rupiah', one('IDR')],
  ['rm', one('MYR')],
  ['ringgit', one('MYR')],
  ['php', one('PHP')],
  ['บาท', one('THB')],
  ['dhs', one('AED')],
  ['dh', dirhams],
  ['bs', { currencies: ['VES', 'BOB'], isShared: true }],
  ['gs', one('PYG')],
  ['ksh', one('KES')],
  ['ден', one('MKD')],
  ['درهم', dirhams],
  ['ريال', riyals],
  ['جنيه', pounds],
  ['रुपये', one('INR')],
  ['रु', one('INR')],
  ['kd', one('KWD')],
  ['bd', one('BHD')],
  ['jd', one('JOD')],
  ['dt', one('TND')],
]);
/* cspell:enable */

/**
 * Currencies of countries that write decimals after a comma and group thousands by points or
 * spaces. In the others, thousands are grouped by commas.
 */
const commaCurrencies: ReadonlySet<string> = new Set([
  'EUR',
  'PLN',
  'CZK',
  'HUF',
  'RON',
  'BGN',
  'RSD',
  'BAM',
  'MKD',
  'ALL',
  'UAH',
  'RUB',
  'BYN',
  'KZT',
  'SEK',
  'NOK',
  'DKK',
  'ISK',
  'TRY',
  'BRL',
  'ARS',
  'CLP',
  'COP',
  'UYU',
  'PYG',
  'CRC',
  'VES',
  'IDR',
  'VND',
  'MAD',
  'AZN',
  'GEL',
]);

/** Returns the currencies that a code, symbol or word can stand for. Undefined if it names none. */
export function currencySign(text: string): CurrencySign | undefined {
  if (codes.has(text) && !wordCodes.has(text)) return one(text);
  return signs.get(text) ?? currencyWords.get(text.toLowerCase());
}

/** Returns true if a text is a code of ISO 4217. */
export function isCurrencyCode(text: string): boolean {
  return codes.has(text);
}

/**
 * Returns the currency of a symbol in a store with the currency `home`. Null if the symbol is
 * shared.
 */
export function resolveSign(
  { currencies, isShared }: CurrencySign,
  home: string | null,
): string | null {
  if (home !== null && currencies.includes(home)) return home;
  return isShared ? null : currencies[0]!;
}

/** How the amounts of a currency are written. */
export interface AmountFormat {
  /** Number of decimals. Unknown currencies have 2. */
  decimals: number;
  /** Character before decimals where the currency is used. Null for an unknown currency. */
  point: '.' | ',' | null;
  currency: string | null;
}

const decimalsByCode = new Map<string, number>();

/** Returns the number of decimals of a currency by its code of three letters. */
function decimalsOf(code: string): number {
  const cached = decimalsByCode.get(code);
  if (cached !== undefined) return cached;
  const style = new Intl.NumberFormat('en', { style: 'currency', currency: code });
  const decimals = style.resolvedOptions().maximumFractionDigits ?? 2;
  decimalsByCode.set(code, decimals);
  return decimals;
}

/**
 * Returns the format of a currency. Currencies of a shared symbol have the format of its first one.
 */
export function amountFormat(currency: string | null, shared?: CurrencySign): AmountFormat {
  const code = currency ?? shared?.currencies[0] ?? null;
  if (code === null || !/^[A-Z]{3}$/.test(code))
    return { decimals: 2, point: null, currency: null };
  return {
    decimals: decimalsOf(code),
    point: commaCurrencies.has(code) ? ',' : '.',
    currency: code,
  };
}
