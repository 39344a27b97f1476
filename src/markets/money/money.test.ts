import { describe, expect, it } from 'vitest';
import { priceAmount, priceCurrency, shownAmount } from './money.ts';

/** How locales write the thousands and decimals of 1234567.89. */
const formats: readonly (readonly [thousands: string, point: string])[] = [
  [',', '.'],
  ['.', ','],
  [' ', ','],
  ['\u00a0', ','],
  ['\u202f', ','],
  ['’', '.'],
  ["'", ','],
  ['', '.'],
  ['', ','],
];
const currencies: readonly (readonly [code: string, decimals: number, forms: readonly string[]])[] =
  [
    ['USD', 2, ['$#', '$ #', 'US$#', 'USD #', '# USD']],
    ['EUR', 2, ['€#', '# €', '#€', 'EUR #']],
    ['KWD', 3, ['KWD #', '# KD', 'KD #']],
    ['JPY', 0, ['￥#', '¥#', '#円', 'JPY #']],
    ['VND', 0, ['₫#', '# ₫', '#đ', 'VND #']],
    ['TRY', 2, ['# TL', '₺#']],
  ];
/** Texts around a price that do not change it, then texts that make it doubtful. */
const harmless = [
  '#',
  ' # ',
  'Price: #',
  'from #',
  'ab #',
  '# inkl. MwSt.',
  '(#)',
  '#\n',
  '# (-15%)',
  '# / each',
];
const doubtful = [
  '#?',
  '-#',
  'save #',
  '# off',
  '# / 100 g',
  '# / month',
  '2 for #',
  '# + # shipping',
  '# credits',
  '#k',
  '# jt',
  '#+',
  '#%',
  '3 x #',
  '# with membership',
];

function write(
  value: number,
  decimals: number,
  [thousands, point]: readonly [string, string],
): string {
  const [whole = '', fraction] = value.toFixed(decimals).split('.');
  const grouped = whole.replace(/\B(?=(?:\d{3})+$)/g, thousands);
  return fraction === undefined ? grouped : `${grouped}${point}${fraction}`;
}

/** Every text of the table with its currency and the value that it states. */
function table(values: (decimals: number) => number[]) {
  return currencies.flatMap(([code, decimals, forms]) =>
    formats.flatMap((format) =>
      forms.flatMap((form) =>
        values(decimals).map((value) => ({
          code,
          value,
          text: form.replace('#', () => write(value, decimals, format)),
        })),
      ),
    ),
  );
}

describe('priceAmount over formats, currencies, and noise', () => {
  const rows = table((decimals) => [
    ...[0.5, 5.75, 45.99, 119.95, 1837.32, 16800.05, 1234567.89].map((value) =>
      Number(value.toFixed(decimals)),
    ),
    ...(decimals === 3 ? [0.125, 423.923, 123456.789] : []),
  ]).filter(({ code, text }) => !(code === 'KWD' && /^\D*\d{1,3},\d{3}\D*$/.test(text)));

  it('reads the exact amount, also between harmless words', () => {
    const wrong = rows.flatMap(({ text, value, code }) =>
      harmless
        .map((noise) => noise.replace('#', () => text))
        .filter((noisy) => priceAmount(noisy, code) !== value || priceAmount(noisy) !== value),
    );
    expect(wrong).toEqual([]);
  });

  it('returns null rather than a doubtful amount', () => {
    const read = rows.flatMap(({ text, code }) =>
      doubtful
        .map((noise) => noise.replaceAll('#', () => text))
        .filter((noisy) => priceAmount(noisy, code) !== null),
    );
    expect(read).toEqual([]);
  });

  it('never reads a part of a text: without its last digit, it is another amount or null', () => {
    for (const { text, value, code } of rows) {
      if (!/\d$/.test(text) || value === 0) continue;
      const read = priceAmount(text.slice(0, -1), code);
      expect(read === null || read <= value, text).toBe(true);
    }
  });
});

