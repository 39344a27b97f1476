import { describe, expect, test } from 'vitest';
import type { JsonObject } from '../../base/json.ts';
import { parseSites } from '../declared-sites/site-declaration.ts';
import { openSitePage, type SitePage } from '../declared-sites/site-page.ts';
import { readProductPage } from '../declared-sites/site-product.ts';
import { parseHtml } from '../html/html.ts';
import { listedProducts } from './listed-products.ts';
import { itemsOf, structuredData } from './structured-data.ts';

const [site] = parseSites('{"kiln": "kiln.example"}');
const url = 'https://kiln.example/p/mug';
const open = (html: string): SitePage => openSitePage(parseHtml(html), url, site!);

const jsonLd = (value: unknown) =>
  `<script type="application/ld+json">${JSON.stringify(value)}</script>`;
const names = (name: string, count: number) => Array(count).fill(name).join(' ');
const scoped = (type: string, members: string, inner: string) =>
  `<div itemscope itemtype="https://schema.org/${type}" ${members === '' ? '' : `itemprop="${members}"`}>${inner}</div>`;

/** Pages whose values refer to each other, by their size. */
const pages: Record<string, (count: number) => string> = {
  'names repeated in an attribute': (count) => {
    const price = '<meta itemprop="price" content="9">';
    const inner = scoped(
      'AggregateOffer',
      names('offers', count),
      scoped('Offer', names('offers', count), price),
    );
    return scoped('Product', '', `<b itemprop="name">Mug</b>${inner}`);
  },
  'nested main entities': (count) => {
    const product = scoped('Product', names('mainEntity', count), '<b itemprop="name">Mug</b>');
    return scoped('WebPage', '', scoped('ItemPage', names('mainEntity', count), product));
  },
  'repeated references': (count) =>
    jsonLd({
      '@graph': [
        { '@type': 'Product', name: 'Mug', offers: Array(count).fill({ '@id': 'a' }) },
        { '@id': 'a', '@type': 'AggregateOffer', offers: Array(count).fill({ '@id': 'b' }) },
        { '@id': 'b', '@type': 'Offer', price: 9 },
      ],
    }),
  'a list of one product with many offers': (count) =>
    jsonLd({
      '@graph': [
        { '@type': 'ItemList', itemListElement: Array(count).fill({ '@id': 'a' }) },
        {
          '@id': 'a',
          '@type': 'Product',
          url: '/p/1',
          name: 'Mug',
          offers: Array(count).fill({ price: 9 }),
        },
      ],
    }),
  'many offers': (count) =>
    jsonLd({ '@type': 'Product', name: 'Mug', offers: Array(count).fill({ price: 9 }) }),
  'many products of one name': (count) =>
    jsonLd(Array(count).fill({ '@type': 'Product', name: 'Mug', offers: { price: 9 } })),
};

/**
 * Returns the number of values that are visited when the product and the list of a page are read.
 */
function visitsOf(html: string): number {
  const page = open(html);
  const before = page.data[0]!.visits.remaining;
  readProductPage(page);
  for (const data of page.data) listedProducts(data, url, []);
  return before - page.data[0]!.visits.remaining;
}

describe('the work for a page', () => {
  test.each(Object.entries(pages))('grows with its size: %s', (_name, pageOf) => {
    const [small, large] = [visitsOf(pageOf(500)), visitsOf(pageOf(1_000))];
    expect(large).toBeLessThan(small * 2 + 50);
  });

  test('is the same for any number of products and headings, which are compared up to a limit', () => {
    const heading = (at: number) => `<h1>Bowl ${at}</h1>`;
    const product = (at: number) => ({
      '@type': 'Product',
      name: `Mug ${at}`,
      offers: { price: 9 },
    });
    const headings = (count: number) =>
      Array.from({ length: count }, (_, at) => heading(at)).join('');
    const html = (count: number) => headings(count) + jsonLd([product(1), product(2)]);
    expect(readProductPage(open(`${html(40)}<h1>Mug 2</h1>`))?.values.title).toBe('Mug 2');
    expect(readProductPage(open(`${html(4_000)}<h1>Mug 2</h1>`))).toBeNull();
  });

  test('ends with a fault at a graph in which every value refers to every other', () => {
    const ids = Array.from({ length: 3_000 }, (_, at) => ({ '@id': `#${at}` }));
    const products = ids
      .slice(0, 30)
      .map((id) => ({ ...id, '@type': 'Product', name: 'Mug', hasVariant: ids }));
    expect(() => readProductPage(open(jsonLd(products)))).toThrow(
      expect.objectContaining({
        code: 'page_too_complex',
        message: expect.stringMatching(/50000 references/),
      }),
    );
  });
});

