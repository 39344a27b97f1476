/* cspell:disable */
import { describe, expect, test } from 'vitest';
import {
  buyButton,
  jsonLd,
  readShopPage,
  shopPage,
} from '../../../test/support/pages/shop-page.ts';

const price = '<p class="price">€ 12,50</p>';
const stockOf = (body: string, head = '') =>
  readShopPage(head + shopPage(price + body))?.availability ?? null;

describe('availability of a page without structured data', () => {
  test.each([
    ['a number of sold pieces beside the word', '<p><b>1448</b> sold</p>', null],
    ['a count after the label', '<p>In stock: <b>0</b></p>', 'OutOfStock'],
    ['a negator in an element of its own', '<p><b>not</b> in stock</p>', 'OutOfStock'],
    ['a price before it', '<p>€ 12,50 - <span>Sold out</span></p>', 'SoldOut'],
  ])('understands the whole line: %s', (_name, line, state) => {
    expect(stockOf(line)).toBe(state);
  });

  test('is read from a text within an element of the class stock-level', () => {
    const option = '<div class="stock-level"><b>One size</b><div>€ 12,50 - In stock</div></div>';
    expect(stockOf(option)).toBe('InStock');
  });

  test('is in stock if its control has a price that cannot be read', () => {
    const html = `<title>Oat mug | Kiln</title><h1>Oat mug</h1><div><p>Price: $3.340</p>${buyButton}</div>`;
    expect(readShopPage(html)).toMatchObject({ price: null, availability: 'InStock' });
  });

  test('is in stock with both a cart control and a buy-now control', () => {
    const prices = '<p>€ 4,20 × 3</p><p>€ 2,10 × 6</p>';
    const html = (other: string) =>
      readShopPage(
        `<title>Oat mug | Kiln</title><div><h1>Oat mug</h1>${prices}${buyButton}${other}</div>`,
      );
    expect(html('')?.availability ?? null).toBeNull();
    expect(html('<button>Buy now</button>')).toMatchObject({ availability: 'InStock' });
    expect(html('<button disabled>Buy now</button>')?.availability ?? null).toBeNull();
  });

  test('is unknown if a control contradicts the text about stock', () => {
    expect(stockOf(`<p class="stock">0 in stock</p>${buyButton}`)).toBeNull();
    expect(stockOf(`<p class="stock">Only 2 left</p>${buyButton}`)).toBe('InStock');
  });

  test.each(['Доступность:', 'Stok Durumu:', 'Lagerstatus:', 'Disponibilitate:'])(
    'is read after the label %j, also beside a control',
    (label) => {
      expect(stockOf(`<p>${label} <b>In stock</b></p>`)).toBe('InStock');
      expect(stockOf(`<p>${label} <b>Out of stock</b></p>${buyButton}`)).toBeNull();
    },
  );

  test('is in stock with a range of prices that is repeated for assistive technology', () => {
    const ends = '<b class="price">€ 12,50</b> – <b class="price">€ 15,00</b>';
    const range = `<p>${ends}<i>Price range: € 12,50 through € 15,00</i></p>`;
    const html = `<title>Oat mug | Kiln</title><h1>Oat mug</h1><div>${range}${buyButton}</div>`;
    expect(readShopPage(html)).toMatchObject({ price: null, availability: 'InStock' });
  });

  test('is read from a text that starts with the words of its label', () => {
    expect(stockOf('<dl><dt>在庫</dt><dd>在庫あり</dd></dl>')).toBe('InStock');
  });

  test.each(['Reply', 'Contact seller', 'Kontaktieren', 'Contacter le vendeur'])(
    'is in stock for a classified ad with a single control %j',
    (text) => {
      const contact = `<button>${text}</button>`;
      expect(stockOf(contact)).toBe('InStock');
      expect(stockOf(contact + contact)).toBeNull();
      expect(stockOf(`${contact}<p class="stock">Sold</p>`)).toBe('OutOfStock');
    },
  );

  test.each(['Compare prices', 'Preise vergleichen', 'Сравнить все цены (2)'])(
    'is in stock if shops offer it, which %j compares',
    (text) => {
      const compare = `<a href="/offers">${text}</a>`;
      const offers = { '@type': 'AggregateOffer', lowPrice: 12.5, priceCurrency: 'EUR' };
      expect(stockOf(compare, jsonLd({ ...offers, offerCount: 2 }))).toBe('InStock');
      expect(stockOf(compare, jsonLd({ ...offers, offerCount: 0 }))).toBeNull();
      expect(stockOf('', jsonLd({ ...offers, offerCount: 2 }))).toBeNull();
    },
  );
});

describe('availability of a page whose structured data says that it is sold out', () => {
  const soldOut = jsonLd({ price: 12.5, priceCurrency: 'EUR', availability: 'OutOfStock' });

  test('is that of a text about stock', () => {
    expect(stockOf('<p>Availability: <b>In stock</b></p>', soldOut)).toBe('InStock');
  });

  test('is not that of a text about how soon the product is sent', () => {
    expect(stockOf('<p>Availability: <b>Ships within 24 hours</b></p>', soldOut)).toBe(
      'OutOfStock',
    );
  });
});
