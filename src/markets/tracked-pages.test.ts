import { describe, expect, test } from 'vitest';
import type { JsonObject } from '../base/json.ts';
import { tracked as mkta } from './mkta/fields.ts';
import { tracked as mktb } from './mktb/fields.ts';
import { mktd } from './mktd/index.ts';
import { mktf } from './mktf/index.ts';
import { trackedItem } from './tracked.ts';

describe('trackedItem()', () => {
  test('has no negative numbers, and no rating on another scale', () => {
    const values = { price: -1, stock: -1, sold: -1, reviews: -1, rating: 9.4 };
    const variants = [{ id: 'a', name: null, price: -1, stock: -1 }];
    expect(trackedItem('a', { ...values, variants })).toMatchObject({
      price: null,
      stock: null,
      available: null,
      sold: null,
      rating: null,
      details: { reviews: null },
      variants: [{ price: null, stock: null }],
    });
  });
});

describe('a page of mkta', () => {
  const page = (item: JsonObject, price: JsonObject = {}) =>
    mkta.product!({
      data: {
        item: { item_id: 1, models: [{ model_id: 1, price: 500_000, stock: 3 }], ...item },
        product_price: { price },
      },
    });

  test('that is sold out is not available, whatever its stock', () => {
    expect(page({ item_status: 'sold_out' })).toMatchObject({ stock: 3, available: false });
    expect(page({ item_status: 'normal' })).toMatchObject({ stock: 3, available: true });
  });

  test('that hides its stock, or says that it is unavailable, has an unknown availability', () => {
    expect(page({ is_hide_stock: true })).toMatchObject({ stock: null, available: null });
    expect(page({ is_unavailable: true })).toMatchObject({ stock: 3, available: null });
    const capped = { models: [{ model_id: 1, price: null, normal_stock: null, stock: 10 }] };
    expect(page(capped)).toMatchObject({ stock: null, available: null });
  });

  test('has the price of the page if models have none', () => {
    const models = [{ model_id: 1, price: null }];
    expect(page({ models }, { single_value: 700_000 })).toMatchObject({ price: 7 });
    const range = { single_value: -1, range_min: 600_000, range_max: 900_000 };
    expect(page({ models }, range)).toMatchObject({ price: 6 });
  });

  test('has the number of pieces sold that the page shows', () => {
    const soldOf = (review: JsonObject, hide_sold_count = false) =>
      mkta.product!({
        data: { item: { item_id: 1 }, product_review: review, product_meta: { hide_sold_count } },
      })!.sold;
    expect(soldOf({ historical_sold: 0, historical_sold_text: '30k+' })).toBe(30_000);
    expect(soldOf({ historical_sold: 0 })).toBe(0);
    expect(soldOf({ historical_sold: 0 }, true)).toBeNull();
  });

  test('with a masked price has none', () => {
    expect(page({}, { price_mask: 'Rp?' })).toMatchObject({ price: null });
    expect(page({}, { price_mask: '' })).toMatchObject({ price: 5 });
  });
});

