import { describe, expect, test } from 'vitest';
import type { JsonObject } from '../../base/json.ts';
import { parseHtml } from '../html/html.ts';
import { parseSites } from './site-declaration.ts';
import { recordOf } from './site-fields.ts';
import { openSitePage } from './site-page.ts';
import { readProductPage } from './site-product.ts';

/*
 * Pages with the markup that schema.org and search engines publish for Product, Offer,
 * AggregateOffer, and ProductGroup, and with the mistakes of real shops: each is the right record,
 * or leaves a field out.
 */
const [site] = parseSites('{"kiln": "kiln.example"}');
const url = 'https://kiln.example/p/mug';

function read(html: string, address = url): JsonObject | null {
  const found = readProductPage(openSitePage(parseHtml(html), address, site!));
  return found && recordOf(found, address, site!);
}
const script = (text: string) => `<script type="application/ld+json">${text}</script>`;
const jsonLd = (...values: unknown[]) =>
  values.map((value) => script(JSON.stringify(value))).join('');
const mug = (members: object = {}) => ({
  '@context': 'https://schema.org/',
  '@type': 'Product',
  name: 'Oat mug',
  ...members,
});
const sold = (members: object) => mug({ offers: { '@type': 'Offer', ...members } });
const euros = (price: unknown) => ({ '@type': 'Offer', price, priceCurrency: 'EUR' });

describe('the published forms', () => {
  const offered = {
    title: 'Oat mug',
    brand: 'Hillside',
    sku: 'M-1',
    mpn: '925872',
    price: 119.99,
    currency: 'USD',
    availability: 'InStock',
    available: true,
    rating: 4.4,
    review_count: 89,
  };
  const markup = (scope: (type: string) => string, member: (name: string) => string) =>
    `<div ${scope('Product')}><span ${member('name')}>Oat mug</span><img ${member('image')} src="/a.jpg">
      <span ${member('sku')}>M-1</span><span ${member('mpn')}>925872</span>
      <div ${member('brand')} ${scope('Brand')}><span ${member('name')}>Hillside</span></div>
      <div ${member('aggregateRating')} ${scope('AggregateRating')}><b ${member('ratingValue')}>4.4</b> of
        <b ${member('reviewCount')}>89</b></div>
      <div ${member('review')} ${scope('Review')}><b ${member('name')}>Great</b>
        <i ${member('reviewRating')} ${scope('Rating')}><meta ${member('ratingValue')} content="1"></i></div>
      <div ${member('offers')} ${scope('Offer')}><meta ${member('priceCurrency')} content="USD">
        $<span ${member('price')}>119.99</span><link ${member('itemCondition')} href="https://schema.org/UsedCondition">
        <link ${member('availability')} href="https://schema.org/InStock"></div></div>`;

  test('of a product with one offer are read in every format', () => {
    const inJson = mug({
      image: ['/a.jpg'],
      sku: 'M-1',
      mpn: '925872',
      brand: { '@type': 'Brand', name: 'Hillside' },
      review: {
        '@type': 'Review',
        name: 'Great',
        reviewRating: { '@type': 'Rating', ratingValue: 1 },
      },
      aggregateRating: { '@type': 'AggregateRating', ratingValue: 4.4, reviewCount: 89 },
      offers: {
        '@type': 'Offer',
        url,
        priceCurrency: 'USD',
        price: 119.99,
        priceValidUntil: '2030-11-20',
        itemCondition: 'https://schema.org/UsedCondition',
        availability: 'https://schema.org/InStock',
      },
    });
    const pages = [
      jsonLd(inJson),
      markup(
        (type) => `itemscope itemtype="https://schema.org/${type}"`,
        (name) => `itemprop="${name}"`,
      ),
      markup(
        (type) => `vocab="https://schema.org/" typeof="${type}"`,
        (name) => `property="${name}"`,
      ),
      markup(
        (type) => `typeof="schema:${type}"`,
        (name) => `property="schema:${name}"`,
      ),
    ];
    for (const page of pages)
      expect(read(page)).toMatchObject({
        ...offered,
        condition: 'Used',
        images: ['https://kiln.example/a.jpg'],
      });
  });

  test('of OpenGraph products are read, with the price before a discount', () => {
    const values = {
      'og:type': 'product',
      'og:title': 'Oat mug',
      'product:retailer_item_id': 'M-1',
      'product:brand': 'Hillside',
      'product:availability': 'instock',
      'product:condition': 'new',
      'product:price:amount': '12.00',
      'product:price:currency': 'USD',
      'product:sale_price:amount': '9.50',
      'product:sale_price:currency': 'USD',
    };
    const tags = Object.entries(values).map(
      ([name, value]) => `<meta property="${name}" content="${value}">`,
    );
    expect(read(tags.join(''))).toMatchObject({
      title: 'Oat mug',
      sku: 'M-1',
      brand: 'Hillside',
      price: 9.5,
      list_price: 12,
      currency: 'USD',
      available: true,
    });
  });

  test('of several sellers are the cheapest offer, and no variants', () => {
    const seller = (name: string, price: number, availability = 'InStock') => ({
      ...euros(price),
      availability,
      sku: name,
      seller: { '@type': 'Organization', name },
    });
    const offers = [seller('A', 30), seller('B', 20), seller('C', 10, 'OutOfStock')];
    const aggregate = {
      '@type': 'AggregateOffer',
      offerCount: 3,
      lowPrice: 10,
      highPrice: 30,
      offers,
    };
    for (const given of [offers, { ...aggregate, priceCurrency: 'EUR' }])
      expect(read(jsonLd(mug({ offers: given })))).toMatchObject({
        price: 20,
        currency: 'EUR',
        seller: 'B',
        available: true,
        variants: [],
      });
  });

  test('of a product group have the variants that the page lists, inside of it or next to it', () => {
    const variant = (size: string, price: number) =>
      mug({
        name: `Oat mug, ${size}`,
        sku: `M-${size}`,
        size,
        '@id': `#${size}`,
        isVariantOf: { '@id': '#group' },
        offers: { ...euros(price), url: `${url}?size=${size}` },
      });
    const group = {
      '@type': 'ProductGroup',
      '@id': '#group',
      name: 'Oat mug',
      productGroupID: 'M',
      variesBy: ['https://schema.org/size'],
    };
    const variants = [variant('S', 9), variant('L', 12)];
    const nested = { ...group, hasVariant: [...variants, { url: `${url}?size=XL` }] };
    const beside = {
      '@graph': [{ ...group, hasVariant: [{ '@id': '#S' }, { '@id': '#L' }] }, ...variants],
    };
    for (const page of [jsonLd(nested), `<h1>Oat mug</h1>${jsonLd(beside)}`]) {
      const record = read(page);
      expect(record).toMatchObject({ title: 'Oat mug', price: 9, currency: 'EUR' });
      expect(record!.variants).toMatchObject([
        { id: 'M-S', price: 9 },
        { id: 'M-L', price: 12 },
      ]);
    }
  });
});

