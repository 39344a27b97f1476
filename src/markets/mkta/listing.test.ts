import { describe, expect, test } from 'vitest';
import type { JsonObject } from '../../base/json.ts';
import { readListing } from './listing.ts';

const at = Date.UTC(2026, 4, 1);

function list(body: unknown, shopId?: string) {
  return readListing(
    { status: 200, headers: {}, body: Buffer.from(JSON.stringify(body)), url: 'http://x', at },
    shopId,
  );
}

const rating = { rating_star: 4.5, rating_count: [3, 0, 0, 0, 1, 2] };
const tiers = [{ name: 'Color', options: ['Red'] }];

const basic = {
  itemid: 1,
  shopid: 5,
  name: 'Kettle',
  price: 250_000,
  price_min: 250_000,
  price_max: 300_000,
  stock: 0,
  sold: 0,
  historical_sold: 6,
  liked_count: 9,
  cmt_count: 3,
  item_rating: rating,
  shop_location: 'Harbour',
  is_official_shop: false,
  tier_variations: tiers,
  ctime: 1_600_000_000,
  liked: true,
  currency: 'SGD',
};

const listed = {
  ...basic,
  shop_name: null,
  image: null,
  images: [],
  label_ids: [],
} as JsonObject;
delete listed.liked;

const card = {
  itemid: 1,
  shopid: 5,
  liked_count: 9,
  item_rating: rating,
  tier_variations: tiers,
  item_status: 'sold_out',
  shop_data: { shop_name: 'Warung', shop_location: 'Harbour' },
  item_card_display_price: { price: 250_000, strikethrough_price: 500_000, discount: 50 },
  item_card_display_sold_count: {
    historical_sold_count: 0,
    monthly_sold_count: 0,
    historical_sold_count_text: '30k+ sold',
    monthly_sold_count_text: '288/month',
  },
  item_card_displayed_asset: {
    name: 'Kettle',
    image: 'a',
    images: ['a', 'b'],
    sold_count: { text: '30k+ sold' },
  },
};

const fromCard = {
  itemid: 1,
  shopid: 5,
  name: 'Kettle',
  price: 250_000,
  price_min: null,
  price_max: null,
  stock: null,
  sold: 288,
  historical_sold: 30_000,
  liked_count: 9,
  cmt_count: null,
  item_rating: rating,
  shop_location: 'Harbour',
  shop_name: 'Warung',
  is_official_shop: null,
  tier_variations: tiers,
  images: ['a', 'b'],
  item_status: 'sold_out',
};

describe('generations', () => {
  test.each([
    ['flat', { items: [basic] }],
    [
      'item_basic',
      { items: [{ itemid: 1, shopid: 5, adsid: 4, item_basic: basic, tracking_info: { x: 1 } }] },
    ],
    ['under data', { data: { items: [{ item_basic: basic }] } }],
    ['sections', { data: { sections: [{ data: { item: [basic] } }, { data: null }], total: 1 } }],
  ])('%s', (_name, body) => {
    expect(list(body).entries).toEqual([listed]);
  });

  test.each([
    ['cards', { items: null, centralize_item_card: { item_cards: [card] } }],
    ['cards under data', { data: { centralize_item_card: { item_cards: [card] } } }],
    ['item_data', { items: [{ item_basic: null, item_data: card, search_item_tracking: 'x' }] }],
    [
      'item_data and a partial item_basic',
      { items: [{ item_basic: { itemid: 1, name: null }, item_data: card }] },
    ],
  ])('%s', (_name, body) => {
    expect(list(body).entries).toEqual([expect.objectContaining(fromCard)]);
    expect(JSON.stringify(list(body).entries)).not.toMatch(/tracking/);
  });

  test('fills every listed field of a product with ids only', () => {
    expect(list({ items: [{ itemid: 1, shopid: 5 }] }).entries).toEqual([
      {
        itemid: 1,
        shopid: 5,
        name: null,
        image: null,
        images: [],
        price: null,
        price_min: null,
        price_max: null,
        stock: null,
        sold: null,
        historical_sold: null,
        liked_count: null,
        cmt_count: null,
        item_rating: { rating_star: null, rating_count: [] },
        shop_location: null,
        shop_name: null,
        is_official_shop: null,
        tier_variations: [],
        label_ids: [],
      },
    ]);
  });
});

