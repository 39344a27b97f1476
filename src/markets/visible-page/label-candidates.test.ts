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
    ['is not in the name of the product', '<p>Brand: Hillside</p>'],
    ['is a part of a word', '<p>Brand: Kil</p>'],
    ['has no label', '<p>Brand new Kiln Works</p>'],
    ['is another one after another label', '<p>Brand: Kiln Works</p><p>Manufacturer: Kiln</p>'],
    ['is that of another product', '<li><a href="/p/2"><img></a><p>Brand: Kiln Works</p></li>'],
  ])('is null if it %s', (_name, text) => {
    expect(brandOf(text)).toBeNull();
  });

  test('is that of structured data if that has one', () => {
    const html = withText('<p>Brand: Oat mug</p>') + jsonLd({ price: 12.5 }, { brand: 'Kiln' });
    expect(read(html)).toMatchObject({ brand: 'Kiln', from: { brand: 'json-ld' } });
  });
});

describe('the trade number of a page without structured data', () => {
  test.each([
    ['<p>EAN: 4006381333931</p>', '4006381333931'],
    ['<tr><td>EAN-13</td><td>4006381 333931</td></tr>', '4006381333931'],
    ['<p><b>ISBN-13:</b> 978-3-16-148410-0</p>', '9783161484100'],
    ['<p>EAN: 4006381333932</p>', null],
    ['<p>EAN: 4006381333931</p><p>UPC: 012345678905</p>', null],
    ['<p>4006381333931</p>', null],
  ])('in %s is %s', (text, gtin) => {
    expect(read(withText(`<table>${text}</table>`))?.gtin ?? null).toBe(gtin);
  });
});
