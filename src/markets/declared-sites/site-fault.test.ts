import { describe, expect, test } from 'vitest';
import { buyButton as button, shopPage as page } from '../../../test/support/pages/shop-page.ts';
import { parseHtml } from '../html/html.ts';
import { parseSites } from './site-declaration.ts';
import { otherPageFault } from './site-fault.ts';
import { openSitePage } from './site-page.ts';
import { readProductPage } from './site-product.ts';

const [site] = parseSites('{"kiln": "kiln.example"}');
const open = (html: string, url: string) => openSitePage(parseHtml(html), url, site!);
const titleOf = (html: string, url: string) =>
  readProductPage(open(html, url))?.values.title ?? null;

const price = `<p>€ 12,50</p>${button}`;
const script = (value: object) =>
  `<script type="application/ld+json">${JSON.stringify(value)}</script>`;
const bowl = { '@type': 'Product', name: 'Bowl', url: 'https://kiln.example/p/bowl' };

describe('a page that states no product of its own', () => {
  const url = 'https://kiln.example/p/oat-mug';

  test('is a product by its heading and its price', () => {
    expect(titleOf(page(price), url)).toBe('Oat mug');
  });

  test.each([
    ['the first page of the shop', 'https://kiln.example/'],
    ['the first page in a language', 'https://kiln.example/de/'],
  ])('is none as %s', (_name, address) => {
    expect(titleOf(page(price), address)).toBeNull();
  });

  test('is none as a search with the words of its address', () => {
    const results = `<title>482135 | Kiln</title><h1>Results: 482135</h1>${price}`;
    expect(titleOf(results, 'https://kiln.example/find?q=482135')).toBeNull();
    expect(titleOf(page(price), `${url}?q=kiln+cups`)).toBe('Oat mug');
  });

  test.each([
    ['a product', bowl],
    ['a list of products', { '@type': 'ItemList', itemListElement: [bowl] }],
    [
      'a list of products with positions',
      { '@type': 'ItemList', itemListElement: [{ '@type': 'ListItem', item: bowl }] },
    ],
  ])('is none if it states %s with another address', (_name, value) => {
    const html = page(price) + script(value);
    expect(titleOf(html, url)).toBeNull();
    const opened = { ...open(html, url), text: html };
    expect(otherPageFault(opened, null, url)).toMatchObject({
      code: 'page_unreadable',
      message: expect.stringContaining('states products'),
    });
  });

  test('is none if it is a group of products for previews', () => {
    const group =
      '<meta property="og:type" content="product.group"><meta property="og:title" content="Mugs">';
    expect(titleOf(`${group}<title>Mugs</title><h1>Mugs</h1>${button}`, url)).toBeNull();
  });

  const card = (at: number) =>
    `<li><a href="/p/${at}"><img src="/${at}.jpg"></a><h3><a href="/p/${at}">Mug ${at}</a></h3>${button}</li>`;

  test('is none if each of its controls is that of another product', () => {
    const cards = [1, 2, 3].map(card).join('');
    const stock = '<p>In stock</p>';
    expect(titleOf(page(`${stock}<ul>${cards}</ul>`), url)).toBeNull();
    expect(titleOf(page(`${price}<ul>${cards}</ul>`), url)).toBe('Oat mug');
  });

  test('is none if it is the first of several', () => {
    const next = (address: string) => `<link rel="next" href="${address}">`;
    expect(titleOf(next('/p/oat-mug?page=2') + page(price), url)).toBeNull();
    expect(titleOf(next('/p/bowl') + page(price), url)).toBe('Oat mug');
  });

  test('has no price in a number of products', () => {
    const count = '<p id="toolbar-amount">Items 1-60 of <b class="toolbar-number">747</b></p>';
    const read = readProductPage(open(page(`${count}${button}<p>SKU: M-482</p>`), url));
    expect(read?.values.price).toBeUndefined();
  });
});

test('a category that states a range of prices as a product is no product', () => {
  const url = 'https://kiln.example/c/mugs';
  const offers = { '@type': 'AggregateOffer', lowPrice: 5, highPrice: 90, offerCount: 320 };
  const mugs = { '@type': 'Product', name: 'Mugs', offers };
  const html = '<title>Mugs</title><h1>Mugs</h1>';
  expect(titleOf(html + script(mugs), url)).toBeNull();
  expect(titleOf(html + price + script(mugs), url)).toBe('Mugs');
  expect(titleOf(html + script({ ...mugs, sku: 'M-1' }), url)).toBe('Mugs');
});

test('a product below the examined beginning of a page is shown', () => {
  const url = 'https://kiln.example/p/oat-mug';
  const html = `<style>${'a{}'.repeat(120_000)}</style>${page(price)}`;
  const opened = { ...open(html, url), text: html };
  expect(otherPageFault(opened, readProductPage(opened), url)).toBeNull();
});

describe('a page whose own address is that of another page', () => {
  const faultOf = (own: string, { title = 'Blue mug', sku = 'K-1', path = '/p/red-mug' } = {}) => {
    const url = `https://kiln.example${path}`;
    const product = { '@type': 'Product', name: title, sku, offers: { price: 5 } };
    const head = `<title>${title}</title><link rel="canonical" href="${own}">${script(product)}`;
    const html = `${head}<h1>${title}</h1>${price}`;
    const opened = { ...open(html, url), text: html };
    return otherPageFault(opened, readProductPage(opened), url);
  };

  test.each([
    ['a title', '/p/blue-mug', {}],
    ['a code', '/p/20002', { path: '/p/10001', sku: '20002' }],
    ['a code in a name', '/p/mug-20002.html', { path: '/p/mug-10001.html', sku: '20002' }],
  ])('is another product by %s', (_, own, page) => {
    expect(faultOf(own, page)).toMatchObject({
      code: 'page_mismatch',
      message: `the page is that of https://kiln.example${own}, another product`,
    });
  });

  test.each([
    ['its own address', '/p/red-mug', {}],
    ['the first page of the shop', '/', {}],
    ['another folder', '/c/blue-mug', {}],
    ['another shop', 'https://blue.example/p/blue-mug', {}],
    ['the address of all variants', '/p/mug', {}],
    ['another name for its number', '/p/12-blue-mug', { path: '/p/12-old-cup' }],
    ['a longer name', '/p/red-mug-blue-rim', { title: 'Red mug' }],
    ['another name, of which the page has no word', '/p/green-cup', {}],
    ['another number, and its code is that of the address', '/p/20002', { path: '/p/K-1' }],
  ])('is the requested one with %s', (_, own, page) => {
    expect(faultOf(own, page)).toBeNull();
  });
});
