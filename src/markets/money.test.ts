import { describe, expect, it } from 'vitest';
import { priceAmount, priceCurrency } from './money.ts';

describe('priceAmount', () => {
  it.each([
    ['$45.99', 45.99],
    ['52,41€', 52.41],
    ['14,09\u00a0€', 14.09],
    ['￥16,800', 16800],
    ['￥300', 300],
    ['1.234,56 €', 1234.56],
    ['1,234.56', 1234.56],
    ['1.234.567', 1234567],
    ['EUR 1.234', 1234],
    ['1\u202f234,50 €', 1234.5],
    ['CHF 1’299.00', 1299],
    ['S$12.30', 12.3],
    ['TWD 436.12', 436.12],
    ['₫120.000', 120000],
    ['$24.17 - 24.69', 24.17],
    ['0,125 €', 0.125],
    ['$0.00', 0],
    ['12,5', 12.5],
  ])('%j is %d', (text, expected) => expect(priceAmount(text)).toBe(expected));

  it('reads three decimals in currencies that have them', () => {
    expect(priceAmount('KWD 12.345', 'KWD')).toBe(12.345);
    expect(priceAmount('$12.345', 'USD')).toBe(12345);
  });

  it.each(['', 'See options', '$2?', '*'])('finds no amount in %j', (text) =>
    expect(priceAmount(text)).toBeNull(),
  );

  it('takes bounded time for a hostile text', () => {
    const started = performance.now();
    priceAmount('1 111'.repeat(400_000));
    priceAmount(`${'1.'.repeat(1_000_000)}`);
    expect(performance.now() - started).toBeLessThan(2000);
  });
});

describe('priceCurrency', () => {
  it.each([
    ['$45.99', 'USD', 'USD'],
    ['$45.99', 'CAD', 'CAD'],
    ['$45.99', 'JPY', 'USD'],
    ['S$12.30', 'SGD', 'SGD'],
    ['US$12.30', 'SGD', 'USD'],
    ['TWD 436.12', 'JPY', 'TWD'],
    ['436.12 PHP', 'USD', 'PHP'],
    ['52,41 €', 'USD', 'EUR'],
    ['£4.45', 'GBP', 'GBP'],
    ['￥16,800', 'JPY', 'JPY'],
    ['1,200円', 'JPY', 'JPY'],
    ['12.99', 'AUD', 'AUD'],
    ['ABC 12', 'GBP', 'GBP'],
    ['12.99', null, null],
  ])('of %j in a %j store is %j', (text, home, expected) => expect(priceCurrency(text, home)).toBe(expected));
});
