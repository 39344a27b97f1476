import { describe, expect, it } from 'vitest';
import { direct } from '../../../sandbox/in-process-origin.ts';
import { mktc as origin } from '../../../sandbox/mktc/index.ts';
import { fakeProduct } from '../../../sandbox/mktc/products.ts';
import type { Json, JsonObject } from '../../base/json.ts';
import type { PageResponse } from '../../fetch/page.ts';
import { object } from '../fields.ts';
import { tracked } from './fields.ts';
import { product } from './product.ts';

const input = { formattedId: 'ps--ABC-60100-00001', sku: 'ABC-60100-00001-00002' };

const page = {
  itemSku: 'ABC-60100-00001-00002',
  productSku: 'ABC-60100-00001',
  productCode: 'MTA-5',
  name: 'Tas',
  url: '/p/tas/ps--ABC-60100-00001',
  stock: 7,
  price: { listed: 8000, offered: 4000, totalDiscount: 50, listDiscount: 40 },
  brand: { name: 'Setia', official: true },
  tags: ['RETURNABLE', 'AVAILABLE'],
  options: [
    { id: 'is--ABC-60100-00001-00001', available: false },
    { id: 'is--ABC-60100-00001-00002_PP-1', selected: true },
  ],
  categories: [
    { level: 2, name: 'Tas' },
    { level: 3, name: 'Tas Belanja' },
    { level: 1, name: 'Mode' },
  ],
  merchant: { code: 'ABC-60100', name: 'Kios', official: true, level: 'REGULAR', status: 'ACTIVE' },
  review: { rating: 4, count: 8, decimalRating: 4.8 },
  statistics: { sold: 52 },
  shippingAddress: { cityName: 'Kota' },
  ean: '',
};

function createResponse(value: Json | undefined): PageResponse {
  const body = Buffer.from(JSON.stringify(value));
  return { status: 200, headers: {}, body, url: 'http://site.test/', at: 0 };
}

const ok = (data: Json) => ({ code: 200, status: 'OK', data });

function codeOf(value: Json, asked: JsonObject = input): string {
  try {
    product.extract(createResponse(value), asked, 'id');
  } catch (thrown) {
    return (thrown as { code: string }).code;
  }
  return 'none';
}

function readSummary(data: JsonObject): JsonObject {
  return object(object(product.extract(createResponse(ok(data)), input, 'id').data).summary);
}

function read(formattedId: string, sku = '') {
  const asked = direct(origin, 'id');
  const record = product.read({ formattedId, sku }, { region: 'id', fetch: asked.fetch });
  return { record, requests: asked.requests };
}

