import { describe, expect, it } from 'vitest';
import { direct } from '../../../sandbox/in-process-origin.ts';
import { mktd as origin } from '../../../sandbox/mktd/index.ts';
import { baseInfo, html, modelInfo, route } from '../../../sandbox/mktd/pages.ts';
import { fakeProduct } from '../../../sandbox/mktd/products.ts';
import { expectLinear } from '../../../test/support/time/cost.ts';
import type { JsonObject } from '../../base/json.ts';
import { list, object, objects } from '../fields.ts';
import { mktd } from './index.ts';
import { product, regions } from './product.ts';

const at = Date.UTC(2026, 0, 2, 3, 4, 5);
const key = 'shop/(region)/pdp/(product_name_slug$)/(product_id)/page';
const id = '1729000000000000123';

function read(ending: string, region = 'my'): Promise<JsonObject> {
  const product_id = `1729000000000000${ending}`;
  return product.read(
    { product_id, country: region },
    { region, fetch: direct(origin, region, at).fetch },
  );
}

function extract(body: string, status = 200, asked = id): JsonObject {
  const response = { status, headers: {}, body: Buffer.from(body), url: 'http://site.test/', at };
  return product.extract(response, { product_id: asked, country: 'my' }, 'my');
}

function faultOf(body: string, status = 200) {
  try {
    extract(body, status);
  } catch (thrown) {
    return thrown as { code: string; message: string };
  }
  throw new Error('no fault');
}

const embedded = (info: object, more = {}) =>
  html('title', route('my', id, info as JsonObject, more), key);

