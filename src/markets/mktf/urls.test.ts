import { describe, expect, it } from 'vitest';
import { mktf } from './index.ts';
import { splitWords, storePage } from './urls.ts';

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
  ])('parses %s', (address, prefix, collection, type) => {
    expect(storePage(address)).toMatchObject({
      origin,
      store: 'store.example',
      prefix,
      collection,
      type,
    });
  });

  it('keeps a port and the scheme', () => {
    expect(storePage('http://127.0.0.1:8081/collections/a')).toMatchObject({
      origin: 'http://127.0.0.1:8081',
      store: '127.0.0.1:8081',
    });
  });

  it.each([
    ['', /not an http or https address/],
    ['store.example/collections/all', /not an http or https address/],
    ['ftp://store.example/', /not an http or https address/],
    ['javascript:alert(1)', /not an http or https address/],
    ['https://a:b@store.example/', /user or password/],
    [`${origin}/search`, /needs keywords/],
    [`${origin}/search?q=%20%22%22`, /needs keywords/],
    [`${origin}/search/mug?q=x`, /expected a store/],
    [`${origin}/products/mug`, /expected a store/],
    [`${origin}/collections`, /expected a store/],
    [`${origin}/collections/mugs/products/red-mug`, /product's address/],
    [`${origin}/collections/mugs/red`, /filtered by tag/],
    [`${origin}/collections/%E0%A4%A`, /invalid percent-encoding/],
    [`${origin}/pages/about`, /expected a store/],
    [`${origin}/faq`, /expected a store/],
  ])('rejects %j', (address, message) => {
    expect(() => storePage(address)).toThrow(message);
  });
});

it('splitWords() splits words in lower case without search operators', () => {
  expect(splitWords('  Red "Clay Mug" *oat*\tＭＵＧ')).toEqual([
    'red',
    'clay',
    'mug',
    'oat',
    'mug',
  ]);
});

it('parseUrl() returns a reader’s input and supports no other page', () => {
  const url = `${origin}/collections/mugs`;
  expect(mktf.parseUrl!('search', url)).toEqual({ input: { url }, region: '', type: 'collection' });
  expect(() => mktf.parseUrl!('merchant', url)).toThrow(/merchant/);
});
