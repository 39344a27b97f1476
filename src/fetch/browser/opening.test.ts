import { describe, expect, test } from 'vitest';
import type { PageRequest } from '../page.ts';
import { isSameSite, openingOf } from './opening.ts';

const origin = 'https://www.shop.example';
const request: PageRequest = {
  path: '/api/items?item_id=1&shop_id=2&limit=60',
  headers: { 'accept-language': 'id-ID, id;q=0.9, en;q=0.8', 'x-api-source': 'pc' },
  page: { path: '/product/2/1?from=search', take: 'response', same: ['item_id', 'shop_id'] },
};

describe('what is opened for a request', () => {
  test('is the page that it names, in the languages of its header', () => {
    expect(openingOf(request, origin)).toMatchObject({
      url: `${origin}/product/2/1?from=search`,
      origin,
      take: 'response',
      languages: 'id-ID,id,en',
    });
  });

  test('is the document at its path where it names none', () => {
    const opening = openingOf({ path: '/robots.txt' }, origin);
    expect(opening).toMatchObject({ url: `${origin}/robots.txt`, take: 'document', languages: undefined });
    expect(opening.wants(`${origin}/robots.txt`, 'GET')).toBe(false);
  });

  test('stays on the origin whatever the path looks like', () => {
    expect(openingOf({ path: '//evil.example/x' }, origin).url).toBe(`${origin}//evil.example/x`);
    expect(openingOf({ path: '/x', page: { path: '//evil.example/', take: 'document' } }, origin).url).toBe(
      `${origin}//evil.example/`,
    );
  });
});

describe('what is wanted', () => {
  const wants = (url: string, method = 'GET') => openingOf(request, origin).wants(url, method);

  test.each([
    [`${origin}/api/items?item_id=1&shop_id=2`],
    [`${origin}/api/items?shop_id=2&limit=30&item_id=1&token=x`],
    ['https://api.shop.example/api/items?item_id=1&shop_id=2'],
  ])('%s is, whatever else it says', (url) => {
    expect(wants(url)).toBe(true);
    expect(wants(url, 'POST')).toBe(true);
  });

  test.each([
    ['another item', `${origin}/api/items?item_id=9&shop_id=2`],
    ['no item', `${origin}/api/items`],
    ['another path', `${origin}/api/items/1?item_id=1&shop_id=2`],
    ['another site', 'https://ads.example/api/items?item_id=1&shop_id=2'],
    ['a site that is called alike', 'https://www.shop.example.evil.example/api/items?item_id=1&shop_id=2'],
    ['no address', 'about:blank'],
  ])('%s is not', (_what, url) => {
    expect(wants(url)).toBe(false);
  });

  test('nor is the question whether it may be asked for', () => {
    expect(wants(`${origin}/api/items?item_id=1&shop_id=2`, 'OPTIONS')).toBe(false);
  });
});

test.each([
  ['https://a.shop.com/', 'http://b.shop.com:8080/', true],
  ['https://one.co.id/', 'https://two.co.id/', false],
  ['http://127.0.0.1:1/', 'http://127.0.0.1:2/', true],
  ['http://127.0.0.1/', 'http://127.0.0.2/', false],
  ['http://localhost/', 'http://localhost:9/', true],
  ['http://shop.test/', 'blob:x', false],
])('%s and %s are one site: %s', (one, other, same) => {
  expect(isSameSite(one, other)).toBe(same);
});
