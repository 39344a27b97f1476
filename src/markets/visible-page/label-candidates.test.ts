import { describe, expect, test } from 'vitest';
import {
  buyButton as button,
  shopPage as page,
  readShopPage as read,
} from '../../../test/support/pages/shop-page.ts';

const withText = (text: string) => page(`<p>€ 12,50</p>${button}${text}`);

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