describe('the product of a page with several', () => {
  const related = (name: string) => ({ ...sold({ price: 5, priceCurrency: 'EUR' }), name });
  const main = sold({ price: 12, priceCurrency: 'EUR' });

  test.each([
    ['has the address of the page', jsonLd(related('Bowl'), { ...main, url })],
    [
      'has its address without the parameters',
      jsonLd(related('Bowl'), { ...main, '@id': `${url}#product` }),
    ],
    ['is named in the heading', `<h1>Oat mug</h1>${jsonLd(related('Bowl'), main)}`],
    [
      'has the longest name in the title',
      `<title>Oat mug | Kiln</title>${jsonLd(related('Mug'), main)}`,
    ],
    ['has an offer', jsonLd(mug({ name: 'Bowl' }), main)],
  ])('%s', (_name, page) => {
    expect(read(page, `${url}?utm_source=x`)).toMatchObject({ title: 'Oat mug', price: 12 });
  });

  test.each([
    ['listed as related', { ...main, isRelatedTo: [related('Bowl')], isSimilarTo: related('Jug') }],
    [
      'listed as an accessory',
      { '@graph': [main, { '@type': 'ItemList', itemListElement: [related('Bowl')] }] },
    ],
    [
      'as the main entity of the main entity',
      { '@type': 'WebPage', mainEntity: { '@type': 'ItemPage', mainEntity: main } },
    ],
  ])('is not one that is %s', (_name, value) => {
    expect(read(jsonLd(value))).toMatchObject({ title: 'Oat mug', price: 12 });
  });

  test('is the only product, unless it has another address and no name', () => {
    const page = (title: string) => `<h1>${title}</h1>${jsonLd({ ...main, url: '/c/mugs/p/mug' })}`;
    expect(read(page('Our oat mug'))).toMatchObject({ title: 'Oat mug', price: 12 });
    expect(read(page('Bowl'))).toBeNull();
    expect(read(`<h1>Bowl</h1>${jsonLd(main)}`)).toMatchObject({ title: 'Oat mug' });
  });

  test('is none if any could be meant', () => {
    expect(read(`<h1>Mugs and bowls</h1>${jsonLd(related('Bowl'), main)}`)).toBeNull();
  });

  test('has no values of another product in another format', () => {
    const card = `<div itemscope itemtype="https://schema.org/Product"><b itemprop="name">Bowl</b>
      <i itemprop="offers" itemscope><b itemprop="price">5</b><meta itemprop="priceCurrency" content="EUR"></i></div>`;
    expect(read(jsonLd(mug({ sku: 'M-1' })) + card)).toMatchObject({
      title: 'Oat mug',
      price: null,
    });
    const preview = (
      title: string,
      id: string,
    ) => `<meta property="product:price:amount" content="5">
      <meta property="og:title" content="${title}"><meta property="product:retailer_item_id" content="${id}">`;
    const withPreview = (title: string, id: string) =>
      read(jsonLd(mug({ sku: 'M-1' })) + preview(title, id));
    expect(withPreview('Bowls', 'M-2')).toMatchObject({ sku: 'M-1', price: null });
    expect(withPreview('Buy mugs online', 'M-1')).toMatchObject({ title: 'Oat mug', price: 5 });
    // A catalogue of advertisements has ids of its own.
    expect(withPreview('Oat mug | Kiln', '778')).toMatchObject({ sku: 'M-1', price: 5 });
  });
});

