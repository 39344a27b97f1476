import { describe, expect, test } from 'vitest';
import type { JsonObject } from '../../base/json.ts';
import { parseSites } from '../declared-sites/site-declaration.ts';
import { recordOf } from '../declared-sites/site-fields.ts';
import { openSitePage } from '../declared-sites/site-page.ts';
import { readProductPage } from '../declared-sites/site-product.ts';
import { parseHtml } from '../html/html.ts';

/* Values of structured data that contradict themselves, or that are none. */

const [site] = parseSites('{"kiln": "kiln.example"}');

function read(html: string, address = 'https://kiln.example/p/mug'): JsonObject {
  const page = openSitePage(parseHtml(html), address, site!);
  return recordOf(readProductPage(page)!, address, site!);
}

const script = (json: string) => `<script type="application/ld+json">${json}</script>`;
const jsonLd = (value: unknown) => script(JSON.stringify(value));
const product = (members: object) => ({ '@type': 'Product', name: 'Ash mug', ...members });
const euros = (members: object = {}) => ({
  '@type': 'Offer',
  price: 9,
  priceCurrency: 'EUR',
  ...members,
});
const offered = (members: object, ofProduct: object = {}) =>
  jsonLd(product({ ...ofProduct, offers: euros(members) }));
const rated = (members: object) => offered({}, { aggregateRating: members });

describe('ratings', () => {
  test.each([
    [{ ratingValue: 0 }, null],
    [{ ratingValue: '0.0', reviewCount: 3 }, null],
    [{ ratingValue: 5, reviewCount: 0 }, null],
    [{ ratingValue: 5, ratingCount: '0', reviewCount: '0' }, null],
    [{ ratingValue: 4, reviewCount: 0, ratingCount: 12 }, 4],
    [{ ratingValue: ['4.5', '4.5'], reviewCount: 2 }, 4.5],
    [{ ratingValue: ['4.5', '3'], reviewCount: 2 }, null],
  ])('%j is %j', (members, rating) => {
    expect(read(rated(members)).rating).toBe(rating);
  });

  test.each([
    [{ reviewCount: -1 }, null],
    [{ reviewCount: '', ratingCount: 7 }, 7],
    [{ reviewCount: '1 234' }, 1_234],
    [{ reviewCount: '4.5 (12 reviews)' }, null],
  ])('%j are %j reviews', (members, count) => {
    expect(read(rated({ ratingValue: 4, ...members })).review_count).toBe(count);
  });
});

describe('texts', () => {
  test.each([
    ['4006381333931', '4006381333931'],
    ['4006381333932', null],
    ['0000000000000', null],
    ['96385074', '96385074'],
    ['0-306-40615-2', '0306406152'],
    ['080442957x', '080442957X'],
    ['0804429571', null],
  ])('the GTIN %s is %j', (gtin, expected) => {
    expect(read(offered({}, { gtin })).gtin).toBe(expected);
  });

  test.each(['{{ product.sku }}', `\${sku}`, 'N/A', 'Does not apply', '0', '–'])(
    '%s is no code',
    (code) => {
      expect(read(offered({}, { sku: code, mpn: code }))).toMatchObject({ sku: null, mpn: null });
    },
  );

  test.each(['N/A', 'null', 'No brand', 'Unbranded', '-', 'https://kiln.example/b/ash'])(
    '%s is no brand',
    (name) => {
      expect(read(offered({}, { brand: { name } })).brand).toBeNull();
    },
  );

  test('may be written for HTML twice', () => {
    expect(read(offered({}, { name: 'Ash &amp;amp; oat' })).title).toBe('Ash & oat');
  });

  test('placeholders of a template are none', () => {
    const placeholders = { name: '{{ title }}', description: '{{text}}', category: '{{ path }}' };
    expect(
      read(`<h1>Ash mug</h1><title>Ash mug</title>${offered({}, placeholders)}`),
    ).toMatchObject({ title: 'Ash mug', description: null, category: null });
  });
});

