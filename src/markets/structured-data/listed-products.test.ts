import { describe, expect, it } from 'vitest';
import { parseHtml } from '../html/html.ts';
import { isProductPage, listedProducts } from './listed-products.ts';
import { structuredData } from './structured-data.ts';

const url = 'https://kiln.example/c/mugs';

const dataOf = (...values: unknown[]) =>
  structuredData(
    parseHtml(
      `<script type="application/ld+json">${JSON.stringify({ '@graph': values })}</script>`,
    ),
  );
const listedNames = (...values: unknown[]) =>
  dataOf(...values).flatMap((data) => listedProducts(data, url, []).map(({ title }) => title));

const product = (name: string, members: object = { url: `/p/${name}` }) => ({
  '@type': 'Product',
  name,
  offers: { '@type': 'Offer', price: 9 },
  ...members,
});
const link = (name: string) => ({ '@type': 'ListItem', name, url: `/c/${name}` });
const list = (elements: unknown[], members: object = {}) => ({
  '@type': 'ItemList',
  itemListElement: elements,
  ...members,
});

describe('listedProducts()', () => {
  it.each([
    ['a list of categories beside them', [list([link('Bowls')]), list([product('Mug')])]],
    [
      'a list of recommended products',
      [list([product('Jug')], { name: 'You may also like' }), list([product('Mug')])],
    ],
    ['categories in their list', [list([link('Bowls'), { item: product('Mug') }])]],
    [
      'a list that the page does not name as its content',
      [list([product('Jug')]), { '@type': 'CollectionPage', mainEntity: list([product('Mug')]) }],
    ],
    [
      'items of other types',
      [list([{ '@type': 'Recipe', name: 'Tea', url: '/tea' }, product('Mug')])],
    ],
  ])('reads the products of a page without %s', (_name, values) => {
    expect(listedNames(...values)).toEqual(['Mug']);
  });

  it('reads the links of the only list of a page', () => {
    expect(listedNames(list([link('Mug'), link('Bowl')]))).toEqual(['Mug', 'Bowl']);
  });

  it.each([
    ['several lists of links', [list([link('Mug')]), list([link('Bowl')])]],
    ['a menu', [list([{ '@type': 'SiteNavigationElement', name: 'Mugs', url: '/c/mugs' }])]],
    ['one product', [product('Mug')]],
    ['a product of its own beside others', [product('Mug', { url }), product('Bowl')]],
    ['a product without an address', [product('Mug', {}), product('Bowl'), product('Jug')]],
  ])('reads nothing from a page with %s', (_name, values) => {
    expect(listedNames(...values)).toEqual([]);
  });

  it.each([
    ['their own', { url: '/p/1' }, { url: '/p/2' }],
    ['of their pages', { mainEntityOfPage: { '@id': '/p/1' } }, { mainEntityOfPage: '/p/2' }],
    [
      'of their offers',
      { offers: { price: 9, url: '/p/1' } },
      { offers: { price: 9, url: '/p/2' } },
    ],
  ])('reads products beside each other with addresses %s', (_name, mug, bowl) => {
    const [data] = dataOf(product('Mug', mug), product('Bowl', bowl));
    expect(listedProducts(data!, url, [])).toMatchObject([
      { title: 'Mug', url: 'https://kiln.example/p/1' },
      { title: 'Bowl', url: 'https://kiln.example/p/2' },
    ]);
  });
});

it.each([
  [
    'links in their names',
    (page: string, name: string) => `<h2 itemprop="name"><a href="${page}">${name}</a></h2>`,
  ],
  [
    'names that are links',
    (page: string, name: string) => `<a itemprop="name" href="${page}">${name}</a>`,
  ],
  [
    'the same address twice',
    (page: string, name: string) =>
      `<a itemprop="url" href="${page}"></a><h5 itemprop="name"><a itemprop="url" href="${page}">${name}</a></h5>`,
  ],
])('listedProducts() reads products in elements with %s', (_name, markup) => {
  const item = (page: string, name: string) =>
    `<li itemscope itemtype="https://schema.org/Product">${markup(page, name)}</li>`;
  const [data] = structuredData(parseHtml(item('/p/1', 'Mug') + item('/p/2', 'Bowl')));
  expect(listedProducts(data!, url, [])).toMatchObject([
    { title: 'Mug', url: 'https://kiln.example/p/1' },
    { title: 'Bowl', url: 'https://kiln.example/p/2' },
  ]);
});

describe('isProductPage()', () => {
  it.each([
    ['a product with its address', product('Mug', { url }), true],
    ['a product without an address', product('Mug', {}), true],
    ['a product of another page', product('Mug'), false],
    ['a category with a range', product('Mugs', { url, offers: aggregate() }), false],
  ])('finds the page of %s: %j', (_name, value, isExpected) => {
    expect(dataOf(value).some((data) => isProductPage(data, url))).toBe(isExpected);
  });
});

function aggregate() {
  return { '@type': 'AggregateOffer', lowPrice: 5, highPrice: 50, price: 5 };
}