describe('prices as shops write them', () => {
  test.each([
    ['with a sign', { price: '$1,024.99', priceCurrency: 'USD' }, 1024.99, 'USD'],
    ['with a sign alone', { price: '54.99€' }, 54.99, 'EUR'],
    ['with a decimal comma', { price: '12,34 €', priceCurrency: 'EUR' }, 12.34, 'EUR'],
    ['with another sign than the currency', { price: '£9.99', priceCurrency: 'EUR' }, null, 'EUR'],
    ['with a currency in lower case', { price: '150', priceCurrency: 'idr' }, 150, 'IDR'],
    ['with a sign as the currency', { price: 9.5, priceCurrency: '€' }, 9.5, 'EUR'],
    ['without a currency', { price: '19.99' }, 19.99, null],
    ['in lakhs', { price: '1,24,999', priceCurrency: 'INR' }, 124_999, 'INR'],
    ['as a range in words', { price: '10 - 20', priceCurrency: 'EUR' }, 10, 'EUR'],
    [
      'as a range of an Offer',
      { lowPrice: '10.00', highPrice: '20.00', priceCurrency: 'EUR' },
      10,
      'EUR',
    ],
    ['as nothing', { price: '', priceCurrency: 'EUR' }, null, 'EUR'],
    ['on request', { price: 'Call us', priceCurrency: 'EUR' }, null, 'EUR'],
    ['as two prices', { price: '9.99 12.99', priceCurrency: 'EUR' }, null, 'EUR'],
    [
      'of a sale and a list price',
      {
        priceSpecification: [
          {
            '@type': 'UnitPriceSpecification',
            price: 15,
            priceCurrency: 'EUR',
            priceType: 'https://schema.org/ListPrice',
          },
          { '@type': 'UnitPriceSpecification', price: 10, priceCurrency: 'EUR' },
        ],
      },
      10,
      'EUR',
    ],
    [
      'beside a price per liter',
      {
        price: 10,
        priceCurrency: 'EUR',
        priceSpecification: {
          '@type': 'UnitPriceSpecification',
          price: 40,
          referenceQuantity: { value: 1, unitCode: 'LTR' },
        },
      },
      10,
      'EUR',
    ],
    [
      'behind a fee',
      {
        priceSpecification: [
          { '@type': 'DeliveryChargeSpecification', price: 4.9, priceCurrency: 'EUR' },
          { '@type': 'PriceSpecification', price: 10, priceCurrency: 'EUR' },
        ],
      },
      10,
      'EUR',
    ],
    [
      'behind instalments',
      {
        priceSpecification: [
          {
            '@type': 'UnitPriceSpecification',
            price: 2,
            billingDuration: 12,
            priceCurrency: 'EUR',
          },
          { price: 1, priceComponentType: 'https://schema.org/Downpayment', priceCurrency: 'EUR' },
          { price: 20, priceCurrency: 'EUR' },
        ],
      },
      20,
      'EUR',
    ],
    [
      'behind one for many pieces, and one without tax',
      {
        priceSpecification: [
          { price: 7, priceCurrency: 'EUR', eligibleQuantity: { minValue: 100 } },
          { price: 10, priceCurrency: 'EUR', valueAddedTaxIncluded: false },
          { price: 12, priceCurrency: 'EUR', valueAddedTaxIncluded: true },
        ],
      },
      12,
      'EUR',
    ],
    [
      'of a fee alone',
      {
        priceSpecification: {
          '@type': 'DeliveryChargeSpecification',
          price: 4.9,
          priceCurrency: 'EUR',
        },
      },
      null,
      null,
    ],
  ])('%s', (_name, members, price, currency) => {
    expect(read(jsonLd(sold(members)))).toMatchObject({ title: 'Oat mug', price, currency });
  });

  test.each([
    ['in the product itself', mug({ price: '9.50', priceCurrency: 'EUR' })],
    [
      'of a sale beside rent',
      mug({
        offers: [
          { ...euros(1), businessFunction: 'http://purl.org/goodrelations/v1#LeaseOut' },
          euros('9.50'),
        ],
      }),
    ],
    [
      'of an offer that names its variant',
      mug({
        offers: [
          { ...euros('9.50'), itemOffered: { sku: 'S' } },
          { ...euros(11), itemOffered: { sku: 'L' } },
        ],
      }),
    ],
  ])('%s', (_name, value) => {
    expect(read(jsonLd(value))).toMatchObject({ price: 9.5, currency: 'EUR' });
  });

  test('of variants have the ids of the offered items', () => {
    const offers = ['S', 'L'].map((sku, at) => ({
      ...euros(9 + at),
      itemOffered: { sku, name: `Mug ${sku}` },
    }));
    expect(read(jsonLd(mug({ offers })))!.variants).toMatchObject([
      { id: 'S', name: 'Mug S', price: 9 },
      { id: 'L', name: 'Mug L', price: 10 },
    ]);
  });
});

