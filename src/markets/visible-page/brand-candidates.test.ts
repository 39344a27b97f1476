import { describe, expect, test } from 'vitest';
import {
  buyButton as button,
  jsonLd,
  shopPage as page,
  readShopPage as read,
} from '../../../test/support/pages/shop-page.ts';

const withText = (text: string) => page(`<p>€ 12,50</p>${button}${text}`);

/* cspell:ignore výrobca бренд marque */
describe('the brand of a page without structured data', () => {
  const brandOf = (text: string) =>
    read(withText(text).replaceAll('Oat mug', 'Kiln Works oat mug'))?.brand ?? null;

  test.each([
    '<p>Brand: Kiln Works</p>',
    '<p><span>Brand:</span> <a href="/b/kiln-works">Kiln Works</a></p>',
    '<table><tr><th>Marque</th><td>Kiln Works</td></tr></table>',
    '<div><p>Výrobca</p><p>Kiln Works</p></div>',
    '<div><div><span>Бренд:</span></div><div>KILN WORKS</div></div>',
    '<dl><dt>Manufacturer</dt><dd>Kiln Works</dd></dl>',
  ])('is after the label in %s', (text) => {
    expect(brandOf(text)).toMatch(/^kiln works$/i);
  });

  test.each([
    '<p>Brand: Hillside</p>',
    '<table><tr><td>BRAND</td><td>Hillside</td></tr></table>',
    '<p>Brand: <a href="/b/hillside">Hillside</a> | <a href="/b/h">More from Hillside</a></p>',
    '<p>Brand: Hillside</p><p>Manufacturer: HILLSIDE</p>',
  ])('is after the only label below the heading in %s', (text) => {
    expect(brandOf(text)).toBe('Hillside');
  });

  test.each([
    '<p class="product-brand">Kiln Works</p>',
    '<a class="manufacturer-logo" href="/b/1"><img alt="Kiln Works" src="/k.png"></a>',
    '<div class="pdp"><span class="vendor">Kiln Works</span></div>',
  ])('is in an element named as one and in the heading in %s', (text) => {
    expect(brandOf(text)).toBe('Kiln Works');
  });

  test.each([
    ['is not in the heading, and in an element named as one', '<p class="brand">Hillside</p>'],
    ['is that of the shop', '<a class="site-branding" href="/">Kiln Works</a>'],
    ['is one of a manufacturer alone', '<p>Manufacturer: Hillside</p>'],
    ['is one of several', '<p>Brand: Hillside</p><p>Brand: Hilltop</p>'],
    ['is a sentence', '<p>Brand</p><p>A family pottery since 1950.</p>'],
    ['is the beginning of a text', '<p>Brand</p><p>Made by hand in the hills of Umbria</p>'],
    ['is below a heading', '<h3>Brand</h3><p>Stories of Hillside</p>'],
    ['is a choice', '<p>Brand: All brands</p>'],
    ['is a heading', '<p>Brand</p><p>Brand ▾</p>'],
    ['is a part of a word', '<p>Brand: Kil</p><p>Brand: Hillside</p>'],
    ['has no label', '<p>Brand new Kiln Works</p>'],
    ['is another one after another label', '<p>Brand: Kiln Works</p><p>Manufacturer: Kiln</p>'],
    ['is that of another product', '<li><a href="/p/2"><img></a><p>Brand: Kiln Works</p></li>'],
  ])('is null if it %s', (_name, text) => {
    expect(brandOf(text)).toBeNull();
  });

  test('is one that two embedded states of the product have', () => {
    const state = (name: string, value: unknown) =>
      `<script>window.${name} = ${JSON.stringify(value)};</script>`;
    const one = state('__ONE__', { name: 'Kiln Works oat mug', brand: { name: 'Hillside' } });
    const other = state('__OTHER__', { title: 'Kiln Works oat mug', vendor: 'HILLSIDE' });
    const numbered = state('__OTHER__', { title: 'Kiln Works oat mug', brand: '17' });
    expect(brandOf(one + other)).toBe('Hillside');
    expect(brandOf(one)).toBeNull();
    expect(brandOf(one + numbered)).toBeNull();
  });

  test('above the heading has to be in the name of the product', () => {
    const html = withText('').replace('<h1>', '<p>Brand: Hillside</p><h1>');
    expect(read(html)?.brand).toBeNull();
  });

  test('is that of structured data if that has one', () => {
    const html = withText('<p>Brand: Oat mug</p>') + jsonLd({ price: 12.5 }, { brand: 'Kiln' });
    expect(read(html)).toMatchObject({ brand: 'Kiln', from: { brand: 'json-ld' } });
  });
});
