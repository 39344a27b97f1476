import { describe, expect, test } from 'vitest';
import type { PageResponse } from '../../fetch/page.ts';
import { product, productRequest } from './product.ts';

const input = { item_id: '7001', shop_id: '55' };
const at = Date.UTC(2026, 4, 1);

function createResponse(body: unknown): PageResponse {
  return { status: 200, headers: {}, body: Buffer.from(JSON.stringify(body)), url: 'http://x', at };
}

const item = {
  item_id: 7001,
  shop_id: 55,
  title: 'Kettle',
  item_status: 'normal',
  price: 1_500_000,
  ctime: 1_700_000_000,
};
const read = (body: unknown) => product.extract(createResponse(body), input, 'sg');
const page = (changes: object) => ({ error: null, data: { item: { ...item, ...changes } } });

test('the request has the item, the shop and the region’s time zone', () => {
  expect(productRequest(input, 'id').path).toBe(
    '/api/v4/pdp/get_pc?item_id=7001&shop_id=55&tz_offset_minutes=420&detail_level=0',
  );
  expect(productRequest(input, 'br').path).toContain('tz_offset_minutes=-180');
});

describe('the result', () => {
  test('is the site’s response with scaled prices and the time in seconds', () => {
    const body = {
      bff_meta: { a: 1 },
      error: null,
      error_msg: null,
      data: { item, odd: { new: [1] } },
      extra: true,
    };
    expect(read(body)).toEqual({
      collected_at: at / 1000,
      ...body,
      data: { ...body.data, item: { ...bare, ...item } },
    });
  });

  test('has the envelope’s three fields even if the response lacks them', () => {
    expect(read({ data: { item } })).toMatchObject({
      bff_meta: null,
      error: null,
      error_msg: null,
    });
  });

  test('has no data about visitors and reviewers; a shop’s account is public', () => {
    const result = read({
      account: { user_id: 1 },
      data: {
        item,
        account: { user_id: 1, default_address: { city: 'X' } },
        product_shipping: {
          default_address: { city: 'X' },
          groups: [{ delivery_address: 'X', fee: 2 }],
        },
        product_review: { previews: [{ author_username: 'x', author_portrait: 'y', stars: 5 }] },
        shop_detailed: { account: { username: 'teashop' } },
      },
    });
    expect(result).not.toHaveProperty('account');
    expect(result.data).toEqual({
      item: { ...bare, ...item },
      product_shipping: { groups: [{ fee: 2 }] },
      product_review: { previews: [{ stars: 5 }] },
      shop_detailed: { account: { username: 'teashop' } },
    });
  });
});

describe('rejects a response about anything but the item', () => {
  test.each([
    ['another item', page({ item_id: 7002 }), 'page_mismatch', 'about item 7002'],
    ['another shop', page({ shop_id: 56 }), 'page_mismatch', 'belongs to shop 56'],
    [
      'a price below the lowest',
      page({ price_min: 1_500_001 }),
      'page_mismatch',
      'below its lowest',
    ],
    [
      'a price above the highest',
      page({ price_max: 1_499_999 }),
      'page_mismatch',
      'above its highest',
    ],
    [
      'crossed limits',
      page({ price: -1, price_min: 9, price_max: 5 }),
      'page_mismatch',
      'lowest price is above',
    ],
    ['a creation in the future', page({ ctime: at / 1000 + 90_000 }), 'page_mismatch', 'future'],
    ['a deleted item', page({ item_status: 'deleted' }), 'page_not_found', 'deleted'],
    ['a banned item', page({ item_status: 'banned' }), 'page_not_found', 'banned'],
    ['no item', { error: null, data: { item: null } }, 'page_unreadable', 'no product'],
    ['no data', { error: null, data: null }, 'page_unreadable', 'no product'],
    ['an item without an id', page({ item_id: null }), 'page_unreadable', 'no product'],
  ])('%s', (_name, body, code, words) => {
    expect(() => read(body)).toThrow(
      expect.objectContaining({ code, message: expect.stringContaining(words) }),
    );
  });

  test('accepts "none" and hidden values', () => {
    expect(read(page({ price: null, price_min: -1, price_max: 0, ctime: null }))).toHaveProperty(
      'data.item.price',
      null,
    );
  });

  test('accepts a timestamp slightly in the future', () => {
    expect(read(page({ ctime: at / 1000 + 3600 }))).toHaveProperty('data.item');
  });
});

const bare = {
  item_id: 7001,
  shop_id: 55,
  item_status: null,
  status: null,
  item_type: null,
  reference_item_id: null,
  title: 'Kettle',
  image: null,
  label_ids: [],
  attributes: [],
  models: [],
  description: null,
};

test('has every listed field, null or empty if the page lacks it', () => {
  const lacking = { item_id: 7001, shop_id: 55, title: 'Kettle', label_ids: null, stock: 3 };
  expect(read({ data: { item: lacking, odd: 1 } }).data).toEqual({
    item: { ...bare, stock: 3 },
    odd: 1,
  });
  const whole = {
    ...bare,
    item_status: 'normal',
    status: 1,
    item_type: 0,
    reference_item_id: '',
    image: 'x',
    label_ids: [7],
  };
  expect(read({ data: { item: whole } }).data).toEqual({ item: whole });
});

test('reads older generations, with listed fields in their newer place', () => {
  const older = { itemid: 7001, shopid: 55, name: 'Kettle' };
  expect(read({ error: 0, data: older }).data).toEqual({ ...older, item: bare });
  expect(read({ item: older, version: 'x', error: null })).toMatchObject({
    item: older,
    data: { item: bare },
  });
});
