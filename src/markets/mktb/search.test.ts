import { describe, expect, it } from 'vitest';
import { direct } from '../../../sandbox/in-process-origin.ts';
import { mktb as origin } from '../../../sandbox/mktb/index.ts';
import { listed } from '../../../sandbox/mktb/listings.ts';
import { soldAtLeast } from '../../../sandbox/mktb/products.ts';
import { allOf } from '../../../sandbox/pagination.ts';
import type { Json, JsonObject } from '../../base/json.ts';
import type { PageResponse } from '../../fetch/page.ts';
import { search } from './search.ts';

const fields = [
  'id',
  'name',
  'price',
  'original_price',
  'discount_percentage',
  'rating',
  'review_count',
  'sold_count',
  'shop_id',
  'shop_name',
  'shop_domain',
  'url',
  'image_url',
  'location',
  'condition',
  'free_shipping',
];

function createResponse(value: Json): PageResponse {
  const body = Buffer.from(JSON.stringify(value));
  return { status: 200, headers: {}, body, url: 'http://site.test/', at: 0 };
}

function extract(
  products: Json,
  input: JsonObject = {},
  header: JsonObject = { totalData: 1 },
): JsonObject[] {
  return search.extract(
    createResponse([{ data: { searchProductV5: { header, data: { products } } } }]),
    input,
    'id',
  );
}

function codeOf(value: Json): string {
  try {
    search.extract(createResponse(value), {}, 'id');
  } catch (thrown) {
    return (thrown as { code: string }).code;
  }
  return 'none';
}

async function read(input: JsonObject) {
  const asked = direct(origin, 'id');
  const entries: JsonObject[] = [];
  const pages: number[] = [];
  const reading = search.read(
    { list_type: 'search', ...input },
    { region: 'id', fetch: asked.fetch },
  );
  let step = await reading.next();
  for (; !step.done; step = await reading.next()) {
    expect(step.value.list).toBe('products');
    entries.push(...step.value.entries);
    pages.push(step.value.entries.length);
  }
  return { entries, pages, requests: asked.requests, summary: step.value };
}

function paramsOf(body: string | undefined): URLSearchParams {
  return new URLSearchParams(JSON.parse(body!)[0].variables.params);
}