describe('declared fields', () => {
  const [declared] = parseSites(
    '{"kiln": {"hosts": ["kiln.example"], "fields": {"rating": ".a", "sku": ".b"}}}',
  );
  const readDeclared = (rating: string, sku = '') => {
    const html = `<h1>Ash mug</h1><p class="a">${rating}</p><p class="b">${sku}</p>${offered({})}`;
    const page = openSitePage(parseHtml(html), 'https://kiln.example/p/mug', declared!);
    return readProductPage(page)!.values;
  };

  test.each([
    ['4.5 out of 5 stars', 4.5],
    ['Rated 4,5', 4.5],
    ['9.2/10', 4.6],
    ['92 %', undefined],
    ['9.2', undefined],
    ['0', undefined],
    ['(12) 4.5', undefined],
    ['5つ星のうち3.4', undefined],
  ])('the rating %s is %j', (text, rating) => {
    expect(readDeclared(text).rating).toBe(rating);
  });

  test('have no placeholders', () => {
    expect(readDeclared('4', 'M-1').sku).toBe('M-1');
    expect(readDeclared('4', '{{ sku }}').sku).toBeUndefined();
  });
});

test('a label without a number is no number', () => {
  expect(read(jsonLd(product({ sku: 'Item #:' })))).toMatchObject({ sku: null });
});

describe('addresses', () => {
  test('refer to the base element of the page', () => {
    const html = `<base href="//cdn.example/a/">${offered({}, { image: 'b.jpg' })}`;
    expect(read(html).images).toEqual(['https://cdn.example/a/b.jpg']);
  });

  test('may be written for HTML', () => {
    const image = 'https://kiln.example/i?id=1&amp;size=2';
    expect(read(offered({}, { image })).images).toEqual(['https://kiln.example/i?id=1&size=2']);
  });
});

describe('currencies', () => {
  test.each([
    ['$', null],
    ['¥', null],
    ['GBX', null],
    ['£', 'GBP'],
    ['RMB', 'CNY'],
    ['SOS', 'SOS'],
    [['EUR', 'EUR'], 'EUR'],
    [['EUR', 'USD'], null],
  ])('%j is %j', (priceCurrency, currency) => {
    expect(read(offered({ priceCurrency })).currency).toBe(currency);
  });

  test('of offers are not compared', () => {
    const offers = [euros(), euros({ price: 140_000, priceCurrency: 'IDR' })];
    expect(read(jsonLd(product({ offers })))).toMatchObject({ price: null, currency: null });
  });

  test('of a preview that differ are none', () => {
    const preview = (amount: number, currency: string) =>
      `<meta property="product:price:amount" content="${amount}">
       <meta property="product:price:currency" content="${currency}">`;
    const title = '<meta property="og:title" content="Ash mug">';
    const record = read(title + preview(9, 'EUR') + preview(11, 'USD'));
    expect(record).toMatchObject({ title: 'Ash mug', price: null, currency: null });
  });

  test('of formats that differ are none', () => {
    const preview = `<meta property="product:price:amount" content="9">
      <meta property="product:price:currency" content="USD">`;
    expect(read(offered({}) + preview)).toMatchObject({ price: 9, currency: null });
  });
});

describe('prices', () => {
  test('keep the zeros of a number', () => {
    const json = '{"@type": "Product", "name": "Ash mug", "offers": {"price": 25.000%s}}';
    expect(read(script(json.replace('%s', ', "priceCurrency": "CLP"'))).price).toBe(25_000);
    expect(read(script(json.replace('%s', ', "priceCurrency": "EUR"'))).price).toBeNull();
  });

  test.each([
    ['the same twice', { price: ['9.50', '9.50'] }, 9.5],
    ['two in a list', { price: ['9.50', '7.50'] }, null],
    ['two specifications', { price: null, priceSpecification: [{ price: 9 }, { price: 7 }] }, null],
    ['below a higher lowest price', { price: null, lowPrice: 40, highPrice: 30 }, null],
    ['beside another lowest price', { price: 30, lowPrice: 10 }, null],
    ['above all numbers', { price: 1e300 }, null],
    [
      'of a quantity with a base measure',
      { price: null, priceSpecification: { price: 9, referenceQuantity: { valueReference: {} } } },
      9,
    ],
    [
      'of a base measure',
      { price: null, priceSpecification: { price: 9, referenceQuantity: { value: 100 } } },
      null,
    ],
    [
      'one without tax, in text',
      {
        price: null,
        priceSpecification: [
          { price: 100, valueAddedTaxIncluded: 'false' },
          { price: 119, valueAddedTaxIncluded: 'true' },
        ],
      },
      119,
    ],
  ])('%s', (_name, members, price) => {
    expect(read(offered(members)).price).toBe(price);
  });

  test('are not those for which a shop buys, rents out, or repairs', () => {
    const purposes = ['Buy', 'LeaseOut', 'Repair'].map((name) =>
      euros({ price: 2, businessFunction: `http://purl.org/goodrelations/v1#${name}` }),
    );
    expect(read(jsonLd(product({ offers: [...purposes, euros()] }))).price).toBe(9);
  });

  test('of items of one product that differ are none', () => {
    const items = [12, 9, 15].map((price) =>
      product({ sku: `M-${price}`, offers: euros({ price }) }),
    );
    expect(read(jsonLd(items))).toMatchObject({ price: null, sku: null });
    const isShown = '<h1>Ash mug</h1><p class="price">€ 9.00</p><button>Add to cart</button>';
    expect(read(`<title>Ash mug</title>${isShown}${jsonLd(items)}`).price).toBe(9);
  });
});