test('converts listed values to their types, and drops those of others', () => {
  const odd = {
    itemid: '1',
    shopid: '5',
    name: 7,
    images: ['a', null, ''],
    price: '250000',
    price_min: 'x',
    stock: '4',
    liked_count: '9',
    cmt_count: [],
    item_rating: { rating_star: '4.5', rating_count: ['3', 0, 0, 0, 1, 2], has_more: true },
    is_official_shop: 1,
    tier_variations: [{ name: null, options: ['Red', null], images: null }, 'x'],
    label_ids: ['1', 9, null],
  };
  expect(list({ items: [odd] }).entries[0]).toMatchObject({
    itemid: 1,
    shopid: 5,
    name: '7',
    images: ['a'],
    price: 250_000,
    price_min: null,
    stock: 4,
    liked_count: 9,
    cmt_count: null,
    item_rating: { ...rating, has_more: true },
    is_official_shop: true,
    tier_variations: [{ name: '', options: ['Red', ''], images: null }],
    label_ids: [1, 9],
  });
});

describe('a page', () => {
  const items = (...ids: number[]) => ids.map((itemid) => ({ ...basic, itemid }));

  test('has each product once, in order, and counts duplicates', () => {
    const { entries, places } = list({ items: items(3, 1, 3, 2, 1) });
    expect(entries.map(({ itemid }) => itemid)).toEqual([3, 1, 2]);
    expect(places).toBe(5);
  });

  test('states the total and whether it is the last', () => {
    expect(list({ items: items(1), total_count: 7, nomore: false })).toMatchObject({
      total: 7,
      last: false,
    });
    expect(list({ data: { items: items(1), total: 7, no_more: true } })).toMatchObject({
      total: 7,
      last: true,
    });
    expect(list({ items: items(1) })).toMatchObject({ total: null, last: null });
  });

  test.each([{ items: [] }, { items: null, nomore: true, total_count: 9 }, { data: { total: 0 } }])(
    'can be empty: %j',
    (body) => {
      expect(list(body)).toMatchObject({ entries: [], places: 0 });
    },
  );

  test.each([
    {},
    { data: {} },
    { items: 'none' },
    { items: 'none', nomore: true },
    { items: null, nomore: false, total_count: 60 },
    { total_count: 60 },
    { items: [1, 'x', { name: 'banner' }] },
    { items: [null], nomore: true },
  ])('is unreadable: %j', (body) => {
    expect(() => list(body)).toThrow(expect.objectContaining({ code: 'page_unreadable' }));
  });

  test('is a fault if it has a refusal, never empty', () => {
    expect(() => list({ error: 90309999, is_login: false })).toThrow(
      expect.objectContaining({ code: 'page_blocked' }),
    );
  });

  test('is a fault if it has impossible values, but not for one implausible product among many', () => {
    const decoy = { ...basic, price: 1, ctime: 4_000_000_000 };
    expect(() => list({ items: [decoy, { ...decoy, itemid: 2 }] })).toThrow(
      expect.objectContaining({ code: 'page_mismatch' }),
    );
    expect(
      list({ items: [decoy, ...items(...Array.from({ length: 19 }, (_, at) => at + 2))] }).entries,
    ).toHaveLength(20);
  });

  test('has only products of the requested shop', () => {
    const mixed = [basic, { ...basic, itemid: 2, shopid: 6 }];
    expect(list({ items: mixed }, '5').entries).toHaveLength(1);
    expect(() => list({ items: mixed }, '7')).toThrow(
      expect.objectContaining({ code: 'page_mismatch' }),
    );
  });
});