describe('extract()', () => {
  it('maps a product of the current generation and keeps its other fields', () => {
    const product = {
      id: '9007199254740993',
      name: 'Rak',
      url: 'https://www.tokopedia.com/warung-5/rak?extParam=1',
      mediaURL: { image: 'https://images.test/a.jpg' },
      shop: {
        id: '77',
        name: 'Warung 5',
        city: 'Malang',
        url: 'https://www.tokopedia.com/warung-5',
      },
      price: { text: 'Rp12.500', number: 12500, original: 'Rp25.000', discountPercentage: 50 },
      freeShipping: { url: '' },
      labelGroups: [{ position: 'integrity', title: '2rb+ terjual' }],
      rating: '4.9',
      category: { name: 'Rumah' },
      ads: { id: 'x' },
      wishlist: true,
    };
    const [entry] = extract([product]);
    expect(entry).toMatchObject({
      id: '9007199254740993',
      name: 'Rak',
      price: 12500,
      original_price: 25000,
      discount_percentage: 50,
      rating: 4.9,
      review_count: null,
      sold_count: 2000,
      shop_id: '77',
      shop_name: 'Warung 5',
      shop_domain: 'warung-5',
      image_url: 'https://images.test/a.jpg',
      location: 'Malang',
      condition: null,
      free_shipping: false,
      category: { name: 'Rumah' },
    });
    expect(entry).not.toHaveProperty('ads');
    expect(entry).not.toHaveProperty('wishlist');
  });

  it('returns null for every listed field of a product with an id only', () => {
    const [entry] = extract([{ id: '7' }]);
    expect(entry).toEqual({ ...Object.fromEntries(fields.map((name) => [name, null])), id: '7' });
  });

  it('tolerates unexpected types in every place', () => {
    const odd = {
      id: 5,
      price: 'Rp7.000',
      shop: 'x',
      rating: 96,
      labelGroups: [3, { title: 4 }],
      mediaURL: [],
    };
    expect(extract([odd])[0]).toMatchObject({
      id: '5',
      price: 7000,
      rating: null,
      sold_count: null,
    });
  });

  it.each([
    [{ rating: 5 }, null],
    [{ rating: 5, ratingAverage: '4.6' }, 4.6],
    [{ rating: 5, ratingAverage: '5.0' }, 5],
    [{ rating: 5, ratingAverage: '' }, null],
    [{ rating: '5' }, 5],
    [{ rating: 4.6 }, 4.6],
  ])('reads the rating of %j as %j', (stars, expected) => {
    expect(extract([{ id: '1', countReview: 233, ...stars }])[0]!.rating).toBe(expected);
  });

  it('reads an abbreviated price before the discount, and no abbreviated price', () => {
    const product = { id: '1', price: 'Rp6,99jt', originalPrice: 'Rp7,59jt' };
    expect(extract([product])[0]).toMatchObject({ price: null, original_price: 7_590_000 });
    expect(
      extract([{ ...product, originalPrice: 'Rp750rb - Rp1jt' }])[0]!.original_price,
    ).toBeNull();
  });

  it('has complete addresses', () => {
    const product = {
      id: '1',
      url: '/warung/lampu',
      mediaURL: { image: '', image300: '//cdn.test/a.jpg' },
    };
    expect(extract([product])[0]).toMatchObject({
      url: 'https://www.tokopedia.com/warung/lampu',
      image_url: 'https://cdn.test/a.jpg',
    });
  });

  it('does not read a shop from a promoted link', () => {
    expect(
      extract([{ id: '1', url: 'https://ta.tokopedia.com/promo/v1/clicks/x' }])[0]!.shop_domain,
    ).toBeNull();
  });

  it('drops duplicates and products below pmin, and respects the limit', () => {
    const products = [1, 2, 2, 3].map((id) => ({ id: String(id), price: { number: id * 100 } }));
    expect(extract(products)).toHaveLength(3);
    expect(extract([...products, { id: '9' }], { pmin: 200 }).map(({ id }) => id)).toEqual([
      '2',
      '3',
    ]);
    expect(extract(products, { product_limit: 2 })).toHaveLength(2);
  });

  it('is empty for a response without products', () => {
    expect(extract([], {}, { totalData: 0, responseCode: 0, errorMessage: '' })).toEqual([]);
  });

  const v5 = (value: JsonObject) => ({ data: { searchProductV5: value } });
  it.each([
    [
      v5({ header: { responseCode: '4', errorMessage: 'no' }, data: { products: [] } }),
      'page_failed',
    ],
    [v5({ header: { responseCode: 2 }, data: { products: [] } }), 'page_failed'],
    [v5({ header: { responseCode: '7' }, data: { products: [{ id: '1' }] } }), 'none'],
    [v5({ header: {}, data: null }), 'page_unreadable'],
    [v5({ header: {}, data: { products: ['x'] } }), 'page_unreadable'],
    [
      { data: { searchProductV5: null }, errors: [{ message: 'of no known meaning' }] },
      'page_failed',
    ],
    [{ data: { searchProductV5: null } }, 'page_failed'],
    [[{ data: { displayAdsV3: { data: [] } } }], 'page_unreadable'],
  ] as [Json, string][])('rejects %j with %s', (value, code) => expect(codeOf(value)).toBe(code));
});

