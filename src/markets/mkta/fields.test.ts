import { describe, expect, test } from 'vitest';
import type { JsonObject } from '../../base/json.ts';
import { card } from './card.ts';
import { tracked } from './fields.ts';

const read = (entry: JsonObject) => tracked.search!(card({ itemid: 7, shopid: 8, ...entry }))!;

const newest: JsonObject = {
  item_card_display_price: {
    price: 4_500_000,
    strikethrough_price: 6_000_000,
    original_price: 6_100_000,
  },
  is_sold_out: false,
  item_status: 'normal',
  item_rating: { rating_star: 4.5, rating_count: [12, 0, 0, 1, 3, 8] },
  global_brand: { brand_id: 1, display_name: 'Lumora' },
  item_card_displayed_asset: { name: 'Kettle' },
};

describe('a newest card', () => {
  test('states price, list price, brand, stock state and ratings', () => {
    expect(read(newest)).toMatchObject({
      title: 'Kettle',
      price: 45,
      stock: null,
      available: true,
      rating: 4.5,
      details: { listPrice: 60, brand: 'Lumora', reviews: 12 },
    });
  });

  test('has the rating and the label of an official shop that it only shows', () => {
    const asset = { rating: { rating_text: '4.9' }, seller_flag: { name: 'OFFICIAL_SHOP' } };
    const shown = card({ itemid: 7, item_card_displayed_asset: asset });
    expect(shown).toMatchObject({ item_rating: { rating_star: 4.9 }, is_official_shop: true });
    const stated = card({
      itemid: 7,
      item_rating: { rating_star: 4.87 },
      is_official_shop: false,
      item_card_displayed_asset: asset,
    });
    expect(stated).toMatchObject({ item_rating: { rating_star: 4.87 }, is_official_shop: false });
    const preferred = { rating: { rating_text: '' }, seller_flag: { name: 'PREFERRED' } };
    expect(card({ itemid: 7, item_card_displayed_asset: preferred })).toMatchObject({
      item_rating: { rating_star: null },
      is_official_shop: null,
    });
  });

  test('has the price without a voucher, and keeps the site’s price in the record', () => {
    const display = {
      price: 4_200_000,
      applied_product_promo_price: 4_500_000,
      original_price: 6_100_000,
    };
    const entry = { ...newest, item_card_display_price: display };
    expect(read(entry)).toMatchObject({ price: 45, details: { listPrice: 61 } });
    const record = card({ itemid: 7, ...entry });
    expect(record).toMatchObject({ price: 4_200_000, item_card_display_price: display });
  });

  test('has its price if no voucher applies', () => {
    const display = { price: 4_500_000, applied_product_promo_price: 0 };
    expect(read({ ...newest, item_card_display_price: display })).toMatchObject({ price: 45 });
  });

  test('has no list price that is not higher', () => {
    const display = { price: 4_500_000, original_price: 4_500_000 };
    expect(read({ ...newest, item_card_display_price: display }).details.listPrice).toBeNull();
  });

  test.each([
    [{ is_sold_out: true }, false],
    [{ is_sold_out: true, stock: 10 }, false],
    [{ is_sold_out: 0 }, true],
    [{ item_status: 'sold_out' }, false],
    [{ item_status: 'normal' }, true],
    [{ item_status: 'reviewing' }, null],
    [{ stock: 3 }, true],
    [{ stock: 0, item_status: 'normal' }, false],
    [{}, null],
  ])('with %j is available: %j', (entry, available) => {
    expect(read({ name: 'Kettle', ...entry }).available).toBe(available);
  });

  test('has no rating if no one rated it', () => {
    const item_rating = { rating_star: 0, rating_count: [0, 0, 0, 0, 0, 0] };
    expect(read({ ...newest, item_rating })).toMatchObject({
      rating: null,
      details: { reviews: 0 },
    });
  });

  test('prefers the values of older cards', () => {
    const older = { brand: 'Rumi', price_before_discount: 5_000_000, cmt_count: 3 };
    expect(read({ ...newest, ...older }).details).toMatchObject({
      brand: 'Rumi',
      listPrice: 50,
      reviews: 3,
    });
  });
});