describe('priceAmount', () => {
  it.each([
    ['.50 €', 0.5],
    ['$.25', 0.25],
    ['7€ 45', 7.45],
    ['$28. 10', 28.1],
    ['2.016, 40 €', 2016.4],
    ['63, 20 TL', 63.2],
    ['$340.00*', 340],
    ['17,20 € *', 17.2],
    ['80,- Kč', 80],
    ['2.450,–', 2450],
    ['NZD $12.50', 12.5],
    ['₹12,34,567.50', 1234567.5],
    ['$9.10$9.10', 9.1],
    ['Free!', 0],
    ['$0.00', 0],
    ['12,5', 12.5],
    ['TWD 436.12', 436.12],
    ['$24.17 - 24.69', 24.17],
    ['5 to 9 €', 5],
    ['25.000 IQD', 25000],
  ])('%j is %d', (text, expected) => expect(priceAmount(text)).toBe(expected));

  it.each([
    '',
    '*',
    'See options',
    '$2?',
    '$2*',
    '₫120*',
    '₫1**.000',
    '25% OFF',
    '25%',
    '$..50',
    '1.2.3',
    '0,125 €',
    '$12.345',
    '12.34.56',
    '1,23.45',
    '1.234.5',
    '$9.00 $7.00',
    'Was: $9.00 Now: $7.00',
    '$9.00 - $7.00',
    '¥16.80',
    'KWD 1,234',
    'A4',
    '12.5k',
    '2½',
    '$0.00 with a trial',
    'USD 5 (SGD 7)',
    '€ 12 USD',
    `$1${' '.repeat(300)}`.padEnd(400, '0'),
  ])('finds no certain amount in %j', (text) => expect(priceAmount(text)).toBeNull());

  it('reads no amount of another currency', () => {
    expect(priceAmount('US$12', 'IDR')).toBeNull();
    expect(priceAmount('12 €', 'USD')).toBeNull();
    expect(priceAmount('$12', 'CAD')).toBe(12);
  });

  it('reads points in rupiah as separators of thousands', () => {
    expect(priceAmount('Rp1.234', 'IDR')).toBe(1234);
    expect(priceAmount('Rp1,234', 'IDR')).toBe(1234);
    expect(priceAmount('IDR 12.500,00', 'IDR')).toBe(12500);
    expect(priceAmount('Rp12.50', 'IDR')).toBeNull();
  });

  it('takes bounded time for a hostile text', () => {
    expect(priceAmount('1 111'.repeat(400_000))).toBeNull();
    expect(priceAmount('1.'.repeat(1_000_000))).toBeNull();
    expect(priceAmount('1 '.repeat(90))).toBeNull();
    expect(priceAmount('w.'.repeat(99))).toBeNull();
  });
});

describe('priceCurrency', () => {
  it.each([
    ['$45.99', 'USD', 'USD'],
    ['$45.99', 'CAD', 'CAD'],
    ['$45.99', 'JPY', null],
    ['$45.99', null, null],
    ['¥128', null, null],
    ['¥128', 'CNY', 'CNY'],
    ['C$45.99', null, null],
    ['45 lei', null, null],
    ['450 руб.', 'BYN', 'BYN'],
    ['RMB 128', null, 'CNY'],
    ['S$12.30', 'SGD', 'SGD'],
    ['US$12.30', 'SGD', 'USD'],
    ['SGD$12.30', null, 'SGD'],
    ['TWD 436.12', 'JPY', 'TWD'],
    ['436.12 PHP', 'USD', 'PHP'],
    ['52,41 €', 'USD', 'EUR'],
    ['£4.45', 'GBP', 'GBP'],
    ['￥16,800', 'JPY', 'JPY'],
    ['1,200円', 'JPY', 'JPY'],
    ['12.99', 'AUD', 'AUD'],
    ['ABC 12', 'GBP', 'GBP'],
    ['FORM 12', 'GBP', 'GBP'],
    ['12.99', null, null],
  ])('reads %j in a %j store as %j', (text, home, expected) =>
    expect(priceCurrency(text, home)).toBe(expected),
  );
});

describe('shownAmount', () => {
  it.each(['1€', '1€€', '1€|', 'EUR 1 '])('rejects a long run of %j in bounded time', (amount) => {
    expect(shownAmount(`${amount.repeat(Math.floor(198 / amount.length))}?`)).toBeNull();
  });

  it.each([
    ['1.234,50 €', 1234.5],
    ['Prezzo SVB: 19,95 €', 19.95],
    ['184,20 €HT', 184.2],
    ['1 Lek', 1],
    ['Před slevou 59 900 Kč', 59_900],
    ['3,49 zł 1,75 zł', null],
    ['$30.56/Month', null],
    ['2,50 € pro kg', null],
    ['-20 %', null],
    ['-44.99 €', null],
    ['$2?', null],
    ['$2*', null],
    ['A4', null],
    ['on request', null],
    ['9 Yen 50', null],
  ])('reads %s as %s', (text, amount) => expect(shownAmount(text)).toBe(amount));

  it('resolves a shared symbol with the currency of the shop', () => {
    expect(shownAmount('$1,299', 'AUD')).toBe(1299);
    expect(shownAmount('Total: 1.299', 'KWD')).toBe(1.299);
  });
});
