import { describe, expect, test } from 'vitest';
import {
  buyButton as button,
  jsonLd,
  shopPage as page,
  readShopPage as read,
} from '../../../test/support/pages/shop-page.ts';

describe('a page without structured data', () => {
  test('is a product by its heading, the price beside its control, and its stock', () => {
    const body = `<form><p class="price">€ 12,50</p><p class="stock">In stock</p>${button}</form>`;
    expect(read(page(`${body}<p>SKU: M-482</p>`))).toMatchObject({
      title: 'Oat mug',
      price: 12.5,
      currency: 'EUR',
      availability: 'InStock',
      sku: 'M-482',
      from: { price: 'page: heading, control, name', title: 'page: heading, title' },
    });
  });

  test.each([
    'In den Warenkorb',
    'Ajouter au panier',
    'Añadir al carrito',
    'Aggiungi al carrello',
    'Adicionar ao carrinho',
    'In winkelwagen',
    'Do koszyka',
    'Do košíku',
    'Lägg i varukorg',
    'В корзину',
    '加入購物車',
    'カートに入れる',
    'Thêm vào giỏ hàng',
    'Tambah ke keranjang',
  ])('has a control %j', (text) => {
    expect(read(page(`<p>€ 12,50</p><button>${text}</button>`))).toMatchObject({
      price: 12.5,
      available: true,
    });
  });

  test.each([
    ['a struck price', '<del>€ 20,00</del>'],
    ['an old price', '<span class="old-price">€ 20,00</span>'],
    ['a label', '<span>RRP € 20,00</span>'],
    ['shipping', '<p>Shipping € 4,90</p>'],
    ['an instalment', '<p>€ 1,05 / month</p>'],
    ['a price per kilogram', '<p>€ 31,25 per kg</p>'],
    ['a button of another choice', '<button>Pickup € 2,00</button>'],
    ['a price without tax', '<p>€ 10,50 excl. VAT</p>'],
    ['a price without tax after its label', '<p>Excl. VAT: € 10,50</p>'],
    ['one named as without tax', '<i class="price--withoutTax">€ 10,50</i>'],
    ['the price of a choice', '<label for="set">Set € 40,00</label>'],
    ['the price of a field', '<label><input type="radio"> Set € 40,00</label>'],
    ['the amount of its tax', '<p>Tax amount: <b class="price">€ 2,00</b></p>'],
    ['an element with the amount of its tax', '<b class="price tax-amount">€ 2,00</b>'],
    ['what is taken off', '<p>Discount: <b class="price">€ 2,00</b></p>'],
    ['a surcharge', '<p>Blue (+A€ 2,00)</p>'],
    ['a named quantity', '<i class="price-quantity">4</i>'],
    ['an instalment in Chinese', '<p>每期 <b>€ 4,20</b></p>'],
  ])('has the price beside %s', (_name, other) => {
    expect(read(page(`<div>${other}<b>€ 12,50</b>${button}</div>`))).toMatchObject({ price: 12.5 });
  });

  test.each(['Excl. Tax:', 'Exkl. MwSt.:', 'Ex Tax:'])(
    'has the price before one with the label %j',
    (label) => {
      const prices = `<p><b>€ 12,50</b> <i>${label}</i> <b>€ 10,50</b></p>`;
      const old = '<p class="line-through">€ 20,00</p>';
      expect(read(page(prices + old + button))).toMatchObject({ price: 12.5, list_price: 20 });
    },
  );

  test('has no price if it is that of the dearest of a set', () => {
    const set = '<p>From <b>€ 12,50</b> to <b>€ 15,00</b></p>';
    expect(read(page(set + button))?.price ?? null).toBeNull();
  });

  test('has the only price although it is named as an old one, unless another one is hidden', () => {
    const old = '<p class="old-price">€ 20,00</p>';
    expect(read(page(old + button))).toMatchObject({ price: 20 });
    expect(read(page(`${old}<a href="#">Click for price</a>${button}`))?.price ?? null).toBeNull();
  });

  test.each([
    ['two prices could be meant', `<p>€ 12,50</p><p>€ 14,00</p>${button}`],
    [
      'prices near the heading and near the control differ',
      `<p>€ 9,00</p></main><aside>€ 12,50 ${button}</aside>`,
    ],
    ['one digit is in an element of its own', `<p class="price">€12<sup>5</sup></p>${button}`],
    ['only a part has a name', `<p>€12<sup class="price">50</sup>5</p>${button}`],
    [
      'the page has one price with and one without tax',
      `<p>€ 12,50 incl. VAT</p><p>€ 10,50 excl. VAT</p>${button}`,
    ],
    [
      'the only one was the price, beside a range',
      `<b class="old">€ 9,00</b><p>from € 7,00</p>${button}`,
    ],
    ['a point can be either sign', `<p class="price">$3.340</p>${button}`],
  ])('has no price if %s', (_name, body) => {
    expect(read(page(body))?.price ?? null).toBeNull();
  });

  test.each([
    '<p class="price">€12<sup>50</sup></p>',
    '<p class="price"><span>€12</span><sup>50</sup></p>',
  ])('reads cents in an element of their own: %s', (price) => {
    expect(read(page(`${price}${button}`))).toMatchObject({ price: 12.5 });
  });

  test.each([
    ['with the name of the shop', 'Oat mug buy online | Kiln'],
    ['that is cut', 'Oat'],
  ])('has the title of its heading instead of one for previews %s', (_name, title) => {
    const html = page(`<p>€ 12,50</p>${button}`);
    const preview = `<meta property="og:type" content="product"><meta property="og:title" content="${title}">`;
    expect(read(preview + html)).toMatchObject({ title: 'Oat mug', from: { title: 'opengraph' } });
    expect(read(preview.replace('Oat', 'Ash') + html)?.title).not.toBe('Oat mug');
  });

  test.each([
    ['Cap', 'Cap | Kiln'],
    ['湯呑み', '湯呑み - 窯元'],
  ])('has the short title %s that is the main part of another', (name, title) => {
    const html = `<title>${title}</title><h1>${name}</h1><h1>Kiln</h1><p>€ 12,50</p>${button}`;
    expect(read(html)).toMatchObject({ title: name, price: 12.5 });
  });

  test('is a product by an element with the name of its title and no heading', () => {
    const html = `<title>Oat mug | Kiln</title><div class="product-title">Oat mug</div><p>€ 12,50</p>${button}`;
    expect(read(html)).toMatchObject({ title: 'Oat mug', price: 12.5, availability: 'InStock' });
  });

  test.each([
    ['a logo', '<header><b class="site-title">Kiln</b></header><b class="name">Oat mug</b>'],
    ['the name of a brand', '<b itemprop="name">Kiln</b><b itemprop="name">Oat mug</b>'],
    ['a heading that is repeated for small screens', '<h1>Oat mug</h1><div><h1>Oat mug</h1></div>'],
  ])('has the name of its product beside %s', (_name, names) => {
    const html = `<title>Oat mug | Kiln</title>${names}<p>€ 12,50</p>${button}`;
    expect(read(html)).toMatchObject({ title: 'Oat mug', price: 12.5, availability: 'InStock' });
  });

  test.each(['View cart', 'Przejdź do koszyka', 'Перейти в корзину'])(
    'has no control %j, which leads to the cart',
    (text) => {
      expect(
        read(page(`<p class="price">€ 12,50</p><button>${text}</button>`))?.availability,
      ).toBeNull();
    },
  );

  test('has no control in a link to the cart that is named as one', () => {
    const named = (link: string, name: string) =>
      read(page(`<p class="price">€ 12,50</p><a class="${name}" href="${link}">(0) € 0</a>`));
    expect(named('/cart.html', 'cart-button')?.availability).toBeNull();
    expect(named('/de/warenkorb/', 'btn-cart')?.availability).toBeNull();
    expect(named('/cart', 'add-to-cart')?.availability).toBe('InStock');
    expect(named('/cart/add?id=1', 'cart-button')?.availability).toBe('InStock');
  });

  test('lists the price that is named so among others, with the currency next to it', () => {
    const parts =
      '<p class="price"><b>12,50</b><i>€</i></p><p><i>€ 4,20</i> × 3</p><p><i>€ 2,10</i> × 6</p>';
    expect(read(page(`<div>${parts}${button}</div>`))).toMatchObject({ price: 12.5 });
  });

  test('has the only price beside its control, also if it is named an old one', () => {
    expect(read(page(`<p><b class="price-old">€ 12,50</b></p>${button}`))).toMatchObject({
      price: 12.5,
    });
  });

  test.each([
    ['with its name in the label', '<a role="button" title="Add Oat mug to your cart">Go</a>'],
    ['in an element named so', '<div class="buy-btn"><a href="#">Go</a></div>'],
    ['with a handler', '<a onclick="add_to_cart(7)">Go</a>'],
    [
      'in an element named like a summary of the cart',
      `<div class="basket-summary">${button}</div>`,
    ],
  ])('has a control %s', (_name, control) => {
    expect(read(page(`<p>€ 12,50</p>${control}`))).toMatchObject({ price: 12.5, available: true });
  });

  test('has the price of its description among several', () => {
    const head =
      '<meta name="description" content="Of stoneware."><meta property="og:description" content="Now € 12,50">';
    expect(read(head + page(`<p>€ 12,50</p><p>€ 14,00</p>${button}`))).toMatchObject({
      price: 12.5,
    });
  });

  test('does not read prices of related products', () => {
    const related = `<section class="related-products"><h3>Bowl</h3><p>€ 7,00</p>${button}</section>`;
    expect(read(page(`${related}<p>€ 12,50</p>${button}${related}`))).toMatchObject({
      price: 12.5,
    });
    expect(read(page(related))).toBeNull();
  });

  test.each([
    ['with a linked heading', '<div><h3><a href="/p/bowl">Bowl</a></h3>', '</div>'],
    ['in a list, with a linked picture', '<ul><li><a href="/p/bowl"><img></a>', '</li></ul>'],
    [
      'in a card, with a linked picture',
      '<div class="product-card"><a href="/p/bowl"><img></a>',
      '</div>',
    ],
  ])('is no product with the price and control of another one %s', (_name, start, end) => {
    const card = `</main>${start}<p class="price">€ 7,00</p>${button}${end}`;
    expect(read(page(`<p>Price on request</p>${card}`))).toBeNull();
    const soldOut = read(page(`<p class="price">€ 12,50</p><p>No longer available</p>${card}`));
    expect(soldOut).toMatchObject({ price: 12.5, availability: 'OutOfStock' });
  });

  test('is sold out by a disabled control that says so', () => {
    const body = '<p class="price">€ 12,50</p><button disabled>Sold out</button>';
    expect(read(page(body))).toMatchObject({ availability: 'OutOfStock', available: false });
  });

  test.each([
    [
      'the address and a form',
      '<form><input type="hidden" name="product_id" value="48213"></form>',
      '48213',
    ],
    ['the address and an attribute', '<div data-product-id="48213"></div>', '48213'],
    ['a label', '<tr><th>Art.-Nr.</th><td>KM-7</td></tr>', 'KM-7'],
    ['no attribute alone', '<div data-sku="KM-7"></div>', null],
    ['none of two labels', '<p>SKU: KM-7</p><p>SKU: KM-8</p>', null],
  ])('has the number of %s', (_name, body, sku) => {
    expect(
      read(page(`<p class="price">€ 12,50</p>${button}<table>${body}</table>${body}`))?.sku,
    ).toBe(sku);
  });

  test('is one with a heading and a trade number', () => {
    const read13 = (digits: string) => read(page(`<p>EAN13: ${digits}</p>`));
    expect(read13('4006381333931')).toMatchObject({ title: 'Oat mug', gtin: '4006381333931' });
    expect(read13('4006381333932')).toBeNull();
  });

  test('is no product with a heading alone', () => {
    expect(read(page('<p>About our mugs, from € 5 to € 90.</p>'))).toBeNull();
  });
});