describe('extract()', () => {
  it('maps the listed fields and keeps the others', () => {
    const record = product.extract(createResponse(ok(page)), input, 'id');
    expect(record).toMatchObject({ status: 'OK', statusCode: 200, message: null });
    const { options, shippingAddress, ...kept } = page;
    expect(object(record.data).summary).toEqual({
      ...kept,
      id: 'ABC-60100-00001',
      brand: 'Setia',
      brandDetail: page.brand,
      category: 'Tas Belanja',
      price: {
        ...page.price,
        price: 4000,
        originalPrice: 8000,
        discountPercentage: 50,
        currency: 'IDR',
      },
      sold: 52,
      rating: 4.8,
      totalReview: 8,
      merchant: { ...page.merchant, id: 'ABC-60100', type: 'OFFICIAL' },
      url: 'https://www.blibli.com/p/tas/ps--ABC-60100-00001',
      condition: null,
      status: 'AVAILABLE',
      description: null,
    });
    expect(object(record.data).items).toEqual([
      { id: 'is--ABC-60100-00001-00001', available: false, sku: 'ABC-60100-00001-00001' },
      { id: 'is--ABC-60100-00001-00002_PP-1', selected: true, sku: 'ABC-60100-00001-00002' },
    ]);
  });

  it('returns null for every listed field that a page lacks', () => {
    expect(
      readSummary({ itemSku: page.itemSku, productSku: page.productSku, name: 'Tas' }),
    ).toEqual({
      itemSku: page.itemSku,
      productSku: page.productSku,
      id: page.productSku,
      name: 'Tas',
      brand: null,
      category: null,
      price: { price: null, originalPrice: null, discountPercentage: null, currency: 'IDR' },
      stock: null,
      sold: null,
      rating: null,
      totalReview: null,
      merchant: { id: null, name: null, type: null },
      url: null,
      condition: null,
      status: null,
      description: null,
    });
  });

  it('reads the shop and the category of an older page', () => {
    const { merchant, categories, ...rest } = page;
    const older = {
      merchantCode: 'ABC-60100',
      categories: [
        { level: 1, label: 'Tas' },
        { level: 2, label: 'Tas Belanja' },
      ],
    };
    expect(readSummary({ ...rest, ...older })).toMatchObject({
      category: 'Tas Belanja',
      merchant: { id: 'ABC-60100', name: null, type: null },
    });
  });

  it('has no rating that is cut off or without reviews, and no negative counts', () => {
    const ratingOf = (review: JsonObject) => readSummary({ ...page, review }).rating;
    expect(ratingOf({ rating: 4, count: 8 })).toBeNull();
    expect(ratingOf({ rating: 4, count: 8, decimalRating: 0 })).toBeNull();
    expect(ratingOf({ rating: 4.8, count: 8 })).toBe(4.8);
    expect(ratingOf({ rating: 5, count: 0, decimalRating: 5 })).toBeNull();
    const negative = { stock: -1, statistics: { sold: -1 }, review: { count: -1 } };
    expect(readSummary({ ...page, ...negative })).toMatchObject({
      stock: null,
      sold: null,
      totalReview: null,
    });
    const price = { offered: 4000.5, totalDiscount: -50 };
    expect(readSummary({ ...page, price }).price).toMatchObject({
      price: null,
      discountPercentage: 50,
    });
  });

  it.each(['OUT_OF_STOCK', 'DISCONTINUED'])('is not available with pieces and %s', (tag) => {
    const summary = (tags: string[]) => ({ data: { summary: readSummary({ ...page, tags }) } });
    expect(tracked.product!(summary(['AVAILABLE']))?.available).toBe(true);
    expect(tracked.product!(summary([tag]))?.available).toBeNull();
    const entry = { id: '1', buyable: true };
    expect(tracked.merchant!({ ...entry, status: 'AVAILABLE' })?.available).toBe(true);
    expect(tracked.merchant!({ ...entry, status: tag })?.available).toBeNull();
  });

  it('is not available with OUT_OF_STOCK and an unknown number of pieces', () => {
    const availableWith = (tags: string[]) => {
      const summary = readSummary({ ...page, stock: null, tags });
      return tracked.product!({ data: { summary } })?.available;
    };
    expect(availableWith(['OUT_OF_STOCK'])).toBe(false);
    expect(availableWith(['UNAVAILABLE'])).toBeNull();
    expect(availableWith(['AVAILABLE'])).toBeNull();
    expect(tracked.merchant!({ id: '1', status: 'OUT_OF_STOCK' })?.available).toBe(false);
  });

  it('tolerates unexpected types in every place', () => {
    const odd = {
      ...page,
      price: [4000],
      brand: 'Setia',
      options: { id: 1 },
      categories: 'x',
      merchant: null,
      review: 5,
      statistics: [],
      tags: 'AVAILABLE',
      stock: '7',
      url: 3,
    };
    expect(readSummary(odd)).toMatchObject({
      brand: 'Setia',
      stock: 7,
      status: null,
      rating: null,
    });
  });

  it.each([
    [{ ...page, productSku: 'X-1-2', itemSku: 'X-1-2-3', options: [] }, input, 'page_mismatch'],
    [{ ...page, itemSku: 'ABC-60100-00001-00001' }, input, 'page_mismatch'],
    [page, { formattedId: 'is--ABC-60100-00001-00001', sku: '' }, 'page_mismatch'],
    [
      page,
      { formattedId: 'is--ABC-60100-00001-00002', sku: 'abc-60100-00001-00002-PP-31' },
      'none',
    ],
    [page, { formattedId: 'pc--MTA-5', sku: 'ABC-60100-00001-00002' }, 'none'],
    [page, { formattedId: 'ps--ABC-60100-00001', sku: 'ABC-60100-00001' }, 'none'],
  ])('checks that the page is about the requested item (%#)', (data, asked, code) => {
    expect(codeOf(ok(data), asked)).toBe(code);
  });

  it.each([
    [{ code: 404, status: 'NOT_FOUND', data: null }, 'page_not_found'],
    [{ code: 400, status: 'BAD_REQUEST', data: null, errors: { x: ['BLANK'] } }, 'page_not_found'],
    [{ code: 'PRODUCT_NOT_FOUND', data: null }, 'page_not_found'],
    [ok(null), 'page_not_found'],
    [ok({}), 'page_not_found'],
    [{ code: 500, status: 'INTERNAL_SERVER_ERROR', data: null }, 'page_failed'],
    [{ code: 429, status: 'TOO_MANY_REQUESTS' }, 'page_throttled'],
    [{ code: 403, status: 'FORBIDDEN' }, 'page_blocked'],
    [ok([]), 'page_unreadable'],
    [ok('x'), 'page_unreadable'],
    [ok({ a: 1 }), 'page_unreadable'],
    [ok({ name: 'Tas' }), 'page_unreadable'],
    [{}, 'page_unreadable'],
    [[], 'page_unreadable'],
  ] as [Json, string][])('rejects %j with %s', (value, code) => expect(codeOf(value)).toBe(code));
});

