/** Currency codes of ISO 4217. */
const codes: ReadonlySet<string> = new Set(Intl.supportedValuesOf('currency'));

/** Symbols of one currency each, longer ones first. */
const signs: readonly (readonly [string, string])[] = [
  ['US$', 'USD'],
  ['CDN$', 'CAD'],
  ['CA$', 'CAD'],
  ['AU$', 'AUD'],
  ['NZ$', 'NZD'],
  ['HK$', 'HKD'],
  ['NT$', 'TWD'],
  ['MX$', 'MXN'],
  ['S$', 'SGD'],
  ['C$', 'CAD'],
  ['A$', 'AUD'],
  ['R$', 'BRL'],
  ['€', 'EUR'],
  ['£', 'GBP'],
  ['円', 'JPY'],
  ['₹', 'INR'],
  ['₩', 'KRW'],
  ['₫', 'VND'],
  ['฿', 'THB'],
  ['₱', 'PHP'],
  ['₺', 'TRY'],
  ['₪', 'ILS'],
  ['zł', 'PLN'],
  ['Rp', 'IDR'],
  ['RM', 'MYR'],
];

const dollars: readonly string[] = ['USD', 'CAD', 'AUD', 'SGD', 'NZD', 'HKD', 'TWD', 'MXN'];
const thousandths: ReadonlySet<string> = new Set(['BHD', 'IQD', 'JOD', 'KWD', 'LYD', 'OMR', 'TND']);

/**
 * Returns the ISO code of a price text's currency: a code beside the digits ("TWD 436.12"), a symbol of one
 * currency ("52,41 €", "S$12.30"), or a shared symbol ("$", "￥"), which is resolved with the store's currency
 * `home`. Returns `home` without any of these.
 */
export function priceCurrency(text: string, home: string | null): string | null {
  const match = /(?<![A-Za-z])([A-Z]{3})[\s.]?\d|\d[\s.]?([A-Z]{3})(?![A-Za-z])/.exec(text);
  const code = match?.[1] ?? match?.[2];
  if (code !== undefined && codes.has(code)) return code;
  for (const [sign, currency] of signs) if (text.includes(sign)) return currency;
  if (/[¥￥]/.test(text)) return home === 'CNY' ? 'CNY' : 'JPY';
  if (text.includes('$')) return home !== null && dollars.includes(home) ? home : 'USD';
  return home;
}

function plain(digits: string, currency: string | null): string {
  const separators = digits.replace(/\d/g, '');
  if (separators === '') return digits;
  const last = separators.at(-1)!;
  const place = digits.lastIndexOf(last);
  const fraction = digits.length - place - 1;
  const mixed = new Set(separators).size > 1;
  const once = separators.split(last).length === 2;
  const decimals = mixed
    ? once
    : once && (fraction !== 3 || digits.startsWith('0') || thousandths.has(currency ?? ''));
  const whole = (decimals ? digits.slice(0, place) : digits).replace(/[.,]/g, '');
  return decimals ? `${whole}.${digits.slice(place + 1)}` : whole;
}

/**
 * Returns the first amount of a price text in currency units, in any locale's format: "1.234,56 €",
 * "￥16,800", "1 234,50", "$45.99 - $60.00" (45.99). A single separator before exactly three digits separates
 * thousands, unless the currency has three decimals. Null without digits and for masked amounts ("$2?").
 */
export function priceAmount(text: string, currency: string | null = null): number | null {
  const match = /\d{1,3}(?:[\s'’]\d{3})+(?!\d)(?:[.,]\d{1,2}(?!\d))?|\d+(?:[.,]\d+)*/.exec(text);
  if (!match || /[?*]/.test(text[match.index + match[0].length] ?? '')) return null;
  return Number(plain(match[0].replace(/[\s'’]/g, ''), currency));
}