describe('a page whose structured data it contradicts', () => {
  const euros = (price: unknown, members: object = {}) => ({
    price,
    priceCurrency: 'EUR',
    ...members,
  });
  const shown = `<form><p class="price">€ 12,50</p>${button}</form>`;

  test('has the visible price, and reports both', () => {
    const record = read(jsonLd(euros(10.5)) + page(shown));
    expect(record).toMatchObject({ price: 12.5, currency: 'EUR' });
    expect(record?.from.price).toMatch(/^page: /);
    expect(record?.contradictions.map(({ value }) => value)).toEqual([10.5, 12.5]);
  });

  test('has the price of structured data if the page shows none, or several', () => {
    expect(read(jsonLd(euros(10.5)) + page(button))).toMatchObject({ price: 10.5 });
    expect(read(jsonLd(euros(12.5)) + page(`${shown}<p>€ 3,00</p>`))).toMatchObject({
      price: 12.5,
    });
  });

  test('decides between two readings of a price', () => {
    const thousands = `<form><p class="price">€ 12.500,00</p>${button}</form>`;
    expect(read(jsonLd(euros('12.500')) + page(thousands))).toMatchObject({ price: 12_500 });
    expect(read(jsonLd(euros('12.500')) + page(shown))).toMatchObject({ price: 12.5 });
  });

  test('is sold out if the page marks it so and has no control', () => {
    const inStock = euros(12.5, { availability: 'https://schema.org/InStock' });
    const soldOut = '<p class="stock">Sold out</p>';
    expect(read(jsonLd(inStock) + page(soldOut))).toMatchObject({ available: false });
    expect(read(jsonLd(inStock) + page(`${soldOut}${shown}`))?.available).toBeNull();
  });

  test('has no price if the page shows others and marks none, and reports them', () => {
    const two = `<p>€ 12,50</p><p>€ 14,00</p>${button}`;
    const record = read(jsonLd(euros(10.5)) + page(two));
    expect(record?.price).toBeNull();
    expect(record?.contradictions.map(({ value }) => value)).toEqual([10.5, 12.5, 14]);
    expect(read(jsonLd(euros(12.5)) + page(two))).toMatchObject({
      price: 12.5,
      contradictions: [],
    });
    const dollars = { price: 10.5, priceCurrency: 'USD' };
    expect(read(jsonLd(dollars) + page(two))).toMatchObject({ price: 10.5, contradictions: [] });
  });

  test('has no price if the data have that of the label without tax', () => {
    const pair = `<p class="price">€ 12,50 incl. VAT</p><p>€ 10,50 excl. VAT</p>${button}`;
    const record = read(jsonLd(euros(10.5)) + page(pair));
    expect(record?.price).toBeNull();
    expect(record?.contradictions.map(({ value }) => value)).toEqual([10.5, 12.5]);
    expect(read(jsonLd(euros(12.5)) + page(pair))).toMatchObject({
      price: 12.5,
      contradictions: [],
    });
  });

  test('is sold out by a disabled control that says so, unless a text contradicts it', () => {
    const inStock = jsonLd(euros(12.5, { availability: 'https://schema.org/InStock' }));
    const soldOut = '<p class="price">€ 12,50</p><button disabled>Sold out</button>';
    expect(read(inStock + page(soldOut))).toMatchObject({ availability: 'OutOfStock' });
    expect(read(inStock + page(`${soldOut}<p class="stock">In stock</p>`))?.available).toBeNull();
  });

  test('is neither in stock nor sold out if only its control says otherwise', () => {
    const soldOut = euros(12.5, { availability: 'https://schema.org/OutOfStock' });
    const record = read(jsonLd(soldOut) + page(shown));
    expect(record).toMatchObject({ price: 12.5, availability: null });
    expect(record?.contradictions.map(({ value }) => value)).toEqual([
      'OutOfStock',
      'InStock',
      'InStock',
    ]);
  });

  test('is unknown if the data and a control contradict the text about stock', () => {
    const text = '<p class="stock">Out of stock</p>';
    const stated = (name: string) =>
      jsonLd(euros(12.5, { availability: `https://schema.org/${name}` }));
    const record = read(stated('InStock') + page(shown + text));
    expect(record).toMatchObject({ price: 12.5, availability: null });
    expect(record?.contradictions.map(({ value }) => value)).toEqual(['InStock', 'OutOfStock']);
    expect(read(stated('OutOfStock') + page(shown + text))?.availability).toBe('OutOfStock');
    const numbered = '<p class="stock">Item No. 12</p>';
    expect(read(stated('InStock') + page(shown + numbered))?.availability).toBe('InStock');
  });

  test('has the offer that the page shows', () => {
    const offers = [10.5, 12.5].map((price) => euros(price, { sku: `M-${price}` }));
    const record = read(jsonLd(offers) + page(shown));
    expect(record).toMatchObject({ price: 12.5, contradictions: [] });
  });
});