describe('a page of mktb', () => {
  const child = (price: unknown, stock: string, isBuyable = stock !== '0') => ({
    productID: '1',
    price,
    stock: { stock, isBuyable },
  });
  const page = (children: object[], content: object = {}) => {
    const components = [
      { name: 'product_content', data: [{ name: 'Shelf', ...content }] },
      { name: 'new_variant_options', data: [{ children }] },
    ];
    const variants = { basicInfo: { id: '1' }, components };
    return mktb.product!({ data: { variants } } as unknown as JsonObject);
  };

  test('has the pieces of all variants, not of the selected one', () => {
    const sold = { stock: { useStock: true, value: '0' } };
    expect(page([child(9_000, '0'), child(9_500, '4')], sold)).toMatchObject({
      stock: 4,
      available: true,
    });
    expect(page([child(9_000, '2', false)])).toMatchObject({ available: false });
    expect(page([], sold)).toMatchObject({ stock: 0, available: false });
  });

  test('without a managed stock does not state it', () => {
    const unmanaged = { stock: { useStock: false, value: '0' } };
    expect(page([], unmanaged)).toMatchObject({ stock: null, available: null });
  });

  test('has no number of pieces sold below the one that it shows', () => {
    const soldOf = (countSold: string, itemSoldFmt?: string) => {
      const basicInfo = { id: '7', txStats: { countSold, itemSoldFmt } };
      const record = { data: { variants: { basicInfo, components: [] } } } as unknown as JsonObject;
      return mktb.product!(record)!.sold;
    };
    expect(soldOf('8327', '11,4 rb')).toBeNull();
    expect(soldOf('81', '80+')).toBe(81);
    expect(soldOf('81')).toBe(81);
  });

  test.each(['variant_options', 'mini_variant_options'])('has the variants of %s', (name) => {
    const content = {
      price: { value: 9_900, currency: 'IDR' },
      stock: { useStock: true, value: '0' },
      variant: { isVariant: true },
    };
    const variants = (children: object[]) => [
      { name: 'product_content', data: [content] },
      { name, data: [{ children }] },
    ];
    const read = (children: object[]) => {
      const record = {
        data: { variants: { basicInfo: { id: '1' }, components: variants(children) } },
      };
      return mktb.product!(record as unknown as JsonObject);
    };
    expect(read([child(9_500, '3'), child(9_900, '1', false)])).toMatchObject({
      price: 9_500,
      stock: 4,
      available: true,
    });
    expect(read([])).toMatchObject({ price: 9_900, stock: null, available: null });
  });

  test('has the price of a running campaign for everyone', () => {
    const campaign = { isActive: true, originalPrice: 9_900, discountedPrice: 7_900 };
    const priced = (more: object, value = 9_900) =>
      page([], { price: { value }, campaign: { ...campaign, ...more } });
    const lowered = { price: 7_900, details: { listPrice: 9_900 } };
    expect(priced({})).toMatchObject(lowered);
    expect(priced({}, 7_900)).toMatchObject(lowered);
    expect(priced({ isActive: false })).toMatchObject({
      price: 9_900,
      details: { listPrice: null },
    });
    expect(priced({ isAppsOnly: true })).toMatchObject({ price: 9_900 });
    const campaignInfo = { isActive: true, originalPrice: 9_500, discountPrice: 8_000 };
    expect(page([{ ...child(9_500, '1'), campaignInfo }])).toMatchObject({
      price: 8_000,
      variants: [{ price: 8_000 }],
      details: { listPrice: 9_500 },
    });
  });

  test('has the struck price and all options of a variant', () => {
    const variant = { ...child(8_000, '1'), slashPriceFmt: 'Rp9.500', optionName: ['Red', 'XL'] };
    expect(page([variant])).toMatchObject({
      variants: [{ name: 'Red, XL' }],
      details: { listPrice: 9_500 },
    });
  });

  test('has the brand of its details', () => {
    const brandOf = (subtitle: string) => {
      const content = [
        { title: 'Kondisi', subtitle: 'Baru' },
        { title: 'Merek', subtitle },
      ];
      const components = [{ name: 'product_detail', data: [{ content }] }];
      const record = { data: { variants: { basicInfo: { id: '1' }, components } } };
      return mktb.product!(record as unknown as JsonObject)!.details.brand;
    };
    expect(brandOf('Setia')).toBe('Setia');
    expect(brandOf('Tidak Ada Merek')).toBeNull();
  });

  test('is not available in a state in which it is not sold', () => {
    const availableIn = (status: string) => {
      const components = [
        { name: 'new_variant_options', data: [{ children: [child(9_000, '2')] }] },
      ];
      const record = { data: { variants: { basicInfo: { id: '1', status }, components } } };
      return mktb.product!(record as unknown as JsonObject)!.available;
    };
    expect(availableIn('ACTIVE')).toBe(true);
    expect(availableIn('WAREHOUSE')).toBeNull();
  });

  test('has no price of 0', () => {
    expect(page([child(0, '1'), child('Rp9.500', '1')])).toMatchObject({ price: 9_500 });
    expect(page([], { price: { value: 0 } })).toMatchObject({ price: null });
  });
});

test('a page of mktd with an unknown stock of one variant has no total', () => {
  const skus = [
    { sku_id: '1', stock: 3 },
    { sku_id: '2', stock: null },
  ];
  const info = { product_id: '7', product_base: { title: 'Lamp' }, skus };
  const map = [{ component_type: 'product_info', component_data: { product_info: info } }];
  const state = {
    loaderData: { 'shop/(product_id)/page': { page_config: { components_map: map } } },
  };
  const html = `<script type="application/json" id="__MODERN_ROUTER_DATA__">${JSON.stringify(state)}</script>`;
  const response = { status: 200, headers: {}, body: Buffer.from(html), url: '', at: 0 };
  const reader = mktd.readers.product!;
  const record = reader.extract(response, { product_id: '7', country: 'my' }, 'my') as JsonObject;
  expect(record).toMatchObject({ product: { title: 'Lamp', stock: null } });
});

test('a page of mktf without availability does not state it', () => {
  const availableWith = (...states: unknown[]) => {
    const variants = states.map((available) => ({ id: 1, price: '9.00', available }));
    return mktf.tracked!.search!({ id: 1, variants } as unknown as JsonObject)?.available;
  };
  expect(availableWith(undefined, undefined)).toBeNull();
  expect(availableWith(false, undefined)).toBeNull();
  expect(availableWith(false, false)).toBe(false);
  expect(availableWith(undefined, true)).toBe(true);
});

test('a page of mktf has no price with a price that cannot be read or can be in cents', () => {
  const priceOf = (...prices: unknown[]) => {
    const variants = prices.map((price) => ({ id: 1, price, compare_at_price: '99.00' }));
    const item = mktf.tracked!.search!({ id: 1, variants } as unknown as JsonObject);
    return [item?.price, item?.details.listPrice];
  };
  expect(priceOf('12.00', '9.00')).toEqual([9, 99]);
  expect(priceOf(9.5)).toEqual([9.5, 99]);
  expect(priceOf('1,999.00', '9.00')).toEqual([null, null]);
  expect(priceOf(1999, '9.00')).toEqual([null, null]);
});
