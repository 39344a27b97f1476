import { expect, test } from 'vitest';
import { find, parseHtml } from '../html/html.ts';
import { readCardPrice } from './card-price.ts';

const own = 'B0CARD0001';
const other = 'B0CARD0002';

const price = (text: string) =>
  `<span class="a-price"><span class="a-offscreen">${text}</span></span>`;
const struck = (text: string) =>
  `<span class="a-price a-text-price" data-a-strike="true"><span class="a-offscreen">${text}</span></span>`;
const link = (asin: string, inner: string) =>
  `<a href="/A-Slug/dp/${asin}/ref=sr_1_1">${inner}</a>`;
const row = (...parts: string[]) => `<div class="a-row">${parts.join(' ')}</div>`;
const below = (rows: string) => `<div data-cy="secondary-offer-recipe">${rows}</div>`;
const title = `<a href="/A-Slug/dp/${own}"><h2><span>Kindle Unlimited for cats, with a trial</span></h2></a>`;

function read(rows: string, home = 'USD') {
  const page = parseHtml(`<div id="card">${title}<div data-cy="price-recipe">${rows}</div></div>`);
  return readCardPrice(find(page.root, '#card')!, new Set([own]), home);
}

test.each([
  ['a price', row(link(own, price('$7.50'))), '$7.50', null],
  ['a price without a link', row(price('$7.50')), '$7.50', null],
  ['a struck price', row(link(own, price('$7.50') + struck('$9.00'))), '$7.50', '$9.00'],
  [
    'a struck price that is not higher',
    row(link(own, price('$7.50') + struck('$7.50'))),
    '$7.50',
    null,
  ],
  [
    'a price per unit',
    row(link(own, `${price('$7.50')}<span class="a-price a-text-price">$0.25</span>`)),
    '$7.50',
    null,
  ],
  [
    'the format of the card after another one',
    row(link(other, 'Hardcover'), link(other, price('$20.00'))) + row(link(own, price('$7.50'))),
    '$7.50',
    null,
  ],
  ['another format only', row(link(other, 'Hardcover')) + row(price('$20.00')), null, null],
  [
    'another format’s struck price',
    row(link(own, price('$7.50'))) + row(link(other, price('$20.00') + struck('$30.00'))),
    '$7.50',
    null,
  ],
  [
    'the sellers’ prices',
    row(`<a href="/gp/offer-listing/${own}">Used ${price('$2.00')}</a>`),
    null,
    null,
  ],
  ['no offer', row(link(own, 'No featured offers available')), null, null],
  [
    'a free trial',
    row(link(own, price('$0.00') + struck('$18.00'))) + row('Free with trial'),
    null,
    null,
  ],
  [
    'a trial with a purchase in flat rows',
    row(link(own, price('$0.00'))) + row('Free with membership') + row('Or $2.99 to buy'),
    '$2.99',
    null,
  ],
  [
    'a trial with another format’s purchase',
    row(link(own, price('$0.00'))) + row(link(other, 'Paperback')) + row('Or $2.99 to buy'),
    null,
    null,
  ],
  [
    'a trial with a purchase below the card’s own offer',
    row(link(own, price('$0.00'))) + row('Free with membership') + below(row('Or $2.99 to buy')),
    '$2.99',
    null,
  ],
  [
    'a trial with another format’s purchase below it',
    row(link(own, price('$0.00'))) + below(row(link(other, 'Paperback')) + row('Or $2.99 to buy')),
    null,
    null,
  ],
  [
    'other sellers’ prices below a card without an offer',
    row('No featured offers available') + below(row(price('$2.99'), '(2 new offers)')),
    null,
    null,
  ],
  [
    'a trial with a cost, and a price',
    row(link(own, price('$0.99')), 'with a Drama Channel trial') + row(link(own, price('$7.50'))),
    '$7.50',
    null,
  ],
  ['a members’ price', row(link(own, price('$7.50'))) + row('Exclusive Prime price'), null, null],
  ['a rental', row(link(own, price('$3.99')), 'to rent'), null, null],
  [
    'a rental or a purchase',
    row(price('$0.00')) + row('Or $3.99 to rent or $9.99 to buy'),
    null,
    null,
  ],
  [
    'a purchase beside a rental',
    row(link(own, `${price('$3.99')} to rent`), '<br>', link(own, '$9.99 to buy')),
    '$9.99',
    null,
  ],
  [
    'notes about other prices',
    row(link(own, price('$7.50'))) +
      row('Join Prime to buy this item at $6.00') +
      row('FREE delivery for Prime members') +
      row('Or $0.00 with Kindle Unlimited') +
      row('Free with a Kindle Unlimited membership'),
    '$7.50',
    null,
  ],
  [
    'pictures of other colours',
    link(other, '<img alt="Blue">') + row(price('$7.50') + struck('$9.00')),
    '$7.50',
    '$9.00',
  ],
  [
    'a unit price before the price',
    row(`${price('$0.50')}/ounce ${price('$7.50')}`),
    '$7.50',
    null,
  ],
])('reads %s', (_, rows, expected, original) => {
  const found = read(rows);
  expect([found.price, found.original]).toEqual([expected, original]);
  expect(found.currency).toBe(expected === null ? null : 'USD');
});

test.each([
  ['Oder 2,99 € zum Kaufen', '2,99 €', 'EUR'],
  ['Ou 2,99 € à l’achat', '2,99 €', 'EUR'],
  ['Oppure 2,99 € per l’acquisto', '2,99 €', 'EUR'],
  ['o 2,99 € para comprar', '2,99 €', 'EUR'],
  ['または¥299で購入', '¥299', 'JPY'],
])('reads the purchase %j', (note, expected, currency) => {
  const free = currency === 'JPY' ? '¥0' : '0,00 €';
  expect(read(row(link(own, price(free))) + row(note), currency)).toEqual({
    price: expected,
    original: null,
    currency,
  });
});

test('reads a sponsored card, whose links are redirects', () => {
  const href = `/sspa/click?ie=UTF8&url=${encodeURIComponent(`/A-Slug/dp/${own}/ref=sr_1`)}`;
  expect(read(row(`<a href="${href}">${price('$7.50')}</a>`))).toMatchObject({ price: '$7.50' });
});
