import { describe, expect, test } from 'vitest';
import type { JsonObject } from '../../base/json.ts';
import { parseSites } from '../declared-sites/site-declaration.ts';
import { recordOf } from '../declared-sites/site-fields.ts';
import { openSitePage } from '../declared-sites/site-page.ts';
import { readProductPage } from '../declared-sites/site-product.ts';
import { parseHtml } from '../html/html.ts';
import { structuredData, typesOf } from './structured-data.ts';

const [site] = parseSites('{"kiln": "kiln.example"}');
const url = 'https://kiln.example/p/mug';

/** Returns the record of a page, or null if it shows no product. */
function read(html: string, address = url): JsonObject | null {
  const found = readProductPage(openSitePage(parseHtml(html), address, site!));
  return found && recordOf(found, address, site!);
}

const jsonLd = (...values: unknown[]) =>
  values
    .map((value) => `<script type="application/ld+json">${JSON.stringify(value)}</script>`)
    .join('');
const product = (members: object) => ({
  '@context': 'https://schema.org',
  '@type': 'Product',
  name: 'Mug',
  ...members,
});
const offer = (members: object) =>
  product({ offers: { '@type': 'Offer', priceCurrency: 'EUR', price: 9, ...members } });

describe('a product in JSON-LD', () => {
  test('has the values of its offer', () => {
    const record = read(
      jsonLd({
        ...offer({
          price: '12.50',
          availability: 'https://schema.org/InStock',
          seller: { name: 'Kiln 9' },
        }),
        name: 'Clay &amp; <b>oat</b> mug',
        brand: { '@type': 'Brand', name: 'Hillside' },
        sku: 'M-1',
        gtin13: '4006381333931',
        image: [
          '/a.jpg',
          { '@type': 'ImageObject', url: 'https://img.example/b.jpg' },
          'data:image/png;base64,x',
        ],
        aggregateRating: { ratingValue: '4,5', reviewCount: '1.234' },
      }),
    );
    expect(record).toMatchObject({
      id: 'p-mug',
      url,
      site: 'kiln',
      title: 'Clay & oat mug',
      brand: 'Hillside',
      sku: 'M-1',
      gtin: '4006381333931',
      price: 12.5,
      currency: 'EUR',
      availability: 'InStock',
      available: true,
      seller: 'Kiln 9',
      rating: 4.5,
      review_count: 1234,
      list_price: null,
      extra: {},
      variants: [],
      images: ['https://kiln.example/a.jpg', 'https://img.example/b.jpg'],
    });
  });

  test.each([
    ['inside of a graph', { '@graph': [{ '@type': 'WebSite', name: 'Shop' }, offer({})] }],
    ['as the main entity of a page', { '@type': 'ItemPage', mainEntity: offer({}) }],
    ['as the object of an action', { '@type': 'BuyAction', object: offer({}) }],
    ['in an array', [{ '@type': 'Organization' }, offer({})]],
    ['with several types', { ...offer({}), '@type': ['Thing', 'http://schema.org/Product'] }],
    [
      'whose offer is another item',
      {
        '@graph': [
          product({ offers: { '@id': '#o' } }),
          { '@id': '#o', '@type': 'Offer', price: 9, priceCurrency: 'EUR' },
        ],
      },
    ],
  ])('is found %s', (_name, value) => {
    expect(read(jsonLd(value))).toMatchObject({ title: 'Mug', price: 9, currency: 'EUR' });
  });

  test.each([
    ['a number', { price: 9.5 }, 9.5],
    ['text with a decimal point', { price: '9.50' }, 9.5],
    ['text with more decimals', { price: '9.500000' }, 9.5],
    ['text with thousands', { price: '1,299.00' }, 1299],
    ['text with a symbol', { price: '€ 1.299,00' }, 1299],
    ['a point before three digits', { price: '1.299', priceCurrency: 'IDR' }, 1299],
    ['three decimals, which can be thousands', { price: '3.350', priceCurrency: 'GBP' }, null],
    ['three decimals of a currency with three', { price: '3.350', priceCurrency: 'KWD' }, 3.35],
    ['zero, which stands for none', { price: 0 }, null],
    ['text without a price', { price: 'on request' }, null],
    ['a range', { '@type': 'AggregateOffer', price: undefined, lowPrice: '7.00', highPrice: 9 }, 7],
    [
      'a specification, not that of members',
      {
        price: undefined,
        priceSpecification: [
          { price: 5, validForMemberTier: {} },
          { price: 8, priceCurrency: 'EUR' },
        ],
      },
      8,
    ],
  ])('has a price from %s', (_name, members, price) => {
    expect(read(jsonLd(offer(members)))?.price).toBe(price);
  });

  test('has the price before the discount from its specification', () => {
    const specifications = [{ price: 12, priceType: 'https://schema.org/StrikethroughPrice' }];
    expect(read(jsonLd(offer({ priceSpecification: specifications })))).toMatchObject({
      price: 9,
      list_price: 12,
    });
  });

  test('has the number of its only offer', () => {
    expect(read(jsonLd(offer({ sku: 'M-1' })))).toMatchObject({ sku: 'M-1' });
    const offers = ['M-1', 'M-2'].map((sku) => ({ '@type': 'Offer', price: 9, sku }));
    expect(read(jsonLd(product({ offers })))).toMatchObject({ sku: null });
  });

  test('has the cheapest offer that can be bought', () => {
    const offers = [
      { price: 5, priceCurrency: 'EUR', availability: 'OutOfStock' },
      { price: 9, priceCurrency: 'EUR', availability: 'InStock' },
      { price: 8, priceCurrency: 'EUR', availability: 'InStock' },
    ];
    expect(read(jsonLd(product({ offers })))).toMatchObject({ price: 8, available: true });
  });

  test('has the variants of a group, and the price of the one that the address names', () => {
    const variant = (name: string, price: number) => ({
      '@type': 'Product',
      name,
      sku: name,
      url: `?size=${name}`,
      offers: { price, priceCurrency: 'EUR', availability: name === 'S' ? 'SoldOut' : 'InStock' },
    });
    const group = {
      '@type': 'ProductGroup',
      name: 'Mug',
      productGroupID: 'G-1',
      hasVariant: [variant('S', 5), variant('M', 6), variant('L', 7)],
    };
    const record = read(jsonLd(group));
    expect(record).toMatchObject({ sku: 'G-1', price: 6, currency: 'EUR', available: true });
    expect(record?.variants).toMatchObject([
      { id: 'S', name: 'S', price: 5, available: false },
      { id: 'M', name: 'M', price: 6, available: true },
      { id: 'L', name: 'L', price: 7, available: true },
    ]);
    expect(read(jsonLd(group), `${url}?size=L`)?.price).toBe(7);
  });

  test('is the product of the page if there are several', () => {
    const other = { ...offer({ price: 1 }), name: 'Other', url: '/p/other' };
    expect(read(jsonLd(other, { ...offer({}), url: '/p/mug' }))?.title).toBe('Mug');
  });

  test('is read in spite of line breaks in strings, comments, and broken scripts', () => {
    const text = JSON.stringify(offer({})).replace('"Mug"', '"Mug\n of clay"');
    const html = `<script type="application/ld+json">{"@type": oops</script>
      <script type="application/ld+json">//<![CDATA[\n${text}\n//]]></script>`;
    expect(read(html)).toMatchObject({ title: 'Mug of clay', price: 9 });
  });

  test.each([
    ['text', '"Product"'],
    ['numbers', '[1, null, {"@type": 3, "@id": []}]'],
    [
      'a product with odd values',
      '{"@type": "Product", "name": [], "offers": 7, "image": {}, "brand": [[]]}',
    ],
    ['a cycle of ids', '{"@id": "#a", "@graph": [{"@id": "#a"}]}'],
    ['members of the prototype', '{"@type": "Product", "__proto__": {"name": "x"}}'],
  ])('is not found in %s', (_name, value) => {
    expect(read(`<script type="application/ld+json">${value}</script>`)).toBeNull();
  });
});