describe('embedded state', () => {
  const state = (value: unknown) => `<script>window.__STATE__ = ${JSON.stringify(value)};</script>`;
  const shown = `<p>€ 12,50</p><p>€ 14,00</p>${button}`;

  test.each([
    ['of a script', state({ page: { product: { name: 'Oat mug', price: 12.5, sku: 'M-1' } } })],
    [
      'of a JSON script',
      '<script type="application/json" id="d">{"title": "Oat mug", "price": "12.50"}</script>',
    ],
    [
      'pushed to a list',
      '<script>dataLayer.push({"product": {"name": "Oat mug", "price": 12.5}})</script>',
    ],
    [
      'of an attribute',
      `<div data-product='{"name": "Oat mug", "price": {"amount": 12.5}}'></div>`,
    ],
  ])('%s decides between prices of the page', (_name, script) => {
    expect(read(page(shown) + script)).toMatchObject({ price: 12.5 });
  });

  test('has the currency of a price without one', () => {
    const script = state({ name: 'Oat mug', price: 3340, currency: 'ARS' });
    expect(read(page(`<p class="price">$3.340</p>${button}`) + script)).toMatchObject({
      price: 3340,
      currency: 'ARS',
    });
  });

  test('decides an unclear price', () => {
    const unclear = `<p class="price">$ 12.990</p>${button}`;
    expect(read(page(unclear) + state({ name: 'Oat mug', price: 12_990 }))).toMatchObject({
      price: 12_990,
    });
    expect(read(page(unclear) + state({ name: 'Oat mug', price: 9 }))?.price ?? null).toBeNull();
  });

  test('confirms neither a price without a visible one nor values of other products', () => {
    const product = (name: string) => state({ list: [{ name, price: 12.5, sku: 'M-1' }] });
    expect(read(page(shown) + product('Bowl'))?.price ?? null).toBeNull();
    expect(read(page('') + product('Oat mug'))).toBeNull();
  });

  test('confirms no price by an integer, which can be in cents', () => {
    const script = `${state({ name: 'Oat mug', price: 1250 })}<script>var meta = {"name": "Oat mug", "price": 1250};</script>`;
    expect(read(page(shown) + script)?.price ?? null).toBeNull();
  });

  test('reads an SKU that two states of a product agree on', () => {
    const script = `${state({ name: 'Oat mug', sku: 'M-1' })}<script>var meta = {"name": "Oat mug", "sku": "M-1"};</script>`;
    expect(read(page(`<p class="price">€ 12,50</p>${button}`) + script)?.sku).toBe('M-1');
  });
});
