/* cspell:ignore impostos juros normalprice */
import { describe, expect, test } from 'vitest';
import {
  buyButton,
  jsonLd,
  readShopPage,
  shopPage,
} from '../../../test/support/pages/shop-page.ts';

const now = '<span class="price">€ 12,50</span>';
const named = '<span class="price with-list-price">€ 12,50</span>';
const offer = { price: 12.5, priceCurrency: 'EUR' };
const listPriceOf = (prices: string, data = jsonLd(offer)) =>
  readShopPage(shopPage(`<div>${prices}</div>${buyButton}`) + data)?.list_price;

describe('a list price beside the price', () => {
  test.each([
    ['struck', `<del>€ 15,00</del> ${now}`],
    ['struck by its style', `<span style="text-decoration: line-through">€ 15,00</span> ${now}`],
    ['in an element of its own', `<p><span class="old-price">€ 15,00</span> € 12,50</p>`],
    ['labelled as the former one', `<p>Was: <b>€ 15,00</b></p>${now}`],
    ['recommended', `<p>RRP € 15,00</p>${now}`],
    ['shown with what is saved', `<del>€ 15,00</del> ${now} <b class="price">€ 2,50</b>`],
    ['in the element of what is saved', `<i class="save"><s class="was">€ 15,00</s></i> ${now}`],
    ['named as one', `<b class="list-price">€ 15,00</b> ${now}`],
    ['named as the regular price', `<i><b class="regular-price">€ 15,00</b></i> ${now}`],
    ['named as one of its kind', `<b class="price price--standard">€ 15,00</b> ${now}`],
    ['named as one that is suggested', `<i class="SuggestedRetailPrice">€ 15,00</i> ${now}`],
    ['also shown without its label', `<p>RRP € 15,- <b class="price">€ 15,00</b></p>${now}`],
    ['beside a text about what is saved', `<s>€ 15,00</s> ${now} <p>You save € 2.50 today</p>`],
    [
      'beside an instalment with a label around it',
      `<s>€ 15,00</s> ${now}<p>6 payments of <i><b><u class="price">€ 2,09</u></b></i></p>`,
    ],
    ['beside one that is named as having it', `<b class="list-price">€ 15,00</b> ${named}`],
    ['named as that of no sale', `<b class="non-sale-price">€ 15,00</b> ${now}`],
    ['beside a price per unit', `<s>€ 15,00</s> ${now} <p>(€ 41,67 / 1 l)</p>`],
    [
      'beside a sentence with the price',
      `<s>€ 15,00</s> ${now} <p>You can have it for € 12,50.</p>`,
    ],
    ['beside the price without tax', `<s>€ 15,00</s> ${now} <p>Sem impostos: € 10,42</p>`],
    [
      'beside both prices without tax',
      `<s>€ 15,00</s> ${now}<div class="price-withoutTax"><s>€ 12,50</s> <b>€ 10,42</b></div>`,
    ],
    ['in the label of the price', `<s>€ 15,00</s><label class="price">€ 12,50</label>`],
    ['said to be reduced', `<s>Price reduced from <b>€ 15,00</b> to</s> ${now}`],
    ['beside a price per kilogram', `<s>€ 15,00</s> ${now} <p>€ 41,67 pro 1 kg</p>`],
    [
      'named as the regular one by its element',
      `<b class="box__priceRegularPrice">€ 15,00</b> ${now}`,
    ],
    [
      'named in one word',
      `<b class="normalprice">€ 15,00</b> <b class="productSpecialPrice">€ 12,50</b>`,
    ],
    ['before a reduced one', `<p>De <b>€ 15,00</b> por <b class="price">€ 12,50</b></p>`],
    [
      'named as one by its field',
      `<b class="field field-list-price">€ 15,00</b><b class="field field-price">€ 12,50</b>`,
    ],
    ['beside instalments', `<s>€ 15,00</s> ${now} <p>ou 10x de € 1,25 sem juros</p>`],
    ['beside a price for a means of payment', `<s>€ 15,00</s> ${now} <p>€ 11,00 no Pix</p>`],
    ['shown twice', `<del>€ 15,00</del><del>€ 15,00</del> ${now}`],
  ])('is read if it is %s', (_name, prices) => {
    expect(listPriceOf(prices)).toBe(15);
  });

  test.each([
    ['it is named as one and lower', `<b class="list-price">€ 10,00</b> ${now}`],
    ['it is in a list of prices', `<b class="price-list"><b>€ 15,00</b></b> ${now}`],
    ['it is lower than the price', `<del>€ 10,00</del> ${now}`],
    ['there are several', `<del>€ 15,00</del><del>€ 16,00</del> ${now}`],
    ['a sentence has another price', `<s>€ 15,00</s> ${now} <p>You can have it for € 12,00.</p>`],
    ['it is in another currency', `<del>$ 15.00</del> ${now}`],
    ['it is the lowest of the last days', `<p>Lowest price <s>€ 15,00</s></p>${now}`],
    ['it is a price per unit', `<p><s>€ 15,00</s>/kg</p>${now}`],
    ['it is the price of a set', `<p>3 for <s>€ 15,00</s></p>${now}`],
    [
      'it is that of another product',
      `${now}<ul><li><h3><a href="/p/2">Bowl</a></h3><del>€ 15,00</del> € 12,50</li></ul>`,
    ],
  ])('is none if %s', (_name, prices) => {
    expect(listPriceOf(prices)).toBeNull();
  });

  test('is none if it belongs to another price than the one of the record', () => {
    const priceSpecification = { price: 15, priceType: 'https://schema.org/ListPrice' };
    const listed = jsonLd({ ...offer, priceSpecification });
    const other = jsonLd({ ...offer, price: 10, priceSpecification });
    expect(listPriceOf(now, listed)).toBe(15);
    expect(listPriceOf(now, other)).toBeNull();
    expect(listPriceOf(`<del>€ 18,00</del> ${now}`, listed)).toBeNull();
  });
});
