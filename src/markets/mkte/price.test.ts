import { describe, expect, it } from 'vitest';
import { parseHtml } from '../html/html.ts';
import { readPrice } from './price.ts';
import { homeCurrency } from './regions.ts';

const priceIn = (html: string, region = 'us') =>
  readPrice(parseHtml(html), homeCurrency(region)).price;

describe('prices', () => {
  const price = (inner: string, region = 'us') =>
    priceIn(`<div id="corePrice_desktop">${inner}</div>`, region);

  it('use the lower end of a range', () => {
    const range =
      '<span class="a-price-range"><span class="a-price a-text-price apexPriceToPay"><span class="a-offscreen">$19.99</span></span> - <span class="a-price a-text-price apexPriceToPay"><span class="a-offscreen">$29.99</span></span></span>';
    expect(price(range).amount).toBe(19.99);
  });

  it('are distinguished from struck prices and unit prices', () => {
    const inner =
      '<span class="a-price a-text-price" data-a-strike="true"><span class="a-offscreen">$30.00</span></span><span class="a-price a-text-price apexPriceToPay"><span class="a-offscreen">$20.00</span></span>';
    expect(price(inner)).toEqual({ amount: 20, currency: 'USD', original_price: 30 });
    expect(
      price(
        '<span class="pricePerUnit"><span class="a-price"><span class="a-offscreen">$1.00</span></span></span>',
      ).amount,
    ).toBeNull();
  });

  it('have no original price that is not higher', () => {
    const inner =
      '<span class="a-price priceToPay"><span class="a-offscreen">$20.00</span></span><span class="a-price" data-a-strike="true"><span class="a-offscreen">$20.00</span></span>';
    expect(price(inner).original_price).toBeNull();
  });

  it('are joined from parts on separate lines', () => {
    const inner =
      '<span class="a-price priceToPay">\n<span class="a-offscreen">\n</span>\n<span aria-hidden="true">\n<span class="a-price-whole">\n1.234\n<span class="a-price-decimal">\n,\n</span>\n</span>\n<span class="a-price-fraction">\n56\n</span>\n<span class="a-price-symbol">\n€\n</span></span></span>';
    expect(price(inner, 'de')).toMatchObject({ amount: 1234.56, currency: 'EUR' });
  });

  it('come from script data if none is shown', () => {
    const data =
      '<div class="twister-plus-buying-options-price-data">{"desktop_buybox_group_1":[{"displayPrice":"$9.00","buyingOptionType":"USED"},{"displayPrice":"$12.00","buyingOptionType":"NEW"}]}</div>';
    expect(priceIn(data).amount).toBe(12);
    const metrics =
      '<div id="cerberus-data-metrics" data-asin-price="8.5" data-asin-currency-code="AUD"></div>';
    expect(priceIn(metrics)).toEqual({ amount: 8.5, currency: 'AUD', original_price: null });
  });

  it('have their cents in an element of their own', () => {
    const older = (inner: string) =>
      priceIn(`<span id="priceblock_ourprice">${inner}</span>`).amount;
    expect(older('<span>$</span><span>54</span><span class="superscript">85</span>')).toBe(54.85);
    expect(older('<sup>$</sup>1,054 <sup>85</sup>')).toBe(1054.85);
    expect(older('<p>$1</p><p>299</p>')).toBeNull();
    const parts = (whole: string, fraction: string) =>
      price(
        `<span class="a-price priceToPay"><span class="a-price-symbol">€</span><span class="a-price-whole">${whole}</span><span class="a-price-fraction">${fraction}</span></span>`,
        'de',
      ).amount;
    expect(parts('1.234', '56')).toBe(1234.56);
    expect(parts('54', '850')).toBeNull();
  });

  it('ignore offers for members only', () => {
    const member =
      '<div id="primeSavingsUpsellAccordionRow"><div id="corePrice_feature_div"><span class="a-price"><span class="a-offscreen">$9.00</span></span></div></div>';
    expect(priceIn(member).amount).toBeNull();
  });
});
