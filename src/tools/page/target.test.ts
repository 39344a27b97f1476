import { describe, expect, test } from 'vitest';
import { targetOf } from './target.ts';

describe('targetOf()', () => {
  test.each([
    ['mkta', 'product', '7/4', 'sg', { shop_id: '7', item_id: '4' }],
    [
      'mkta',
      'variant_sold',
      'https://shop.sg/Lamp-i.7.4',
      undefined,
      { shop_id: '7', item_id: '4' },
    ],
    ['mkta', 'search', 'desk lamp', 'id', { keyword: 'desk lamp' }],
    [
      'mkta',
      'search_items',
      'https://shop.co.th/search?keyword=lamp',
      undefined,
      { keyword: 'lamp' },
    ],
    ['mkta', 'merchant', '77', 'vn', { shop_id: '77' }],
    [
      'mktb',
      'pdp_bulk',
      'warung/rak-1',
      undefined,
      { shop_domain: 'warung', product_key: 'rak-1' },
    ],
    [
      'mktb',
      'product',
      'https://www.tokopedia.com/warung/rak-1?extParam=x',
      undefined,
      { shop_domain: 'warung', product_key: 'rak-1' },
    ],
    ['mktb', 'search', 'rak', undefined, { keyword: 'rak', list_type: 'search' }],
    ['mktb', 'merchant', 'warung', undefined, { shopid: 'warung' }],
    ['mktc', 'product', 'is--A-1-1-2', undefined, { formattedId: 'is--A-1-1-2', sku: 'A-1-1-2' }],
    [
      'mktc',
      'product',
      'ps--A-1-1/A-1-1-2/PP-9',
      undefined,
      { formattedId: 'ps--A-1-1', sku: 'A-1-1-2', pickupPointCode: 'PP-9' },
    ],
    [
      'mktc',
      'product',
      'https://toko.example/p/lamp/ps--A-1-1?ds=A-1-1-2&pickupPointCode=PP-9',
      undefined,
      { formattedId: 'ps--A-1-1', sku: 'A-1-1-2', pickupPointCode: 'PP-9' },
    ],
    ['mktd', 'product', '1729000000000000001', 'my', { product_id: '1729000000000000001' }],
    [
      'mktd',
      'product',
      'https://clips.example/shop/my/pdp/lamp/1729000000000000001?a=1',
      'my',
      { product_id: '1729000000000000001' },
    ],
    ['mkte', 'product', 'B000000001', 'us', { asin: 'B000000001' }],
    [
      'mkte',
      'product',
      'https://www.river.example/Lamp/dp/B000000001/ref=x',
      'us',
      { asin: 'B000000001' },
    ],
    ['mkte', 'search', 'lamp', 'de', { keyword: 'lamp', list_type: 'search' }],
    ['mktf', 'search_bulk', 'https://kiln.example/', undefined, { url: 'https://kiln.example/' }],
    [
      'mktb',
      'search',
      '{"list_type":"category","keyword":"12"}',
      'id',
      { list_type: 'category', keyword: '12' },
    ],
  ])('finds a page of %s %s by %s', (market, kind, text, region, input) => {
    const target = targetOf(market, kind, text, region);
    expect(target.input).toEqual(input);
    expect(target.market.name).toBe(market);
    expect(target.market.regions.length === 0 ? [''] : target.market.regions).toContain(
      target.region,
    );
  });

  test('reads the region from a URL', () => {
    expect(targetOf('mkta', 'product', 'https://shop.co.th/product/7/4').region).toBe('th');
  });

  test.each([
    ['mktz', 'product', '1', undefined, /'mktz' is not one of mkta, /],
    ['mktd', 'search', '1', undefined, /'search' is not a page type of mktd \(product\)$/],
    [
      'mkta',
      'constructor',
      '1',
      undefined,
      /not a page type of mkta \(product, variants, search, merchant\)/,
    ],
    ['mkta', 'product', '4', 'sg', /'4' is not <shop id>\/<item id>/],
    ['mkta', 'product', '7/4', undefined, /'' is not one of id, sg, .* \(--region\)/],
    ['mkta', 'product', '7/4', 'us', /'us' is not one of id, sg/],
    [
      'mkta',
      'product',
      'https://shop.sg/product/7/4',
      'th',
      /'th' is not sg, the region of the URL/,
    ],
    ['mkta', 'product', 'https://shop.sg/cart', undefined, /not a product/],
    ['mktf', 'search', 'https://kiln.example/', 'us', /'us' is not valid: mktf has no regions/],
    ['mktf', 'search', 'kiln.example', undefined, /is not the address of a store/],
    ['mkte', 'product', 'lamp', 'us', /'lamp' is not <ASIN>/],
    ['mkte', 'product', '', 'us', /'' is not <ASIN>/],
    [
      'mkte',
      'product',
      'https://market.de/dp/B000000001',
      'de',
      /'https:\/\/market.de\/dp\/B000000001' is not <ASIN>/,
    ],
    [
      'mktc',
      'product',
      'https://market.id/p/x/ps--A-1-1?ds=A-1-1-2',
      undefined,
      /'https:\/\/market.id\/p\/x\/ps--A-1-1\?ds=A-1-1-2' is not <formatted id>/,
    ],
    ['mkte', 'product', '{"asin":', 'us', /is not a JSON object/],
  ])('refuses %s %s %s with region %s', (market, kind, text, region, words) => {
    expect(() => targetOf(market, kind, text, region)).toThrow(
      expect.objectContaining({ code: 'invalid', message: expect.stringMatching(words) }),
    );
  });
});