describe('offers beside their aggregate', () => {
  const aggregate = { '@type': 'AggregateOffer', lowPrice: 5, highPrice: 9, priceCurrency: 'EUR' };
  const pack = (sku: string, price: number) => ({
    '@type': 'Offer',
    name: `Pack ${sku}`,
    sku,
    price,
    availability: 'https://schema.org/InStock',
  });

  test('are the variants, in its currency', () => {
    const record = read(jsonLd(mug({ offers: [aggregate, pack('A', 9), pack('B', 6)] })));
    expect(record).toMatchObject({ price: 6, currency: 'EUR', available: true });
    expect(record!.variants).toMatchObject([{ id: 'A' }, { id: 'B' }]);
  });

  test('without prices state its availability', () => {
    const offers = [aggregate, { '@type': 'Offer', availability: 'https://schema.org/InStock' }];
    expect(read(jsonLd(mug({ offers })))).toMatchObject({
      price: 5,
      available: true,
      variants: [],
    });
    const contrary = [...offers, { '@type': 'Offer', availability: 'https://schema.org/SoldOut' }];
    expect(read(jsonLd(mug({ offers: contrary })))).toMatchObject({ price: 5, available: null });
  });
});

describe('prices by quantity', () => {
  const ofPieces = (minValue: number, price: number) => ({
    ...euros(price),
    eligibleQuantity: { '@type': 'QuantitativeValue', minValue },
  });

  test('are not the price of one piece', () => {
    expect(read(jsonLd(mug({ offers: [euros(12), ofPieces(10, 9)] })))).toMatchObject({
      price: 12,
    });
    expect(read(jsonLd(mug({ offers: [ofPieces(1, 12), ofPieces(10, 9)] })))).toMatchObject({
      price: 12,
    });
  });

  test('are the price if one piece is not sold', () => {
    expect(read(jsonLd(mug({ offers: ofPieces(6, 9) })))).toMatchObject({ price: 9 });
  });

  test('are the offers in the rows of a table that nothing else tells apart', () => {
    const offer = (tag: string, price: number, members = '') =>
      `<${tag} itemprop="offers" itemscope itemtype="https://schema.org/Offer">${members}
        <td>€ <b itemprop="price">${price}</b></td></${tag}>`;
    const product = (offers: string) =>
      `<div itemscope itemtype="https://schema.org/Product"><b itemprop="name">Oat mug</b>
        <div itemprop="offers" itemscope itemtype="https://schema.org/AggregateOffer">
        <meta itemprop="lowPrice" content="9"><table>${offers}</table></div></div>`;
    const row = (price: number, name?: string) =>
      offer('tr', price, name && `<td itemprop="name">${name}</td>`);
    expect(read(product(row(12) + row(10) + row(9)))).toMatchObject({ price: 12 });
    expect(read(product(row(12, 'Large') + row(9, 'Small')))).toMatchObject({ price: 9 });
  });
});