describe('read()', () => {
  it.each(['lampu 100', 'lampu 701', 'lampu 702', 'lampu 705', 'lampu 706', 'lampu 708'])(
    'collects every product of %s once',
    async (keyword) => {
      const { entries } = await read({ keyword });
      expect(entries).toHaveLength(allOf(keyword, 60));
      expect(new Set(entries.map(({ id }) => id)).size).toBe(entries.length);
      for (const [at, entry] of entries.entries()) {
        const goods = listed(keyword, at);
        expect(entry).toMatchObject({
          id: goods.id,
          name: goods.name,
          price: goods.price,
          original_price: goods.before === 0 ? null : goods.before,
          discount_percentage: goods.discount,
          rating: goods.stars === 0 ? null : goods.stars,
          sold_count: soldAtLeast(goods.sold),
          shop_id: goods.shop.id,
          shop_domain: goods.shop.domain,
          image_url: goods.image,
          location: goods.shop.city,
          free_shipping: goods.freeShipping,
        });
        expect(Object.keys(entry)).toEqual(expect.arrayContaining(fields));
      }
    },
  );

  it('forwards the parameters that the site asks for, without overriding its own', async () => {
    const { requests } = await read({ keyword: 'rak & tikar 100', pmin: 1000 });
    const [first, second] = requests.map(({ body }) => paramsOf(body));
    expect(Object.fromEntries(first!)).toMatchObject({
      q: 'rak & tikar 100',
      page: '1',
      start: '0',
      rows: '60',
    });
    expect(first!.get('pmin')).toBe('1000');
    expect(second!.get('start')).toBe('60');
    expect(second!.get('search_id')).toMatch(/^fake-/);
    expect(second!.get('q')).toBe('rak & tikar 100');
  });

  it('reads a category by its number and slug until a page is empty', async () => {
    const { entries, requests } = await read({
      list_type: 'category',
      keyword: '3964',
      category: 'rumah-tangga/dekorasi',
    });
    expect(entries).toHaveLength(allOf('3964', 60));
    expect(entries[0]).toMatchObject({
      id: listed('3964', 0).id,
      review_count: listed('3964', 0).reviews,
    });
    expect(requests[0]!.path).toBe('/graphql/SearchProductQuery');
    expect(paramsOf(requests[0]!.body).get('identifier')).toBe('rumah-tangga_dekorasi');
    expect(paramsOf(requests[1]!.body).get('start')).toBe('61');
  });

  it('stops at the limit and requests no further page', async () => {
    const { entries, requests, summary } = await read({ keyword: 'lampu 703', product_limit: 130 });
    expect(entries).toHaveLength(130);
    expect(requests).toHaveLength(3);
    expect(summary).toEqual({ has_more: true });
  });

  it.each([
    [60, false],
    [59, true],
    [61, false],
  ])(
    'reads one full page with the limit %i: further products %j',
    async (product_limit, hasMore) => {
      expect((await read({ keyword: 'lampu 702', product_limit })).summary.has_more).toBe(hasMore);
    },
  );

  it('stops at 5000 products without a limit', async () => {
    const { entries, summary } = await read({ keyword: 'lampu 703' });
    expect(entries).toHaveLength(5000);
    expect(summary.has_more).toBe(true);
  });

  it('keeps products from pmin rupiah and counts only those against the limit', async () => {
    const { entries } = await read({ keyword: 'lampu 703', pmin: 400_000, product_limit: 75 });
    expect(entries).toHaveLength(75);
    for (const { price } of entries) expect(price).toBeGreaterThanOrEqual(400_000);
  });

  it('ends when a page repeats', async () => {
    const { entries, requests } = await read({ keyword: 'lampu 704' });
    expect(entries.length).toBe(allOf('lampu 704', 60));
    expect(requests).toHaveLength(2);
  });

  it('is empty without a match', async () => {
    expect((await read({ keyword: 'lampu 700' })).entries).toEqual([]);
  });

  it.each([
    ['807', 'page_blocked'],
    ['810', 'page_throttled'],
    ['812', 'page_failed'],
    ['813', 'page_unreadable'],
    ['817', 'page_failed'],
    ['820', 'page_blocked'],
  ])('rejects a keyword ending in %s with %s, never returns a short list', async (digits, code) => {
    await expect(read({ keyword: `lampu ${digits}` })).rejects.toMatchObject({ code });
  });
});
