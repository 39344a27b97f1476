/* cspell:disable */
import { describe, expect, test } from 'vitest';
import { readShopPage, shopPage } from '../../../test/support/pages/shop-page.ts';

const priceOf = (line: string) => readShopPage(shopPage(line))?.price ?? null;

describe('a price whose label says that it is another one', () => {
  const price = '<b class="price">12,50 €</b>';

  test.each([
    `or 4 payments of ${price}`,
    `4x ${price} sans frais`,
    `em até 10x de ${price}`,
    `9 taksit ${price}`,
    `3 for ${price}`,
    `1 Stück = ${price}`,
    `vanaf ${price}`,
    `od ${price}`,
    `a partir de ${price}`,
    `от ${price}`,
    `As low as ${price}`,
    `Starting at ${price}`,
    `最安値 ${price}`,
    `${price} tax excl.`,
    `Imponibile: ${price}`,
    `KDV hariç: ${price}`,
    `Up to ${price}`,
    `<span class="price-to">${price}</span>`,
    `${price} with membership`,
    `Members: ${price}`,
    `Club price ${price}`,
    `${price} for our members`,
    `${price} with code MUG`,
    `${price} no PIX`,
    `${price} con Transferencia`,
    `${price} bei Vorkasse`,
    `<span class="payment-discount-price">${price}</span>`,
    `${price} à vista no boleto`,
    '<b class="price"><i>€</i>24,96<u>/mo.</u></b>',
    `Use code MUG. Get it for ${price}`,
    `Get it at ${price}`,
    `已缴纳保证金 ${price}`,
    `Subscription price ${price}`,
    `Gift card ${price}`,
    `${price} with trade-in`,
    `${price} + VAT`,
    `${price}（税抜）`,
    `月々 ${price}`,
    `Lowest price in the last 30 days: ${price}`,
    `Najniższa cena z 30 dni przed obniżką: ${price}`,
    `Niedrigster Preis der letzten 30 Tage: ${price}`,
    '<b class="price">1250</b> points',
    `<span class="omnibus-price">${price}</span>`,
    `<span class="club-price">${price}</span>`,
  ])('%s is not the price to pay', (line) => {
    expect(priceOf(`<p>${line}</p>`)).toBeNull();
    expect(priceOf(`<p><b class="price">19,90 €</b></p><p>${line}</p>`)).toBe(19.9);
  });

  test('a price can have the digits of its language', () => {
    expect(priceOf('<p class="price">١٬٢٣٤٫٥٠ ر.س</p>')).toBe(1234.5);
  });

  test.each([
    `Price: ${price}`,
    `Discount price: ${price}`,
    `For you: ${price}`,
    `${price} with free delivery`,
    `Membrane pump ${price}`,
    `Odeon ${price}`,
    `${price} + free gift`,
  ])('%s is', (line) => {
    expect(priceOf(`<p>${line}</p>`)).toBe(12.5);
  });
});

test('a range in the element of the price hides other prices', () => {
  const sales = '<section><p>Sales of <b>900 €</b></p></section>';
  const priceIn = (text: string) => {
    const price = `<p class="price"><i>€</i><b>${text}</b></p><button>Add to cart</button>`;
    return readShopPage(shopPage(`<div>${price}</div>${sales}`))?.price ?? null;
  };
  expect(priceIn('12.50 - 15.00')).toBeNull();
  expect(priceIn('12.50')).toBe(12.5);
});

test('a product whose variants have other prices can be bought', () => {
  const range = '<p class="price"><b>€ 12,50</b> – <b>€ 15,00</b></p>';
  const control = '<button>Add to cart</button>';
  expect(readShopPage(shopPage(range + control))).toMatchObject({
    title: 'Oat mug',
    price: null,
    availability: 'InStock',
  });
  const others = range.replace('–', 'or').replace('</b></p>', '</b> with a saucer</p>');
  expect(readShopPage(shopPage(others + control))?.availability ?? null).toBeNull();
});
