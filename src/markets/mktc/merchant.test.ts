import { describe, expect, it } from 'vitest';
import { direct } from '../../../sandbox/in-process-origin.ts';
import { mktc as origin } from '../../../sandbox/mktc/index.ts';
import { filtered } from '../../../sandbox/mktc/listing-page.ts';
import { listed } from '../../../sandbox/mktc/products.ts';
import { allOf } from '../../../sandbox/pagination.ts';
import type { Json, JsonObject } from '../../base/json.ts';
import type { PageResponse } from '../../fetch/page.ts';
import type { ListSummary } from '../market.ts';
import { merchant } from './merchant.ts';

const fields = [
  'id',
  'name',
  'price',
  'original_price',
  'discount_percentage',
  'rating',
  'review_count',
  'sold_count',
  'brand',
  'category',
  'url',
  'image_url',
  'condition',
  'stock',
  'merchant',
];

function createResponse(value: Json): PageResponse {
  const body = Buffer.from(JSON.stringify(value));
  return { status: 200, headers: {}, body, url: 'http://site.test/', at: 0 };
}

const ok = (data: Json) => ({ code: 200, status: 'OK', data });

function codeOf(value: Json): string {
  try {
    merchant.extract(createResponse(value), { shopid: 'ABC-60100' }, 'id');
  } catch (thrown) {
    return (thrown as { code: string }).code;
  }
  return 'none';
}

async function read(input: JsonObject) {
  const asked = direct(origin, 'id');
  const entries: JsonObject[] = [];
  const pages = merchant.read(input, { region: 'id', fetch: asked.fetch });
  for (;;) {
    const next = await pages.next();
    if (next.done) return { entries, summary: next.value as ListSummary, requests: asked.requests };
    expect(next.value.list).toBe('products');
    entries.push(...next.value.entries);
  }
}

describe('a listing that ends early', () => {
  const product = (id: number) => ({ id: `P${id}`, name: 'Tas', merchantCode: 'ABC-60100' });
  const paging = { page: 1, total_page: 3, total_item: 120 };
  const full = Array.from({ length: 40 }, (_, id) => product(id));
  const summaryOf = async (second: Json) => {
    let count = 0;
    const fetch = async () => {
      count += 1;
      return createResponse(ok({ products: count === 1 ? full : second, paging }));
    };
    const pages = merchant.read({ shopid: 'ABC-60100' }, { region: 'id', fetch });
    for (;;) {
      const next = await pages.next();
      if (next.done) return next.value;
    }
  };

  it.each([
    ['is empty', []],
    ['repeats', full],
  ])('has more products if its second page %s', async (_, second) =>
    expect(await summaryOf(second)).toMatchObject({ has_more: true }),
  );

  it('is a mismatch if every product belongs to another shop', () => {
    const others = [{ ...product(1), merchantCode: 'XYZ-1' }];
    expect(codeOf(ok({ products: others }))).toBe('page_mismatch');
    expect(codeOf(ok({ products: [...others, product(2)] }))).toBe('none');
  });
});

describe('extract()', () => {
  it('maps a listing’s product and keeps its other fields', () => {
    const product = {
      id: 'ABC-60100-00001',
      merchantCode: 'ABC-60100',
      merchantName: 'Kios',
      name: 'Tas',
      price: {
        priceDisplay: 'Rp4.000',
        strikeThroughPriceDisplay: 'Rp8.000',
        discount: 50,
        minPrice: 4000.0,
      },
      images: ['https://images.test/1.jpg', 'https://images.test/2.jpg'],
      brand: 'Setia',
      review: { rating: 4, count: 8, absoluteRating: 4.8 },
      soldRangeCount: { en: '1,4 k', id: '1,4 rb' },
      categoryNameHierarchy: ['Mode', 'Tas'],
      url: '/p/tas/ps--ABC-60100-00001?ds=1',
      official: true,
      buyable: true,
    };
    expect(
      merchant.extract(createResponse(ok({ products: [product] })), { shopid: 'ABC-60100' }, 'id'),
    ).toEqual([
      {
        ...product,
        price: 4000,
        original_price: 8000,
        discount_percentage: 50,
        rating: 4.8,
        review_count: 8,
        sold_count: 1400,
        category: 'Tas',
        url: 'https://www.blibli.com/p/tas/ps--ABC-60100-00001?ds=1',
        image_url: 'https://images.test/1.jpg',
        condition: null,
        stock: null,
        merchant: { id: 'ABC-60100', name: 'Kios', type: 'OFFICIAL' },
      },
    ]);
  });

  it('returns null for every listed field of a product with an id only', () => {
    const [entry] = merchant.extract(createResponse(ok({ products: [{ id: 'A-1' }] })), {}, 'id');
    expect(entry).toEqual({
      ...Object.fromEntries(fields.map((name) => [name, null])),
      id: 'A-1',
      merchant: { id: null, name: null, type: null },
    });
  });

  it.each([
    [['//cdn.test/a.jpg', 'https://cdn.test/b.jpg'], 'https://cdn.test/a.jpg'],
    [
      [{ full: 'https://cdn.test/a.jpg', thumbnail: 'https://cdn.test/s.jpg' }],
      'https://cdn.test/a.jpg',
    ],
    [[{ thumbnail: '/s.jpg' }], 'https://www.blibli.com/s.jpg'],
    [[], null],
  ])('has the address of the first image of %j', (images, image_url) => {
    const products = [{ id: 'A-1', images }];
    const [entry] = merchant.extract(createResponse(ok({ products })), {}, 'id');
    expect(entry).toMatchObject({ image_url });
  });

  it('tolerates unexpected types in every place', () => {
    const odd = {
      id: 5,
      price: 'x',
      images: 'y',
      review: [],
      soldCountTotal: '7',
      brand: { name: 'B' },
      url: [],
    };
    expect(merchant.extract(createResponse(ok({ products: [odd] })), {}, 'id')[0]).toMatchObject({
      id: '5',
      price: null,
      image_url: null,
      sold_count: 7,
      brand: 'B',
      url: null,
    });
  });

  it.each([
    [ok({ products: [], paging: {} }), 'none'],
    [ok({ products: null, merchant: { code: 'ABC-60100' } }), 'none'],
    [ok({ products: [], merchant: { code: 'XYZ-1' } }), 'page_mismatch'],
    [ok({ paging: {} }), 'page_unreadable'],
    [ok({ products: 'x' }), 'page_unreadable'],
    [ok({ products: [1] }), 'page_unreadable'],
    [ok(null), 'page_not_found'],
    [{ code: 404, status: 'NOT_FOUND' }, 'page_not_found'],
  ] as [Json, string][])('rejects %j with %s', (value, code) => expect(codeOf(value)).toBe(code));
});

