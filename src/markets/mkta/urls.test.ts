import { describe, expect, test } from 'vitest';
import { parseUrl } from './urls.ts';

describe('searches', () => {
  test.each([
    ['https://market.co.id/search?keyword=tas%20rajut', 'id', { keyword: 'tas rajut' }],
    ['https://www.market.sg/search/?page=3&keyword=tea', 'sg', { keyword: 'tea' }],
    [
      'http://market.tw/search?keyword=%E7%AB%B9&sortBy=price&order=asc',
      'tw',
      { keyword: '竹', by: 'price', order: 'asc' },
    ],
    [
      'https://market.ph/search?keyword=a&sortBy=magic&minPrice=5',
      'ph',
      { keyword: 'a', price_min: '5' },
    ],
  ])('%s', (url, region, input) => {
    expect(parseUrl('search', url)).toEqual({ input, region, type: 'search' });
  });

  test.each([
    ['https://market.com.br/Casa-cat.11059', 'br', '11059'],
    ['https://market.com.my/Home-Living-cat.11000.11050?page=2', 'my', '11050'],
    ['https://market.vn/%C4%90%E1%BB%93-cat.1.2.3/', 'vn', '3'],
  ])('the category %s', (url, region, category) => {
    expect(parseUrl('search', url)).toEqual({
      input: { category_id: category },
      region,
      type: 'category',
    });
  });
});

test.each([
  'https://market.co.th/shop/123',
  'https://market.co.th/shop/123/?tab=0',
  'https://market.co.th/x/shop/123',
])('the shop %s', (url) => {
  expect(parseUrl('merchant', url)).toEqual({
    input: { shop_id: '123' },
    region: 'th',
    type: 'merchant',
  });
});

test.each(['https://market.sg/Tea-Pot-i.55.7788?sp=1', 'https://market.sg/product/55/7788/'])(
  'the product %s',
  (url) => {
    expect(parseUrl('product', url)).toEqual({
      input: { shop_id: '55', item_id: '7788' },
      region: 'sg',
      type: 'product',
    });
  },
);

test.each([
  ['search', 'not a url', 'not an absolute URL'],
  ['search', '/search?keyword=a', 'not an absolute URL'],
  ['search', 'ftp://market.sg/search?keyword=a', 'not an http or https address'],
  ['search', 'https://market.com/search?keyword=a', 'market.com ends in none of .co.id, .sg'],
  ['search', 'https://market.sg.evil.example/search?keyword=a', 'ends in none of'],
  ['search', 'https://market.sg/search', 'needs a keyword'],
  ['search', 'https://market.sg/search?keyword=%20', 'needs a keyword'],
  ['search', 'https://market.sg/shop/5', 'neither a search'],
  ['search', 'https://market.sg/Tea-cat.x', 'neither a search'],
  ['search', 'https://market.sg/Tea-cat.5/more', 'neither a search'],
  ['merchant', 'https://market.sg/teashop', 'must end in /shop/<shop_id>'],
  ['merchant', 'https://market.sg/shop/0', 'must end in /shop/<shop_id>'],
  ['merchant', 'https://market.sg/shop/12/search', 'must end in /shop/<shop_id>'],
  ['product', 'https://market.sg/product/5', 'not a product'],
] as const)('rejects the %s URL %j', (page, url, why) => {
  expect(() => parseUrl(page, url)).toThrow(why);
});