describe('a product in microdata', () => {
  const html = `<div itemscope itemtype="http://schema.org/Product"><h1 itemprop="name">Mug</h1>
    <div itemprop="brand" itemscope itemtype="http://schema.org/Brand"><b itemprop="name">Hillside</b></div>
    <div itemprop="offers" itemscope itemtype="http://schema.org/Offer"><meta itemprop="priceCurrency" content="GBP">
    <span itemprop="price">£1,299.00</span><link itemprop="availability" href="http://schema.org/PreOrder"></div>
    <div itemprop="__proto__">x</div></div>
    <div itemscope itemtype="http://schema.org/Person"><b itemprop="name">Ann</b></div>`;

  test('has the members of its nested items', () => {
    expect(read(html)).toMatchObject({
      title: 'Mug',
      brand: 'Hillside',
      price: 1299,
      currency: 'GBP',
      availability: 'PreOrder',
      available: true,
    });
  });

  test.each([
    ['in one text', '<i itemprop="sku">M-1</i>', 'M-1'],
    ['on a line of its own', '<i itemprop="sku">\n  M-1\n</i>', 'M-1'],
    ['in its value', '<i itemprop="sku" content="M-1">Item #: M-1</i>', 'M-1'],
    ['before a category on another line', '<i itemprop="productID">\n M-1\n Mugs\n</i>', null],
    ['that is left empty', '<i itemprop="sku" content="">SKU</i>', null],
  ])('has a number %s', (_name, element, sku) => {
    expect(read(html.replace('<h1', `${element}<h1`))?.sku ?? null).toBe(sku);
  });

  test('completes one in JSON-LD, whose values come first', () => {
    expect(read(jsonLd(product({ name: 'Clay mug' })) + html)).toMatchObject({
      title: 'Clay mug',
      price: 1299,
    });
  });

  test('has the last part of an address as its type, however long the address is', () => {
    const types = [
      'https://schema.org/Product',
      'schema:Offer',
      '#Thing',
      'Book',
      'a/',
      `${'a'.repeat(1_000_000)}/Mug`,
    ];
    expect(typesOf({ '@type': types })).toEqual(['Product', 'Offer', 'Thing', 'Book', '', 'Mug']);
  });

  test('reads the text of deeply nested members a few times only', () => {
    const deep = `${'<i itemprop="name">'.repeat(300)}Mug${'</i>'.repeat(300)}`;
    const [data] = structuredData(
      parseHtml(`<div itemscope itemtype="https://schema.org/Product">${deep}</div>`),
    );
    expect((data!.items[0]!.name as string[]).length).toBe(4);
  });
});