describe('read()', () => {
  it.each([
    'ABC-60100',
    'ABC-60701',
    'ABC-60702',
    'ABC-60705',
    'ABC-60706',
    'ABC-60708',
    'ABC-60709',
  ])('collects every product of %s once', async (shopid) => {
    const { entries, summary } = await read({ shopid });
    expect(entries).toHaveLength(allOf(shopid, 40));
    expect(new Set(entries.map(({ id }) => id)).size).toBe(entries.length);
    expect(summary).toEqual({ store_name: `Kios ${shopid}`, has_more: false });
    for (const [at, entry] of entries.entries()) {
      const goods = listed(shopid, at);
      expect(entry).toMatchObject({
        id: goods.productSku,
        price: goods.offered,
        original_price: goods.discount === 0 ? null : goods.listed,
        rating: goods.stars === 0 ? null : goods.stars,
        merchant: { id: shopid, name: `Kios ${shopid}` },
      });
      expect(Object.keys(entry)).toEqual(expect.arrayContaining(fields));
    }
  });

  it('forwards categories, keyword and brand', async () => {
    const { requests, entries } = await read({
      shopid: 'ABC-60100',
      categoryids: 'RU-1, RU-2',
      keyword: 'tas',
      brand: 'Setia',
    });
    const query = new URL(requests[0]!.path, 'http://site.test').searchParams;
    expect(query.getAll('category')).toEqual(['RU-1', 'RU-2']);
    const expected = filtered(
      'ABC-60100',
      40,
      ({ name, brand }) => /tas/i.test(name) && brand === 'Setia',
    );
    expect(expected.length).toBeGreaterThan(0);
    expect(entries.map(({ id }) => id)).toEqual(expected.map(({ productSku }) => productSku));
  });

  it('stops at the limit, or at 1500 products without one', async () => {
    const some = await read({ shopid: 'ABC-60703', limit: 90 });
    expect(some.entries).toHaveLength(90);
    expect(some.requests).toHaveLength(3);
    expect(some.summary.has_more).toBe(true);
    const most = await read({ shopid: 'ABC-60703' });
    expect(most.entries).toHaveLength(1500);
    expect(most.summary.has_more).toBe(true);
  });

  it('reads beyond the capped page count until the site has no such page', async () => {
    const { entries, requests, summary } = await read({ shopid: 'ABC-60710', limit: 5000 });
    expect(entries).toHaveLength(800);
    expect(requests).toHaveLength(21);
    expect(summary.has_more).toBe(true);
  });

  it('has no further products at a limit that the last product reaches', async () => {
    const { summary, entries } = await read({ shopid: 'ABC-60702', limit: 40 });
    expect([entries.length, summary.has_more]).toEqual([40, false]);
    expect((await read({ shopid: 'ABC-60702', limit: 39 })).summary.has_more).toBe(true);
  });

  it('ends when a page repeats', async () => {
    const { entries, requests } = await read({ shopid: 'ABC-60704' });
    expect(entries).toHaveLength(40);
    expect(requests).toHaveLength(2);
  });

  it('returns an empty list for a shop without products, and a fault for a missing shop', async () => {
    const empty = await read({ shopid: 'ABC-60700' });
    expect(empty).toMatchObject({ entries: [], summary: { store_name: 'Kios ABC-60700' } });
    await expect(read({ shopid: 'ABC-60800' })).rejects.toMatchObject({ code: 'page_not_found' });
    await expect(read({ shopid: 'ABC-60801' })).rejects.toMatchObject({ code: 'page_not_found' });
    await expect(read({ shopid: 'ABC-60801', keyword: 'x' })).rejects.toMatchObject({
      code: 'page_not_found',
    });
  });

  it('returns an empty list if the filters exclude everything', async () => {
    const { entries, summary } = await read({
      shopid: 'ABC-60709',
      keyword: 'there is no such product',
    });
    expect(entries).toEqual([]);
    expect(summary).toEqual({ store_name: 'Kios ABC-60709', has_more: false });
  });

  it.each([
    [807, 'page_blocked'],
    [810, 'page_throttled'],
    [812, 'page_failed'],
    [814, 'page_unreadable'],
    [817, 'page_failed'],
    [820, 'page_blocked'],
  ])('rejects a shop ending in %d with %s, never returns a short list', async (digits, code) => {
    await expect(read({ shopid: `ABC-60${digits}` })).rejects.toMatchObject({ code });
  });
});