describe('read()', () => {
  it('requests the item’s summary, then its description', async () => {
    const { record, requests } = read('ps--ABC-60100-00104', 'ABC-60100-00104-00001');
    const summary = object(object((await record).data).summary);
    const goods = fakeProduct('ABC-60100-00104');
    expect(summary).toMatchObject({
      id: 'ABC-60100-00104',
      stock: goods.stock,
      description: '<p>Tentang ps--ABC-60100-00104</p>',
      specifications: [{ name: 'Bahan', value: 'Bambu' }],
    });
    expect(object(summary.price).price).toBe(goods.offered);
    expect(requests.map(({ path }) => path.replace(/\?.*/, ''))).toEqual([
      '/backend/product-detail/products/ps--ABC-60100-00104/_summary',
      '/backend/product-detail/products/ps--ABC-60100-00104/description',
    ]);
    expect(requests[0]!.path).toContain('defaultItemSku=ABC-60100-00104-00001');
  });

  it('is complete without a description if that is refused', async () => {
    const summary = object(object((await read('ps--ABC-60100-00702').record).data).summary);
    expect(summary.description).toBeNull();
    expect(summary.name).toBeTypeOf('string');
  });

  it('accepts a product out of stock, one without options and a sparse one', async () => {
    const soldOut = object(object((await read('ps--ABC-60100-00701').record).data).summary);
    expect(soldOut).toMatchObject({ stock: 0, status: 'OUT_OF_STOCK' });
    expect(object((await read('ps--ABC-60100-00700').record).data).items).toEqual([]);
    expect(object((await read('ps--ABC-60100-00703').record).data).summary).toMatchObject({
      stock: null,
    });
  });

  it.each([
    [800, 'page_not_found'],
    [801, 'page_not_found'],
    [802, 'page_not_found'],
    [803, 'page_mismatch'],
    [804, 'page_mismatch'],
    [807, 'page_blocked'],
    [808, 'page_blocked'],
    [809, 'page_blocked'],
    [810, 'page_throttled'],
    [811, 'page_throttled'],
    [812, 'page_failed'],
    [813, 'page_unreadable'],
    [814, 'page_unreadable'],
    [815, 'page_empty'],
    [816, 'page_unreadable'],
    [817, 'page_failed'],
  ])('rejects an id ending in %d with %s', async (digits, code) => {
    const id = `ABC-60100-00${digits}`;
    await expect(read(`ps--${id}`, `${id}-00002`).record).rejects.toMatchObject({ code });
  });
});
