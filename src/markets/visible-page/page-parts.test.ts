import { describe, expect, test } from 'vitest';
import {
  buyButton as button,
  jsonLd,
  shopPage as page,
  readShopPage as read,
} from '../../../test/support/pages/shop-page.ts';

describe('the last part of a region', () => {
  const buy = '<button>Buy now</button>';

  test('has the price of the product if it has its control', () => {
    const product = `<div class="details-footer"><b class="price">€ 12,50</b>${buy}</div>`;
    const sellers = `<p class="seller-price">€ 14,00</p><button>Buy now</button>`;
    const html = page(`${product}<section>${sellers}</section>`);
    expect(read(html + jsonLd({ price: 12.5, priceCurrency: 'EUR' }))).toMatchObject({
      price: 12.5,
    });
  });

  test('has no price of the product without a control', () => {
    const vouchers = '<div class="page-footer"><b class="price">€ 50,00</b></div>';
    expect(read(page(`<b class="price">€ 12,50</b>${button}${vouchers}`))).toMatchObject({
      price: 12.5,
    });
  });
});

test('a message about another product says nothing about the stock of the product', () => {
  const message =
    '<div class="snackbar"><a href="/p/bowl">Bowl</a><p class="stock">Sold out</p></div>';
  const stock = { price: 12.5, priceCurrency: 'EUR', availability: 'InStock' };
  const html = page(`<p>€ 12,50</p>${button}${message}`);
  expect(read(html + jsonLd(stock))).toMatchObject({ available: true });
});

describe('the heading', () => {
  test('has the brand and the name of the product as parts of the title', () => {
    const title = '<title>Kiln Works Stoneware Oat mug 0.3 l | Shop</title>';
    const heading = '<h1><a href="/b/kiln-works">Kiln Works</a><span>Oat mug</span></h1>';
    expect(read(`${title}${heading}<p>€ 12,50</p>${button}`)).toMatchObject({
      title: 'Kiln Works Oat mug',
    });
  });

  test('has the name once if it is repeated for assistive technology', () => {
    const heading = '<h1><b>Oat mug</b><span>Oat mug</span></h1>';
    expect(read(`<title>Oat mug | Kiln</title>${heading}<p>€ 12,50</p>${button}`)).toMatchObject({
      title: 'Oat mug',
    });
  });
});

/* cspell:ignore produs kodu */
describe('the label of a number', () => {
  const sku = (text: string) => read(page(`<p>€ 12,50</p>${button}${text}`))?.sku;

  test('is not the beginning of a number', () => {
    expect(sku('<p><b>SKU No.</b> <i>SKU25289</i></p>')).toBe('SKU25289');
  });

  test.each([
    '<p>Cód.: M-482</p>',
    '<p>Cod produs: M-482</p>',
    '<p>Código de producto: M-482</p>',
    '<p>Ürün Kodu: M-482</p>',
    '<div><b>SKU (simple)</b></div><div>M-482</div>',
  ])('is before the number in %s', (text) => {
    expect(sku(text)).toBe('M-482');
  });

  test('needs no space in scripts without spaces', () => {
    expect(sku('<p>商品番号M-482</p>')).toBe('M-482');
  });
});

test('a price in the button that puts the product into the cart is that of the product', () => {
  const html = page('<button>Add to cart € 12,50</button>');
  expect(read(html + jsonLd({ price: 12.5, priceCurrency: 'EUR' }))).toMatchObject({
    availability: 'InStock',
    from: { availability: 'page: control, price at control' },
  });
});

test('one of several prices at the control is that of structured data', () => {
  const html = page(`<div><p>€ 12,50</p><p>€ 14,00</p>${button}</div>`);
  const read12 = (price: number) => read(html + jsonLd({ price, priceCurrency: 'EUR' }));
  expect(read12(12.5)).toMatchObject({ availability: 'InStock', available: true });
  expect(read12(13)?.available).toBeNull();
});

describe('a price beside its former price in one element', () => {
  const readText = (text: string) => read(page(`<p class="price">${text}</p>${button}`));
  const priceOf = (text: string) => readText(text)?.price;

  test('has the currency in an element of its own', () => {
    const text = '12.50<i> EUR</i><br><s>20.00 EUR</s>';
    expect(readText(text)).toMatchObject({ price: 12.5, currency: 'EUR' });
  });

  test.each([
    '<span class="old-price">€ 20,00</span>&nbsp; € 12,50 incl. VAT',
    '€ 12,50 <del>€ 20,00</del>',
    '€ 12,50 <b>New</b> <s>€ 20,00</s>',
    '€ 12,50<br><s>€ 20,00</s>',
  ])('is read from %s', (text) => {
    expect(priceOf(text)).toBe(12.5);
  });

  test.each(['€ 12,50 <b>€ 20,00</b>', '€ 0,00 <del>€ 20,00</del>'])('is null in %s', (text) => {
    expect(priceOf(text) ?? null).toBeNull();
  });
});

test('the price of the first of many entries is not that of the page', () => {
  const entry = (price: number) => `<section><b class="price">€ ${price},50</b>${button}</section>`;
  const prices = Array.from({ length: 12 }, (_none, at) => 12 + at);
  const entries = (count: number) => prices.slice(0, count).map(entry).join('');
  expect(read(page(entries(12)))?.price ?? null).toBeNull();
  expect(read(page(entries(1)))).toMatchObject({ price: 12.5 });
});