describe('several items of one product', () => {
  test('complete each other by name or address', () => {
    const rating = { '@type': 'AggregateRating', ratingValue: 4.8, reviewCount: 92 };
    const named = mug({ '@id': '#reviews', aggregateRating: rating });
    const addressed = mug({ name: 'Mug of oats', url, brand: 'Hillside' });
    const main = { ...sold({ price: 12, priceCurrency: 'EUR' }), url };
    expect(read(jsonLd(main, named, addressed))).toMatchObject({
      title: 'Oat mug',
      price: 12,
      rating: 4.8,
      review_count: 92,
      brand: 'Hillside',
    });
  });

  test('do not if they have pages of their own', () => {
    const main = { ...sold({ price: 12, priceCurrency: 'EUR' }), url };
    const other = mug({ url: '/p/other', brand: 'Hillside' });
    expect(read(jsonLd(main, other))).toMatchObject({ price: 12, brand: null });
  });
});

describe('the category', () => {
  const step = (name: string, path: string, position: number) => ({
    '@type': 'ListItem',
    position,
    item: { '@id': `https://kiln.example${path}`, name },
  });
  const trail = (...steps: object[]) => ({ '@type': 'BreadcrumbList', itemListElement: steps });
  const home = step('Home', '/', 1);
  const cups = step('Cups', '/c/cups', 2);

  test.each([
    ['the whole path to a category', [home, cups], 'Home > Cups'],
    [
      'a path to the address of the product',
      [home, cups, step('Mug', '/p/mug?a=1', 3)],
      'Home > Cups',
    ],
    ['a path to the name of the product', [home, cups, step('Oat Mug', '/x', 3)], 'Home > Cups'],
    ['a path by its positions', [cups, home], 'Home > Cups'],
    ['none of a path to the product alone', [step('Oat mug', '/x', 1)], null],
    ['none of the first page alone', [home, step('Oat mug', '/x', 2)], null],
  ])('is %s', (_name, steps, category) => {
    expect(read(jsonLd(sold(euros(9)), trail(...steps)))).toMatchObject({ category });
  });

  test('is a path in another format than the product', () => {
    const marked = `<div itemscope itemtype="https://schema.org/Product"><b itemprop="name">Oat mug</b>
      <i itemprop="offers" itemscope><b itemprop="price">5</b></i></div>`;
    expect(read(jsonLd(trail(home, cups)) + marked)).toMatchObject({
      category: 'Home > Cups',
      price: 5,
    });
  });
});

describe('ratings', () => {
  test.each([
    ['of five', { ratingValue: '4.4', bestRating: '5' }, 4.4],
    ['of ten', { ratingValue: 8.9, bestRating: 10, worstRating: 1 }, 4.45],
    ['of ten halves', { ratingValue: 9, bestRating: 10, worstRating: 0.5 }, 4.5],
    ['of a hundred', { ratingValue: '94', bestRating: '100', worstRating: '0' }, 4.7],
    ['above five without a scale', { ratingValue: 94 }, null],
    ['above their scale', { ratingValue: 6, bestRating: 5 }, null],
    [
      'of a scale that starts elsewhere',
      { ratingValue: 6, bestRating: 10, worstRating: -10 },
      null,
    ],
    ['beside the best rating of its customers', { ratingValue: 4.4, bestRating: 4.8 }, 4.4],
    ['that nobody gave', { ratingValue: 0, reviewCount: 0 }, null],
  ])('%s', (_name, rating, expected) => {
    expect(read(jsonLd(mug({ offers: euros(9), aggregateRating: rating })))).toMatchObject({
      rating: expected,
    });
  });
});