describe('a record', () => {
  it.each(regions)(
    'has the listed fields in region %s in both generations of pages',
    async (region) => {
      for (const ending of ['700', '701', '702', '705']) {
        const record = await read(ending, region);
        const { id: product_id, skus, title } = fakeProduct(region, `1729000000000000${ending}`);
        expect(record).toMatchObject({
          _scraped_at: '2026-01-02T03:04:05.000Z',
          _product_id: product_id,
          _country: region,
        });
        const listed = object(record.product);
        const names = [
          'id',
          'title',
          'description',
          'category',
          'brand',
          'price',
          'stock',
          'sold',
          'rating',
          'totalReview',
          'seller',
          'url',
          'condition',
          'status',
        ];
        expect(names.filter((name) => !(name in listed))).toEqual([]);
        expect(listed).toMatchObject({
          id: product_id,
          title,
          category: 'Lamps & Trays',
          price: Math.min(...skus.map(({ price }) => Number(price))),
          stock: skus.reduce((sum, { stock }) => sum + stock, 0),
          condition: null,
        });
        expect(objects(record.skus).map((sku) => [sku.id, sku.name, sku.price, sku.stock])).toEqual(
          skus.map((sku) => [
            sku.id,
            sku.values.map(({ value }) => value).join(', '),
            Number(sku.price),
            sku.stock,
          ]),
        );
      }
    },
  );

  it('is the same in the older, the flat and the newer form', () => {
    const made = fakeProduct('my', id);
    const [older, flat, newer] = [baseInfo(made), baseInfo(made, true), modelInfo(made)].map(
      (info) => {
        const record = extract(embedded(info));
        const { seller, status, specifications, ...rest } = object(record.product);
        const skus = objects(record.skus).map(({ status: _, ...sku }) => sku);
        return {
          ...rest,
          sellerId: object(seller).id,
          shop: object(seller).name,
          skus,
        } as JsonObject;
      },
    );
    expect(flat).toEqual(older);
    expect(newer).toEqual(older);
    expect(older).toMatchObject({
      sold: made.sold,
      rating: made.rating,
      totalReview: made.reviews,
      brand: made.brand,
      shop: made.shop,
    });
    expect(older!.description).toBe(made.texts.join('\n'));
    expect(older!.url).toBe(`https://shop.example.test/pdp/a-slug/${id}`);
  });

  it('keeps the page’s data without buyers and visitors', async () => {
    for (const ending of ['700', '702']) {
      const record = await read(ending);
      expect(record).toMatchObject({
        sale_region: 'MY',
        categories: [{}, {}, {}],
        shop_info: { shop_rating: '4.6' },
      });
      expect(Object.keys(object(record.product_info)).length).toBeGreaterThan(3);
      const all = JSON.stringify(record);
      for (const word of [
        'Reviewer Name',
        '@reviewer',
        'Visitor Street',
        'review_items',
        'product_reviews',
      ]) {
        expect(all).not.toContain(word);
      }
    }
  });

  it('has null for missing values, and never 0 for "none"', async () => {
    const sparse = await read('703');
    expect(sparse.product).toMatchObject({
      price: null,
      stock: null,
      sold: null,
      rating: null,
      seller: null,
      images: [],
      description: null,
    });
    expect(sparse.skus).toEqual([]);
    const masked = await read('704');
    expect(masked.product).toMatchObject({ price: null, original_price: null });
    expect(
      objects(masked.skus).every((sku) => sku.price === null && sku.original_price === null),
    ).toBe(true);
    expect((await read('707')).product).toMatchObject({ rating: null, totalReview: 0 });
    expect((await read('706')).product).toMatchObject({ stock: 0 });
  });

  it('can have hundreds of SKUs', async () => {
    expect(list((await read('708')).skus).length).toBeGreaterThanOrEqual(70);
  });

  it('keeps all digits of ids that the page writes as numbers', () => {
    const text = embedded(baseInfo(fakeProduct('my', id)));
    const numbers = text.replace(/"(product_id|sku_id)":"(\d+)"/g, '"$1":$2');
    expect(numbers).not.toBe(text);
    expect(extract(numbers)).toEqual(extract(text));
    expect(() =>
      extract(numbers.replace(`"product_id":${id}`, `"product_id":${id.slice(0, -1)}4`)),
    ).toThrow(expect.objectContaining({ code: 'page_mismatch' }));
  });

  it('reads prices as text if the page has no decimals', () => {
    const info = {
      product_id: id,
      title: 'Tre',
      price: { real_price: '₫120.000 - 240.000', currency: 'VND' },
    };
    expect(extract(embedded(info)).product).toMatchObject({ price: 120000, currency: 'VND' });
  });

  it.each([
    ['IDR', '150.000', 150_000],
    ['IDR', '1.250.000', 1_250_000],
    ['IDR', '150000', 150_000],
    ['IDR', '150000.50', null],
    ['VND', '120,000', 120_000],
    ['MYR', '129.90', 129.9],
    ['USD', '24.125', null],
    ['THB', '1.299', null],
    ['MYR', '1,299.00', 1299],
  ])('reads decimals of %s: %s', (currency, decimals, amount) => {
    const base = {
      product_id: id,
      title: 'Tre',
      price: { min_sku_price: decimals, currency },
      skus: [{ sku_id: '1', price: { real_price: { price_val: decimals, currency } } }],
    };
    const promotion = { sale_price_decimal: decimals, currency_name: currency };
    const model = {
      product_model: { product_id: id, name: 'Tre', skus: [{ sku_id: '1' }] },
      promotion_model: {
        promotion_product_price: { min_price: promotion, skus_price: { 1: promotion } },
      },
    };
    for (const info of [base, model]) {
      const record = extract(embedded(info));
      expect(record.product).toMatchObject({ price: amount, currency });
      expect(objects(record.skus)[0]).toMatchObject({ price: amount });
      expect(extract(embedded({ ...info, skus: [] })).product).toMatchObject({ price: amount });
    }
  });

  it.each([
    ['S$', '12.90', '20.00', { price: 12.9, original_price: 20, currency: 'SGD' }],
    ['฿', '1,290', '1,350', { price: 1290, original_price: 1350, currency: 'THB' }],
    ['Rp', '45.900', '90.000', { price: 45_900, original_price: 90_000, currency: 'IDR' }],
    ['₫', '503.960', '857.000', { price: 503_960, original_price: 857_000, currency: 'VND' }],
    ['$', '12.90', '20.00', { price: 12.9, original_price: 20, currency: null }],
  ])('reads display texts of pages that state only the sign %s', (sign, sale, origin, expected) => {
    const texts = {
      currency_symbol: sign,
      sale_price_format: sale,
      origin_price_format: origin,
    };
    const base = { product_id: id, title: 'Tre', skus: [{ sku_id: '1', price: texts }] };
    const prices = { min_price: texts, skus_price: { 1: texts } };
    const model = {
      product_model: { product_id: id, name: 'Tre', skus: [{ sku_id: '1' }] },
      promotion_model: { promotion_product_price: prices },
    };
    for (const info of [base, model])
      expect(extract(embedded(info)).product).toMatchObject(expected);
  });

  it('has no price in several currencies, and the stated one of a SKU without a price', () => {
    const sku = (price_val: string | null, currency: string, original_price_value = '') => ({
      sku_id: currency,
      price: { real_price: { price_val, currency }, original_price_value },
      stock: 1,
    });
    const read = (...skus: object[]) => {
      const price = { min_sku_price: '20.00', currency: 'USD' };
      return extract(embedded({ product_id: id, title: 'Lamp', price, skus })).product;
    };
    const mixed = read(sku('24.17', 'USD', '31.75'), sku('12.00', 'EUR'));
    expect(mixed).toMatchObject({ price: null, original_price: null, currency: null });
    expect(read(sku('24.17', 'USD'), sku(null, 'USD'))).toMatchObject({ price: 20 });
    expect(read(sku('24.17', 'USD', '31.75'))).toMatchObject({ price: 24.17, currency: 'USD' });
    expect(read(sku('24.17', '฿'))).toMatchObject({ price: 24.17, currency: 'THB' });
  });

  it('has the rating of a product with reviews, and no availability that the page denies', () => {
    const read = (review: object, more: object = {}) => {
      const skus = [{ sku_id: '1', stock: 3 }];
      const info = { product_id: id, title: 'Lamp', price: { min_sku_price: '9.00' }, skus };
      return extract(embedded({ ...info, product_detail_review: review, ...more }));
    };
    const rating = (review: object) => object(read(review).product).rating;
    expect(rating({ product_rating: '4.5', review_count: 8 })).toBe(4.5);
    expect(rating({ product_rating: 5, review_count: 0 })).toBeNull();
    expect(rating({ product_rating: 46, review_count: 8 })).toBeNull();
    const available = (more: object) => mktd.tracked!.product!(read({}, more))?.available;
    expect(available({})).toBe(true);
    expect(available({ unavailable_info: { text: 'Not available' } })).toBeNull();
  });

  it('reads component data that the page encodes as text', () => {
    const info = baseInfo(fakeProduct('my', id));
    const data = route('my', id, info as JsonObject) as JsonObject;
    const config = object(data.page_config);
    const components = objects(config.components_map).map((component) => ({
      ...component,
      component_data: JSON.stringify(component.component_data),
    }));
    const encoded = html(
      'title',
      { ...data, page_config: { ...config, components_map: components } },
      key,
    );
    expect(extract(encoded).product).toEqual(extract(embedded(info)).product);
  });

  it('is requested at the region’s address', async () => {
    for (const [region, path] of [
      ['my', `/shop/my/pdp/${id}?region=MY`],
      ['id', `/view/product/${id}?region=ID`],
    ] as const) {
      const asked = direct(origin, region);
      await product.read({ product_id: id, country: region }, { region, fetch: asked.fetch });
      expect(asked.requests.map((request) => request.path)).toEqual([path]);
    }
  });
});

