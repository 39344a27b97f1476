import { describe, expect, test } from 'vitest';
import type { PageRequest } from '../page.ts';
import { isSameSite, planPage } from './page-plan.ts';

const origin = 'https://www.shop.example';
const request: PageRequest = {
  path: '/api/items?item_id=1&shop_id=2&limit=60',
  headers: { 'accept-language': 'id-ID, id;q=0.9, en;q=0.8', 'x-api-source': 'pc' },
  page: { path: '/product/2/1?from=search', take: 'response', same: ['item_id', 'shop_id'] },
};

describe('planPage()', () => {
  test('plans the page of a request, with the languages of its header', () => {
    expect(planPage(request, origin)).toMatchObject({
      url: `${origin}/product/2/1?from=search`,
      origin,
      take: 'response',
      languages: 'id-ID,id,en',
    });
  });

  test('plans the document at the path of a request without a page', () => {
    const plan = planPage({ path: '/robots.txt' }, origin);
    expect(plan).toMatchObject({
      url: `${origin}/robots.txt`,
      take: 'document',
      languages: undefined,
    });
    expect(plan.expects(`${origin}/robots.txt`, 'GET')).toBe(false);
  });

  test('stays on the origin, whatever the path looks like', () => {
    expect(planPage({ path: '//evil.example/x' }, origin).url).toBe(`${origin}//evil.example/x`);
    expect(
      planPage({ path: '/x', page: { path: '//evil.example/', take: 'document' } }, origin).url,
    ).toBe(`${origin}//evil.example/`);
  });
});

describe('expects()', () => {
  const expects = (url: string, method = 'GET') => planPage(request, origin).expects(url, method);

  test.each([
    [`${origin}/api/items?item_id=1&shop_id=2`],
    [`${origin}/api/items?shop_id=2&limit=30&item_id=1&token=x`],
    ['https://api.shop.example/api/items?item_id=1&shop_id=2'],
  ])('returns true for %s, with any other parameters and method', (url) => {
    expect(expects(url)).toBe(true);
    expect(expects(url, 'POST')).toBe(true);
  });

  test.each([
    ['another item', `${origin}/api/items?item_id=9&shop_id=2`],
    ['no item', `${origin}/api/items`],
    ['another path', `${origin}/api/items/1?item_id=1&shop_id=2`],
    ['another site', 'https://ads.example/api/items?item_id=1&shop_id=2'],
    [
      'a site with a similar name',
      'https://www.shop.example.evil.example/api/items?item_id=1&shop_id=2',
    ],
    ['another scheme', 'about:blank'],
  ])('returns false for %s', (_what, url) => {
    expect(expects(url)).toBe(false);
  });

  test('returns false for a preflight request', () => {
    expect(expects(`${origin}/api/items?item_id=1&shop_id=2`, 'OPTIONS')).toBe(false);
  });
});

test.each([
  ['https://a.shop.com/', 'http://b.shop.com:8080/', true],
  ['https://one.co.id/', 'https://two.co.id/', false],
  ['http://127.0.0.1:1/', 'http://127.0.0.1:2/', true],
  ['http://127.0.0.1/', 'http://127.0.0.2/', false],
  ['http://localhost/', 'http://localhost:9/', true],
  ['http://shop.test/', 'blob:x', false],
])('isSameSite() compares %s and %s: %s', (one, other, same) => {
  expect(isSameSite(one, other)).toBe(same);
});
