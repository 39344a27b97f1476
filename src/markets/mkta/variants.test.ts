import { describe, expect, test } from 'vitest';
import type { JsonObject } from '../../base/json.ts';
import { variants } from './product.ts';

const input = { item_id: '7001', shop_id: '55' };
const at = Date.UTC(2026, 4, 1) + 999;

function read(data: JsonObject, region = 'my'): JsonObject {
  const body = Buffer.from(JSON.stringify({ error: null, data }));
  return variants.extract({ status: 200, headers: {}, body, url: 'http://x', at }, input, region);
}

const item = {
  item_id: 7001,
  shop_id: 55,
  item_status: 'normal',
  title: 'Kettle',
  image: 'cover',
  condition: 1,
  cat_id: 9,
  currency: 'MYR',
  brand: 'Lumora',
  brand_id: 12,
  ctime: 1_700_000_000,
  cb_option: 1,
  flag: 4,
  description: 'Boils.',
  categories: [{ catid: 9 }, { catid: 90 }],
  raw_discount: 20,
  price: 1_999_000,
  models: [
    {
      model_id: 1,
      name: 'Red,S',
      price: 1_999_000,
      stock: 3,
      normal_stock: 3,
      sold: 7,
      extinfo: { tier_index: [0, 1] },
    },
    { modelid: 2, name: '', price: 0, stock: 0, normal_stock: 0, sold: 0, tier_index: [1, 0] },
  ],
};

const full = {
  item,
  product_images: { images: ['a', 'b'] },
  product_price: {
    discount: 20,
    price: { single_value: -1, range_min: 1_999_000, range_max: 2_500_000, price_mask: null },
    discount_text: null,
    show_final_price_indicator: false,
  },
  product_review: { rating_star: 4.5, historical_sold: 120, liked_count: 8, cmt_count: 30 },
};

test('has every listed field with money in currency units', () => {
  expect(read(full)).toEqual({
    collected_at: Math.floor(at / 1000),
    cbOption: 1,
    cmtCount: 30,
    condition: 1,
    createTime: 1_700_000_000,
    currency: 'MYR',
    description: 'Boils.',
    flag: 4,
    globalBrandId: 12,
    images: ['a', 'b'],
    itemCardV2: {
      displayPrice: {
        currency: 'MYR',
        discount: 20,
        discountPrice: '19.99',
        discountText: {
          text: null,
          buyerTranslatedText: { source: null, translatedLanguage: null, translatedText: null },
        },
        displayFinalPriceIcon: false,
        priceMask: null,
      },
    },
    itemId: '7001',
    likedCount: 8,
    localBrand: 'Lumora',
    localCatIds: [9, 90],
    shopId: '55',
    country: 'my',
    title: 'Kettle',
    historicalSold: 120,
    rating: 4.5,
    models: [
      { modelId: '1', name: 'Red,S', price: 19.99, stock: 3, sold: 7, tierIndex: [0, 1] },
      { modelId: '2', name: '', price: null, stock: 0, sold: 0, tierIndex: [1, 0] },
    ],
  });
});

test('returns null or empty fields for an item with ids and a title only', () => {
  const { collected_at, itemCardV2, ...record } = read({ item: { item_id: 7001, title: 'Mug' } });
  expect(collected_at).toBe(Math.floor(at / 1000));
  expect(itemCardV2).toMatchObject({
    displayPrice: { currency: null, discountPrice: null, priceMask: null },
  });
  expect(record).toEqual({
    cbOption: null,
    cmtCount: null,
    condition: null,
    createTime: null,
    currency: null,
    description: null,
    flag: null,
    globalBrandId: null,
    images: [],
    itemId: '7001',
    likedCount: null,
    localBrand: null,
    localCatIds: [],
    shopId: '55',
    country: 'my',
    title: 'Mug',
    historicalSold: null,
    rating: null,
    models: [],
  });
});

test.each([
  ['ids only', { item: { item_id: 7001 } }],
  [
    'no price',
    { item: { item_id: 7001, price: -1 }, product_price: { price: { single_value: 0 } } },
  ],
])('rejects an item without title and price: %s', (_, data) => {
  expect(() => read(data)).toThrow(expect.objectContaining({ code: 'page_unreadable' }));
});

test('has no rating for an unrated item', () => {
  expect(read({ item, product_review: { rating_star: 0 } }).rating).toBeNull();
});

test('treats parts of another type as missing', () => {
  const record = read({
    item: {
      ...item,
      models: [null, 'x', { model_id: '3', extinfo: 5 }],
      images: 'x',
      categories: {},
    },
    product_review: [],
  });
  expect(record).toMatchObject({
    images: ['cover'],
    localCatIds: [9],
    models: [{ modelId: '3', name: null, price: null, stock: null, sold: null, tierIndex: [] }],
  });
});

describe('returns null for hidden values', () => {
  const hidden = { model_id: 1, name: 'A', price: null, stock: 10, normal_stock: null, sold: null };

  test('for a visitor without a session: prices, sold counts and capped stock', () => {
    const models = [hidden, { ...hidden, model_id: 2, stock: 0 }];
    const record = read({
      item: { ...item, price: null, models },
      product_price: { discount: null, price: null },
      product_review: { historical_sold: null },
    });
    expect(record).toMatchObject({
      historicalSold: null,
      models: [
        { price: null, stock: null, sold: null },
        { price: null, stock: 0, sold: null },
      ],
      itemCardV2: { displayPrice: { discount: null, discountPrice: null } },
    });
  });

  test('behind a mask, which is kept', () => {
    const product_price = { price: { single_value: 1_000_000, price_mask: '1?.90' } };
    expect(read({ item, product_price })).toMatchObject({
      itemCardV2: { displayPrice: { discountPrice: null, priceMask: '1?.90' } },
    });
  });

  test('for hidden stock, and a sold count of 0 with hidden counts', () => {
    const record = read({
      item: { ...item, is_hide_stock: true },
      product_meta: { hide_sold_count: true },
      product_review: { historical_sold: 0 },
    });
    expect(record).toMatchObject({
      historicalSold: null,
      models: [{ stock: null }, { stock: null }],
    });
  });
});

test('reads counts, pictures and names of older generations from the item', () => {
  const { item_id: itemid, shop_id: shopid, title: name, ...rest } = item;
  const data = {
    itemid,
    shopid,
    name,
    ...rest,
    images: ['x'],
    historical_sold: 5,
    liked_count: 1,
    cmt_count: 2,
    item_rating: { rating_star: 3 },
  };
  expect(read(data)).toMatchObject({
    title: 'Kettle',
    images: ['x'],
    historicalSold: 5,
    likedCount: 1,
    cmtCount: 2,
    rating: 3,
    shopId: '55',
    itemCardV2: { displayPrice: { discountPrice: '19.99', discount: 20 } },
  });
});

test('joins a description in paragraphs', () => {
  const product_description = {
    paragraphs: [{ type: 0, text: 'One.' }, { img_id: 'x' }, { text: 'Two.' }],
  };
  expect(read({ item: { ...item, description: '' }, product_description })).toHaveProperty(
    'description',
    'One.\nTwo.',
  );
});