describe('other values as shops write them', () => {
  test.each([
    ['in a list of one', { sku: ['M-1'], gtin13: ['4006381333931'], mpn: ['925'] }, 'M-1'],
    ['repeated', { sku: ['M-1', 'M-1'], gtin13: '4006381333931', mpn: '925' }, 'M-1'],
    ['of several products', { sku: ['M-1', 'M-2'], gtin13: '4006381333931', mpn: '925' }, null],
  ])('codes %s', (_name, codes, sku) => {
    const record = read(jsonLd(mug({ ...codes, offers: euros(9) })));
    expect(record).toMatchObject({ sku, gtin: '4006381333931', mpn: '925' });
  });

  test('pictures have their address under either spelling', () => {
    const image = [{ '@type': 'ImageObject', contentURL: '/a.jpg' }, { contentUrl: '/b.jpg' }];
    expect(read(jsonLd(mug({ image, offers: euros(9) })))!.images).toEqual([
      'https://kiln.example/a.jpg',
      'https://kiln.example/b.jpg',
    ]);
  });

  test.each([
    ['EUR', '12.500', null],
    ['EUR', '0.350', 0.35],
    ['EUR', '1299.000', 1299],
    ['KWD', '12.500', 12.5],
    ['JPY', '12.500', 12_500],
  ])('%s %s with three decimals', (priceCurrency, price, expected) => {
    expect(read(jsonLd(sold({ priceCurrency, price })))).toMatchObject({ price: expected });
  });

  test.each([
    ['https://schema.org/InStock', 'InStock', true],
    ['http://schema.org/OutOfStock', 'OutOfStock', false],
    ['InStock', 'InStock', true],
    ['schema:SoldOut', 'SoldOut', false],
    ['in_stock', 'InStock', true],
    ['https://schema.org/Instock', 'InStock', true],
    [['https://schema.org/InStock', 'https://schema.org/InStoreOnly'], 'InStock', true],
    ['ask the shop', 'ask the shop', null],
    ['', null, null],
  ])('availability %j', (availability, state, available) => {
    expect(read(jsonLd(sold({ ...euros(9), availability })))).toMatchObject({
      availability: state,
      available,
    });
  });

  test('are null if a template printed a placeholder', () => {
    const values = {
      sku: 'null',
      mpn: 'N/A',
      gtin13: 'does not apply',
      gtin: 'undefined',
      brand: { name: '' },
    };
    expect(read(jsonLd(mug({ ...values, offers: euros(9) })))).toMatchObject({
      sku: null,
      mpn: null,
      gtin: null,
      brand: null,
      price: 9,
    });
  });
});

describe('broken JSON-LD', () => {
  const text = JSON.stringify(sold(euros(9)));
  test.each([
    ['a trailing comma', text.replace('}}', ',},}')],
    ['a comment before it', `\n  //Comment text\n${text}`],
    ['comments inside', text.replace('"offers"', '/* "price": 7, */ "offers"')],
    ['an HTML comment around it', `<!--\n${text}\n-->`],
    ['references to characters', text.replaceAll('"', '&quot;')],
    [
      'a line break in a string, and a trailing comma',
      text.replace('Oat mug', 'Oat\nmug').replace('}}', ',}}'),
    ],
    ['a tab in a string', text.replace('Oat mug', 'Oat\tmug')],
    ['a byte order mark, and a semicolon', `\uFEFF${text};`],
  ])('with %s is read', (_name, broken) => {
    expect(read(script(broken))).toMatchObject({ title: 'Oat mug', price: 9, currency: 'EUR' });
  });

  test.each([
    ['an unquoted price with a comma', text.replace('"price":9', '"price":1,299.00')],
    ['a quote in a string', text.replace('Oat mug', 'Mug of 5" height')],
    ['a missing bracket', text.slice(0, -1)],
    ['a missing value', text.replace(':9', ':')],
    ['two objects', `${text} ${text.replace(':9', ':7')}`],
    [
      'too many levels',
      `{"@type": "Product", "name": "x", "offers": ${'['.repeat(30_000)}${']'.repeat(30_000)},}`,
    ],
  ])('with %s is left out, and does not hide other data', (_name, broken) => {
    expect(read(script(broken))).toBeNull();
    const preview =
      '<meta property="og:title" content="Oat mug"><meta property="og:price:amount" content="8">';
    expect(read(script(broken) + preview)).toMatchObject({ title: 'Oat mug', price: 8 });
  });
});