describe('a page without the product', () => {
  it.each([
    ['800', 'page_not_found', /not available in this region/],
    ['801', 'page_not_found', /does not offer/],
    ['802', 'page_not_found', /has been removed/],
    ['803', 'page_mismatch', /is about product 2729/],
    ['807', 'page_blocked', /security check/],
    ['808', 'page_blocked', /automated/],
    ['809', 'page_blocked', /403/],
    ['812', 'page_failed', /500/],
    ['813', 'page_unreadable', /without product data/],
    ['814', 'page_unreadable', /without a product/],
    ['815', 'page_unreadable', /no title/],
    ['816', 'page_not_found', /404/],
  ])('%s is %s', async (ending, code, message) => {
    await expect(read(ending)).rejects.toMatchObject({
      name: 'Fault',
      code,
      message: expect.stringMatching(message),
    });
  });

  it.each([
    [{ error_code: 5, error_message: 'Internal server error' }, 'page_failed'],
    [{ error_code: 5, error_message: 'Sistem sibuk, coba lagi' }, 'page_failed'],
    [{ error_code: 5, error_message: 'Product has been removed' }, 'page_not_found'],
    [{ error_code: 5 }, 'page_not_found'],
  ])('is for the site error %j %s', (data, code) =>
    expect(faultOf(html('title', route('my', id, undefined, data), key)).code).toBe(code),
  );

  it('is one of another region if the page states that it is sold there', () => {
    const info = baseInfo(fakeProduct('my', id));
    expect(faultOf(embedded(info, { sale_region: 'US' })).code).toBe('page_region');
    expect(() => extract(embedded(info, { sale_region: 'my' }))).not.toThrow();
  });

  it('is one of another product if the page names no id and has the address of another one', () => {
    const { product_id: _, ...info } = baseInfo(fakeProduct('my', id)) as JsonObject;
    const linked = (target: string) =>
      embedded(info).replace(
        '<head>',
        `<head><link rel="canonical" href="https://shop.example.test/pdp/a/${target}">`,
      );
    expect(linked('1')).not.toBe(embedded(info));
    expect(() => extract(linked(id))).not.toThrow();
    expect(faultOf(linked(`${id.slice(0, -1)}4`)).code).toBe('page_mismatch');
  });

  it('is throttled for 429 and 503, with the requested delay', () => {
    expect(faultOf('', 429).code).toBe('page_throttled');
    expect(faultOf('busy', 503).code).toBe('page_throttled');
  });

  it('is a fault wherever it is truncated', () => {
    const whole = embedded(modelInfo(fakeProduct('my', id)));
    const script = whole.indexOf('</script></body>');
    for (let end = 97; end < script; end += 97) {
      expect(faultOf(whole.slice(0, end)).code, `cut at ${end}`).toBe('page_unreadable');
    }
  });

  it.each([
    '{}',
    '[]',
    'null',
    '{"loaderData":[1]}',
    '{"loaderData":{"x":{"page_config":{"components_map":{"a":[]}}}}}',
  ])('is unreadable as %j', (body) => expect(faultOf(body).code).toBe('page_unreadable'));

  it('is empty without content', () => expect(faultOf('').code).toBe('page_empty'));

  it('is a fault if its data have unknown types', () => {
    for (const odd of [
      1,
      'x',
      [],
      [[]],
      { skus: 5, sale_props: {}, price: [], title: {} },
      { product_model: [1] },
    ]) {
      expect(faultOf(embedded(odd as object)).code).toMatch(/^page_/);
    }
    const record = extract(
      embedded({
        product_id: id,
        title: 'x',
        skus: [null, 5, { price: 'x', sku_sale_props: [1] }],
        images: [null, {}],
        seller: [],
      }),
    );
    expect(objects(record.skus)).toHaveLength(1);
  });

  it('takes linear time even if it is hostile', () => {
    const bodies = [
      '<div>'.repeat(1_000_000),
      `{"loaderData":${'['.repeat(5_000_000)}`,
      '<script>_ROUTER_DATA={'.repeat(100_000),
    ];
    expectLinear(() => {
      for (const body of bodies) expect(faultOf(body).code).toBe('page_unreadable');
    }, bodies);
  });
});

describe('a page with objects in place of texts', () => {
  /** Converting such an object to a string throws a TypeError. */
  const change = (info: JsonObject, name: string) =>
    embedded(info).replaceAll(new RegExp(`"${name}":"[^"]*"`, 'g'), `"${name}":{"toString":1}`);

  it.each([
    ['prop_value_id', baseInfo],
    ['sku_id', modelInfo],
    ['component_type', modelInfo],
  ])('reads a product whose %s is an object', (name, infoOf) => {
    const body = change(infoOf(fakeProduct('my', id)) as JsonObject, name);
    expect(body).toContain('toString');
    expect(objects(extract(body).skus).length).toBeGreaterThan(0);
  });
});