describe('the offer that an address names', () => {
  const group = (...links: string[]) => {
    const variants = links.map((link, at) =>
      product({ url: link, offers: euros({ price: 9 + at, url: link }) }),
    );
    return jsonLd({ '@type': 'ProductGroup', name: 'Ash mug', hasVariant: variants });
  };

  test.each([
    ['by parameters', ['/p/mug?variant=1', '/p/mug?variant=2'], '/p/mug?variant=2', 10],
    ['besides others', ['/p/mug?variant=1', '/p/mug?variant=2'], '/p/mug?utm=a&variant=2', 10],
    ['by its path', ['/p/mug-s', '/p/mug-l'], '/p/mug-l', 10],
    ['not at all', ['/p/mug-s', '/p/mug-l'], '/p/mug', 9],
    ['most closely', ['/p/mug', '/p/mug?size=l'], '/p/mug?size=l', 10],
  ])('%s', (_name, links, path, price) => {
    expect(read(group(...links), `https://kiln.example${path}`).price).toBe(price);
  });
});

describe('availability', () => {
  test.each([
    [['https://schema.org/InStock', 'https://schema.org/OutOfStock'], null, null],
    [['https://schema.org/SoldOut', 'https://schema.org/OutOfStock'], 'SoldOut', false],
    [{ '@id': 'https://schema.org/OutOfStock' }, 'OutOfStock', false],
    ['schema.org/OutOfStock', 'OutOfStock', false],
    ['https://schema.org/Out of stock', 'OutOfStock', false],
    ['https://schema.org/InStock/', 'InStock', true],
  ])('%j is %j', (stated, availability, available) => {
    expect(read(offered({ availability: stated }))).toMatchObject({ availability, available });
  });
});

describe('a page with many long texts', () => {
  const long = 'é '.repeat(95);
  const offers = (member: string) =>
    Array.from({ length: 1_500 }, (_, at) => euros({ [member]: `${long}${at}` }));

  test.each(['availability', 'price', 'priceCurrency'])(
    'as %s of offers is too complex',
    (member) => {
      expect(() => read(jsonLd(product({ offers: offers(member) })))).toThrow(
        expect.objectContaining({ code: 'page_too_complex' }),
      );
    },
  );

  test('of stock in embedded state or on the page is too complex', () => {
    const state = offers('availability').map((offer) => ({ name: 'Ash mug', ...offer }));
    const embedded = `<script type="application/json">${JSON.stringify(state)}</script>`;
    const lines = `<p class="stock">${long.slice(0, 70)}</p>`.repeat(4_000);
    for (const html of [embedded, lines])
      expect(() => read(`<title>Ash mug</title><h1>Ash mug</h1>${html}`)).toThrow(
        expect.objectContaining({ code: 'page_too_complex' }),
      );
  });

  test('keeps one value of a long list', () => {
    const price = Array.from({ length: 101 }, () => '9.50');
    expect(read(offered({ price })).price).toBeNull();
    expect(read(offered({ price: price.slice(1) })).price).toBe(9.5);
  });
});