describe('structuredData()', () => {
  test('returns up to 5,000 items of all formats together, in the order of the page', () => {
    const products = (count: number) => jsonLd(Array(count).fill({ '@type': 'Product' }));
    const marked = scoped('Product', '', '').repeat(3_000);
    const counts = structuredData(parseHtml(products(3_000) + marked)).map(
      ({ items }) => items.length,
    );
    expect(counts).toEqual([3_000, 2_000]);
  });

  test('returns an item of several wrappers once', () => {
    const html = scoped('WebPage', '', scoped('Product', 'mainEntity mainEntityOfPage about', ''));
    expect(structuredData(parseHtml(html))[0]!.items).toHaveLength(2);
  });

  test('resolves references to items at any depth, before and after them', () => {
    const offer = { '@id': '#o', '@type': 'Offer', price: 9 };
    const html = jsonLd([
      { '@id': '#o' },
      { '@type': 'Thing', about: { deep: [offer] } },
      { '@id': '#o' },
    ]);
    const [data] = structuredData(parseHtml(html));
    expect(itemsOf([{ '@id': '#o' }, { '@id': '#o' }], data!)).toEqual([offer]);
  });
});

describe('an offer without itemprop', () => {
  const read = (html: string): JsonObject | undefined => readProductPage(open(html))?.values;
  const name = '<b itemprop="name">Mug</b>';
  const offer = (price: number) =>
    scoped('Offer', '', `<meta itemprop="price" content="${price}">`);

  test('belongs to the enclosing product', () => {
    expect(read(scoped('Product', '', name + offer(9)))).toMatchObject({ price: 9 });
  });

  test('does not belong to a product with offers or to another item', () => {
    const own = scoped('Offer', 'offers', '<meta itemprop="price" content="7">');
    expect(read(scoped('Product', '', name + offer(9) + own))).toMatchObject({ price: 7 });
    const list = scoped('ItemList', '', offer(9));
    expect(read(scoped('Product', '', name + list))?.price).toBeUndefined();
  });
});

describe('a name that is a link', () => {
  const brand = '<a href="/brands/kiln-works" itemprop="brand">Kiln Works</a>';

  test.each([
    ['microdata', scoped('Product', '', `<b itemprop="name">Mug</b>${brand}`)],
    [
      'RDFa',
      `<div vocab="https://schema.org/" typeof="Product"><b property="schema:name">Mug</b>
        <a href="/brands/kiln-works" property="schema:brand">Kiln Works</a></div>`,
    ],
  ])('is its text in %s, not its address', (_format, html) => {
    expect(readProductPage(open(html))?.values).toMatchObject({ brand: 'Kiln Works' });
  });
});

describe('a picture', () => {
  const picture = (attributes: string) =>
    `<b itemprop="name">Mug</b><img itemprop="image" ${attributes}>`;
  const imagesOf = (attributes: string) =>
    readProductPage(open(scoped('Product', '', picture(attributes))))?.values.images;

  test('that is loaded later has the address of the later one', () => {
    const images = imagesOf('src="/themes/loading.gif" data-src="/mug.jpg"');
    expect(images).toEqual([expect.stringMatching(/\/mug\.jpg$/)]);
  });

  test.each(['/img/loading.gif?v=1', '/no-image-2048_348x.gif', '/spacer.png', '/no_photo.jpg'])(
    'is none at %s',
    (source) => {
      expect(imagesOf(`src="${source}"`) ?? []).toEqual([]);
    },
  );

  test('can be one of a loading dock or a blank canvas', () => {
    expect(imagesOf('src="/loading-dock.jpg"')).toHaveLength(1);
    expect(imagesOf('src="/blank-canvas.png"')).toHaveLength(1);
  });
});