describe('a product of OpenGraph', () => {
  const meta = (values: Record<string, string>) =>
    Object.entries(values)
      .map(([name, content]) => `<meta property="${name}" content="${content}">`)
      .join('');

  test('has a price whose cents are in an element of their own', () => {
    const offers = '<div itemprop="offers" itemscope><meta itemprop="priceCurrency" content="USD">';
    const page = (price: string) =>
      `<div itemscope itemtype="http://schema.org/Product"><b itemprop="name">Mug</b>${offers}${price}</div></div>`;
    expect(read(page('<b itemprop="price">54<sup>85</sup></b>'))?.price).toBe(54.85);
    expect(read(page('<b itemprop="price">54<sup>8</sup></b>'))?.price).toBeNull();
  });

  test('has the price and availability of previews', () => {
    const values = {
      'og:title': 'Mug',
      'product:price:amount': '9,50',
      'product:price:currency': 'EUR',
    };
    const stock = { 'product:availability': 'in stock', 'product:condition': 'new' };
    expect(read(meta({ ...values, ...stock }))).toMatchObject({
      title: 'Mug',
      price: 9.5,
      currency: 'EUR',
      availability: 'InStock',
      condition: 'new',
    });
  });

  test('has the numbers of previews', () => {
    const values = { 'og:title': 'Mug', 'og:type': 'product', 'product:mfr_part_no': '925' };
    expect(read(meta({ ...values, 'product:ean': '4006381333931' }))).toMatchObject({
      gtin: '4006381333931',
      mpn: '925',
    });
    expect(read(meta({ ...values, 'product:upc': '4006381333932' }))).toMatchObject({ gtin: null });
  });

  test.each([
    ['4711', '4711'],
    ['M 17 RED', 'M 17 RED'],
    ['Kiln Works (Ltd)', null],
  ])('with the id %s has the SKU %s', (id, sku) => {
    const values = { 'og:title': 'Mug', 'og:type': 'product', 'product:retailer_item_id': id };
    expect(read(meta(values))?.sku).toBe(sku);
  });

  test('is none of several that a list states', () => {
    const stated = (prices: string[]) =>
      prices.map((price) => meta({ 'og:type': 'product', 'product:price:amount': price })).join('');
    const title = meta({ 'og:title': 'Mugs' });
    expect(read(title + stated(['9', '10', '11']))).toBeNull();
    expect(read(title + stated(['9', '9', '9']))).toMatchObject({ title: 'Mugs', price: 9 });
  });

  test('has no category that is a part of an address', () => {
    const categoryOf = (category: string) =>
      read(meta({ 'og:title': 'Mug', 'og:type': 'product', 'product:category': category }))
        ?.category;
    expect(categoryOf('oat-mugs-12')).toBeNull();
    expect(categoryOf('Mugs')).toBe('Mugs');
    expect(categoryOf('t-shirts & mugs')).toBe('t-shirts & mugs');
  });

  test('needs a type or a price of a product', () => {
    expect(read(meta({ 'og:title': 'About us', 'og:type': 'website' }))).toBeNull();
    expect(read(meta({ 'og:title': 'Mug', 'og:type': 'og:product' }))).toMatchObject({
      title: 'Mug',
      price: null,
    });
  });
});

