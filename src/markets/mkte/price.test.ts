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

  const offer = (text: string, names = 'a-price') =>
    `<span class="${names}"><span class="a-offscreen">${text}</span></span>`;

  it('are not those of trials, rentals, units, months, and other products', () => {
    const format = (note: string) =>
      `<div id="tmmSwatches"><p class="swatchElement selected"><b class="slot-price">$0.00</b>${note}</p></div>`;
    expect(priceIn(format('Free with your Audible trial')).amount).toBeNull();
    expect(priceIn(format('')).amount).toBe(0);
    const rent = '<div id="rentBuySection"><p class="offer-price">$5.00</p></div>';
    const book = (inner: string) => priceIn(`<div id="buybox">${inner}</div>`).amount;
    expect(book(rent)).toBeNull();
    expect(book(`${rent}<p class="offer-price">$50.00</p>`)).toBe(50);
    expect(price(`${offer('$0.50')}<span>/ounce</span>`).amount).toBeNull();
    expect(price(`${offer('$0.50')}/ounce ${offer('$8.00')}`).amount).toBe(8);
    expect(price(`<p>${offer('$25.00')}</p>/mo`).amount).toBeNull();
    const toPay = offer('$7.00', 'a-price priceToPay');
    expect(priceIn(`<div class="a-carousel">${toPay}</div>`).amount).toBeNull();
    expect(priceIn(`<div>${toPay}</div>`).amount).toBe(7);
  });

  it('of a used offer have no list price of the new one', () => {
    const used = '<div id="usedBuySection"><p class="offer-price">$5.00</p></div>';
    expect(priceIn(`${used}<p id="listPrice">$20.00</p>`)).toMatchObject({
      amount: 5,
      original_price: null,
    });
  });

  it('of renewed items are of used offers', () => {
    const line = `<div id="olp_feature_div"><a>Renewed (5) from ${offer('$8.00')}</a></div>`;
    expect(readPrice(parseHtml(line), 'USD')).toMatchObject({ kind: 'used', price: { amount: 8 } });
  });

  it('in script data are not guessed from two readings', () => {
    const metrics = (digits: string) =>
      priceIn(
        `<div id="cerberus-data-metrics" data-asin-price="${digits}" data-asin-currency-code="EUR">`,
      ).amount;
    expect(metrics('1.299')).toBeNull();
    expect(metrics('12.99')).toBe(12.99);
  });
});
