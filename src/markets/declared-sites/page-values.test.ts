import { expect, test } from 'vitest';
import {
  buyButton,
  jsonLd,
  readShopPage,
  shopPage,
} from '../../../test/support/pages/shop-page.ts';

const currencyOf = (stated: string, text: string) => {
  const data = jsonLd({ price: 12.5, priceCurrency: stated });
  const page = shopPage(`<p class="price">${text}</p>${buyButton}`);
  const { price, currency } = readShopPage(data + page)!;
  return { price, currency };
};

test('a currency that the visible price contradicts is none', () => {
  expect(currencyOf('USD', '€ 12,50')).toEqual({ price: 12.5, currency: null });
  expect(currencyOf('EUR', '€ 12,50')).toEqual({ price: 12.5, currency: 'EUR' });
  expect(currencyOf('AUD', '$12.50')).toEqual({ price: 12.5, currency: 'AUD' });
});