describe('the brand of a product', () => {
  test.each([
    ['{{brand}}', null],
    ['%brand%', null],
    ['More from brand: Kiln', 'Kiln'],
  ])('is not the template or label "%s"', (brand, expected) => {
    expect(read(jsonLd(product({ offers: { price: 9 }, brand: { name: brand } })))).toMatchObject({
      brand: expected,
    });
  });

  test('is its manufacturer if the brand is a placeholder', () => {
    expect(
      read(jsonLd(product({ offers: { price: 9 }, brand: '{{brand}}', manufacturer: 'Kiln' }))),
    ).toMatchObject({
      brand: 'Kiln',
    });
  });
});

describe('structured data with unexpected values', () => {
  const odd = [null, true, -1, 1e300, '', 'odd', [], ['odd', null], {}, { odd: 1 }, [[{}]]];
  const whole = {
    '@type': 'ProductGroup',
    '@id': '#g',
    name: 'Mug',
    url: '/p/mug',
    image: [{ url: '/a.jpg' }],
    category: 'Mugs',
    brand: { name: 'Kiln' },
    aggregateRating: { ratingValue: 4, reviewCount: 2 },
    gtin: '1',
    itemCondition: 'New',
    offers: [
      {
        '@type': 'AggregateOffer',
        lowPrice: 1,
        priceCurrency: 'EUR',
        offers: [{ price: '2', seller: { name: 'a' } }],
      },
      {
        price: 3,
        availability: 'InStock',
        priceSpecification: [{ price: 4, priceType: 'ListPrice' }],
        url: '?a=1',
      },
    ],
    hasVariant: [{ name: 'S', sku: 1, offers: { price: 5 } }],
  };

  /** Yields copies of a value, each with one part replaced. */
  function* mutated(value: unknown): Generator<unknown> {
    yield* odd;
    if (typeof value !== 'object' || value === null) return;
    for (const [name, member] of Object.entries(value))
      for (const other of mutated(member))
        yield Array.isArray(value) ? value.with(Number(name), other) : { ...value, [name]: other };
  }

  test('is a record or none, never an error', () => {
    let records = 0;
    for (const value of mutated({
      '@graph': [whole, { '@type': 'BreadcrumbList', itemListElement: [{ name: 'a' }] }],
    }))
      if (read(jsonLd(value)) !== null) records += 1;
    expect(records).toBeGreaterThan(100);
  });
});
