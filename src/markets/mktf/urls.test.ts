import { describe, expect, it } from 'vitest';
import { mktf } from './index.ts';
import { storePage, wordsOf } from './urls.ts';

const origin = 'https://store.example';

describe('storePage', () => {
  it.each([
    [`${origin}`, '', null, 'store'],
    [`${origin}/`, '', null, 'store'],
    [`${origin}/products.json?limit=5`, '', null, 'store'],
    [`${origin}/fr/`, '/fr', null, 'store'],
    [`${origin}/collections/all`, '', 'all', 'collection'],
    [`${origin}/collections/mugs/?sort_by=price&page=3#top`, '', 'mugs', 'collection'],
    [`${origin}/en-us/collections/mugs`, '/en-us', 'mugs', 'collection'],
    [`${origin}/collections/mugs/products.json`, '', 'mugs', 'collection'],
    [`${origin}/collections/caf%C3%A9`, '', 'café', 'collection'],
    [`${origin}/search?q=red+mug&type=product`, '', null, 'search'],
    [`${origin}/fr/search?q=tasse`, '/fr', null, 'search'],
  ])('reads %s', (address, prefix, collection, type) => {
    expect(storePage(address)).toMatchObject({ origin, store: 'store.example', prefix, collection, type });
  });

  it('keeps a port and the scheme', () => {
    expect(storePage('http://127.0.0.1:8081/collections/a')).toMatchObject({
      origin: 'http://127.0.0.1:8081',
      store: '127.0.0.1:8081',
    });
  });

  it.each([
    ['', /not a web address/],
    ['store.example/collections/all', /not a web address/],
    ['ftp://store.example/', /not a web address/],
    ['javascript:alert(1)', /not a web address/],
    ['https://a:b@store.example/', /user or password/],
    [`${origin}/search`, /needs words/],
    [`${origin}/search?q=%20%22%22`, /needs words/],
    [`${origin}/search/mug?q=x`, /expected a store/],
    [`${origin}/products/mug`, /expected a store/],
    [`${origin}/collections`, /expected a store/],
    [`${origin}/collections/mugs/products/red-mug`, /product's address/],
    [`${origin}/collections/mugs/red`, /narrowed by a tag/],
    [`${origin}/collections/%E0%A4%A`, /not well encoded/],
    [`${origin}/pages/about`, /expected a store/],
    [`${origin}/faq`, /expected a store/],
  ])('refuses %j', (address, message) => {
    expect(() => storePage(address)).toThrow(message);
  });
});

it('wordsOf parts words, in lower case, without the marks of search boxes', () => {
  expect(wordsOf('  Red "Clay Mug" *oat*\tＭＵＧ')).toEqual(['red', 'clay', 'mug', 'oat', 'mug']);
});

it('parseUrl gives a reader its input, and knows no other page', () => {
  const url = `${origin}/collections/mugs`;
  expect(mktf.parseUrl!('search', url)).toEqual({ input: { url }, region: '', type: 'collection' });
  expect(() => mktf.parseUrl!('merchant', url)).toThrow(/merchant/);
});
