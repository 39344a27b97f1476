import { describe, expect, it } from 'vitest';
import { direct } from '../../../sandbox/in-process-origin.ts';
import { mkte as origin } from '../../../sandbox/mkte/index.ts';
import { fakeProduct, variantAsin } from '../../../sandbox/mkte/products.ts';
import { stores } from '../../../sandbox/mkte/stores.ts';
import { expectLinear } from '../../../test/support/time/cost.ts';
import type { JsonObject } from '../../base/json.ts';
import { list } from '../fields.ts';
import { product } from './product.ts';
import { regions } from './regions.ts';

const at = Date.UTC(2026, 4, 6, 7, 8, 9);
const asinOf = (ending: string) => `B0TEST0${ending}`;

function read(ending: string, region = 'us'): Promise<JsonObject> {
  const input = { asin: asinOf(ending), country: region };
  return product.read(input, { region, fetch: direct(origin, region, at).fetch });
}

function extract(body: string, asin = 'B0TEST0001', region = 'us'): JsonObject {
  const response = {
    status: 200,
    headers: {},
    body: Buffer.from(body),
    url: 'http://site.test/',
    at,
  };
  return product.extract(response, { asin, country: region }, region);
}

function faultOf(body: string, status = 200, headers: Record<string, string> = {}) {
  const response = { status, headers, body: Buffer.from(body), url: 'http://site.test/', at };
  try {
    product.extract(response, { asin: 'B0TEST0001' }, 'us');
  } catch (thrown) {
    return thrown as { code: string; message: string; retryAfterMs?: number };
  }
  throw new Error('no fault');
}

const titled = (rest: string) =>
  `<span id="productTitle">Thing</span><input id="ASIN" value="B0TEST0001">${rest}`;

describe('a record', () => {
  it.each(Object.keys(regions))(
    'has the listed fields in region %s in the store’s language',
    async (region) => {
      for (const ending of ['001', '700']) {
        const made = fakeProduct(region, asinOf(ending));
        const store = stores[region]!;
        const record = await read(ending, region);
        expect(record).toMatchObject({
          _scraped_at: '2026-05-06T07:08:09.000Z',
          _asin: made.asin,
          _country: region,
          title: made.title,
          brand: made.brand,
          price: { amount: made.price, currency: store.currency, original_price: made.before },
          availability: store.inStock,
          rating: made.rating,
          review_count: made.ratings,
          url: `https://${store.host}/dp/${made.asin}`,
          features: made.features,
          description: 'A plain description.',
          seller: { name: made.seller, id: made.sellerId },
          parent_asin: 'B0PARENT00',
          breadcrumbs: ['Home', 'Lighting'],
        });
        expect(record.images).toEqual(
          made.images.map(
            (name, index) =>
              `https://m.example-cdn.test/images/I/${name}._AC_${index === 1 ? '' : 'SL1500_'}.jpg`,
          ),
        );
        expect(record.specifications).toEqual([
          { name: store.brandRow, value: made.brand },
          ...made.specifications.map(([name, value]) => ({ name, value })),
          { name: 'ASIN', value: 'x1' },
        ]);
        const pairs = made.colours.flatMap((colour) =>
          made.sizes.map((size) => `${colour}, ${size}`),
        );
        expect(record.variants).toEqual(
          pairs.map((title, index) => ({
            asin: variantAsin(made.asin, index),
            title,
            price: null,
          })),
        );
      }
    },
  );

  it('has the price without membership, new before used', async () => {
    const [member, used, subscription] = [await read('701'), await read('707'), await read('711')];
    for (const [record, ending] of [
      [member, '701'],
      [used, '707'],
      [subscription, '711'],
    ] as const) {
      const made = fakeProduct('us', asinOf(ending));
      expect(record.price).toEqual({
        amount: made.price,
        currency: 'USD',
        original_price: made.before,
      });
      expect(record).toMatchObject({
        seller: { name: made.seller, id: made.sellerId },
        availability: 'In Stock',
        condition: null,
      });
    }
  });

  it('reads a book with used copies only', async () => {
    const made = fakeProduct('uk', asinOf('702'));
    expect(await read('702', 'uk')).toMatchObject({
      price: { amount: made.usedPrice, currency: 'GBP', original_price: null },
      condition: 'used',
      brand: null,
      contributors: [
        { name: 'Ada Writer', role: 'Author' },
        { name: 'Ben Drawer', role: 'Illustrator' },
      ],
      features: [],
      availability: null,
      description: 'About a harbour.',
      specifications: made.specifications.map(([name, value]) => ({ name, value })),
      images: ['https://m.example-cdn.test/images/I/51cover.jpg'],
      seller: { name: made.seller, id: made.sellerId },
    });
  });

  it('reads an e-book with its own price and picture elements', async () => {
    const made = fakeProduct('fr', asinOf('703'));
    expect(await read('703', 'fr')).toMatchObject({
      price: {
        amount: made.price,
        currency: 'EUR',
        original_price: Number((made.price * 2).toFixed(2)),
      },
      images: ['https://m.example-cdn.test/images/I/51big.jpg'],
      seller: { name: null, id: null },
      variants: [],
    });
  });

  it.each(['713', '714'])(
    'reads a price that is only in the line about all offers (%s)',
    async (ending) => {
      const made = fakeProduct('us', asinOf(ending));
      expect(await read(ending)).toMatchObject({
        price: { amount: made.price, currency: 'USD', original_price: null },
        condition: null,
      });
    },
  );

  it('reads no price from a line about offers whose condition it does not know', () => {
    const line = (said: string) => titled(`<div id="olp_feature_div"><a>${said}</a></div>`);
    expect(extract(line('Gebraucht (2) ab 9,50 €')).condition).toBe('used');
    expect(extract(line('Neu (2) ab 9,50 €'))).toMatchObject({
      price: { amount: 9.5 },
      condition: null,
    });
    for (const said of [
      'Abc (2) from $9.50',
      '2 New',
      'New (2) from $9.50 and $4.00',
      'New with Prime from $3.00',
    ])
      expect(extract(line(said))).toMatchObject({ price: { amount: null } });
  });

  it('has no price if the page has none, whether sold out or not delivered', async () => {
    const none = { amount: null, currency: null, original_price: null };
    expect(await read('704', 'de')).toMatchObject({
      price: none,
      availability: 'Derzeit nicht verfügbar.',
      seller: { id: null },
    });
    expect(await read('708', 'jp')).toMatchObject({
      price: none,
      availability: null,
      title: fakeProduct('jp', asinOf('708')).title,
    });
  });

  it('has null or empty fields for a bare page', async () => {
    expect(await read('709')).toMatchObject({
      brand: null,
      availability: null,
      rating: null,
      review_count: null,
      images: [],
      features: [],
      description: null,
      specifications: [],
      variants: [],
      seller: { name: null, id: null },
    });
  });

  it('reads clothing: facts as bullets, variants and pictures from the page itself', async () => {
    const made = fakeProduct('it', asinOf('705'));
    expect(await read('705', 'it')).toMatchObject({
      price: { amount: made.price, currency: 'EUR' },
      features: made.features,
      specifications: [{ name: 'Fabric', value: 'Wool' }],
      variants: made.colours.map((title, index) => ({
        asin: variantAsin(made.asin, index),
        title,
        price: null,
      })),
      images: [
        'https://m.example-cdn.test/images/I/71front.jpg',
        'https://m.example-cdn.test/images/I/72back.jpg',
      ],
    });
  });

  it('reads the layout of 2020 with its deal price, not the struck price', async () => {
    const made = fakeProduct('us', asinOf('706'));
    const record = await read('706');
    expect(record).toMatchObject({
      brand: made.brand,
      price: { amount: made.price, currency: 'USD', original_price: made.before },
      availability: 'In Stock',
      seller: { name: made.seller, id: made.sellerId },
      specifications: made.specifications.map(([name, value]) => ({ name, value })),
    });
    expect(list(record.variants)).toHaveLength(made.colours.length);
  });

  it('takes the currency from the price, which depends on the visitor', async () => {
    expect((await read('710', 'jp')).price).toMatchObject({ amount: 1436.12, currency: 'TWD' });
  });

  it('has complete addresses of images', () => {
    const gallery = `<script>data = {'initial': [{"hiRes":"//cdn.test/a.jpg"},{"large":"https://cdn.test/b.jpg"}]}</script>`;
    expect(extract(titled(gallery)).images).toEqual([
      'https://cdn.test/a.jpg',
      'https://cdn.test/b.jpg',
    ]);
  });

  it('accepts a canonical link to the parent', async () => {
    expect(await read('712')).toMatchObject({ _asin: asinOf('712') });
  });
});

describe('a page without the product', () => {
  it.each([
    ['800', 'page_not_found', /404/],
    ['801', 'page_not_found', /no such page/],
    ['803', 'page_mismatch', /is about product B0TESTX803, not B0TEST0803/],
    ['807', 'page_blocked', /robot check/],
    ['808', 'page_blocked', /robot check/],
    ['809', 'page_blocked', /robot check/],
    ['810', 'page_blocked', /firewall/],
    ['811', 'page_throttled', /503/],
    ['812', 'page_failed', /500/],
    ['813', 'page_unreadable', /cut off after \d+ characters/],
    ['814', 'page_empty', /titled "Store: online shopping"/],
    ['815', 'page_empty', /instead of the product page/],
    ['816', 'page_throttled', /apology/],
    ['817', 'page_failed', /without its offer/],
  ])('%s is %s', async (ending, code, message) => {
    await expect(read(ending)).rejects.toMatchObject({
      name: 'Fault',
      code,
      message: expect.stringMatching(message),
    });
  });

  it('is throttled by an apology, even one that mentions automated access', () => {
    const apology =
      '<html><head><title>503 - Service Unavailable Error</title></head><!-- api-services-support@example.test --></html>';
    for (const status of [200, 503]) expect(faultOf(apology, status).code).toBe('page_throttled');
  });

  it.each([
    '503 - Service Unavailable Error',
    '500 - Internal Error',
    'Sorry! Something went wrong!',
  ])('is throttled by the apology %j with the pictures of the dog page', (title) => {
    const apology = `<title>${title}</title><a href="/dogsofamazon"><img alt="Dogs of the store"></a>`;
    for (const status of [200, 503]) expect(faultOf(apology, status).code).toBe('page_throttled');
  });

  it('is not found for a dog page with 404, even one that loads the firewall', () => {
    const dog =
      '<title>Page Not Found</title><script src="https://x.token.awswaf.com/challenge.js"></script>';
    expect(faultOf(dog, 404)).toMatchObject({ code: 'page_not_found' });
    expect(faultOf(dog.replace('Page Not Found', ''), 404)).toMatchObject({ code: 'page_blocked' });
  });

  it('is throttled for 429, with the requested delay', () => {
    expect(faultOf('', 429, { 'retry-after': '7' })).toMatchObject({
      code: 'page_throttled',
      retryAfterMs: 7000,
    });
  });

  it('is not about the products of lists that have forms', () => {
    const other = '<form><input name="ASIN" value="B0TEST0009"></form>';
    const title = '<span id="productTitle">Thing</span>';
    const reviews = '<div id="averageCustomerReviews" data-asin="B0TEST0001"></div>';
    expect(extract(title + reviews + other).title).toBe('Thing');
    const box = '<div id="buybox"><form><input name="ASIN" value="B0TEST0001"></form></div>';
    expect(extract(title + other + box).title).toBe('Thing');
    expect(faultOf(title + other)).toMatchObject({ code: 'page_mismatch' });
  });

  it('is about another product by its scripts or reviews without a form', () => {
    const page = (rest: string) => `<span id="productTitle">Thing</span>${rest}`;
    for (const rest of [
      '<script>x = {"landingAsin": "B0OTHER001"}</script>',
      '<div id="averageCustomerReviews" data-asin="B0OTHER001"></div>',
      '<link rel="canonical" href="https://www.amazon.com/x/dp/B0OTHER001">',
    ]) {
      expect(faultOf(page(rest)).code).toBe('page_mismatch');
      expect(faultOf(`<input name="ASIN" value="B0OTHER001">${page('')}`).message).toContain(
        'B0OTHER001',
      );
    }
    expect(extract(page('')).title).toBe('Thing');
  });

  it('is about another product if the store led to its address', () => {
    const ledTo = (path: string) => {
      const body = Buffer.from('<span id="productTitle">Thing</span>');
      const url = `https://www.amazon.com${path}`;
      const response = { status: 200, headers: {}, body, url, at: 0 };
      return () => product.extract(response, { asin: 'B0TEST0001' }, 'us');
    };
    expect(ledTo('/Thing/dp/B0OTHER001?th=1')).toThrow(/about product B0OTHER001, not B0TEST0001/);
    expect(ledTo('/Thing/dp/B0TEST0001/ref=a')).not.toThrow();
  });

  it('is about a variant of the product, which its message names', () => {
    const map = '<script>x = {"dimensionToAsinMap" : {"0":"B0OTHER001","1":"B0TEST0001"}}</script>';
    const shown = faultOf(
      `<span id="productTitle">Thing</span><input name="ASIN" value="B0OTHER001">${map}`,
    );
    expect(shown).toMatchObject({
      code: 'page_mismatch',
      message: 'the page shows variant B0OTHER001 of the product, not B0TEST0001',
    });
  });

  it('is a fault wherever a complete page is truncated', () => {
    const whole = String(
      origin.respond({
        method: 'GET',
        url: new URL('http://x/dp/B0TEST0700'),
        headers: {},
        body: '',
        region: 'us',
      }).body,
    );
    for (let end = 211; end < whole.length - 8; end += 211) {
      expect(faultOf(whole.slice(0, end)).code, `cut at ${end}`).toBe('page_unreadable');
    }
  });

  it('takes linear time even if it is hostile', () => {
    const bodies = [
      titled('<div>'.repeat(1_000_000)),
      titled('<script>dimensionToAsinMap = {'.repeat(100_000)),
      titled(`<script>'initial': ${'['.repeat(1_000_000)}</script>`),
      titled(`<a id="bylineInfo">${'Visit the '.repeat(300_000)}</a>`),
      titled('<li id="feature-bullets"><i id="Fitment">'.repeat(100)),
      titled(
        `<div id="availability">${'1 111,'.repeat(500_000)}</div><span id="priceblock_ourprice">${'1.'.repeat(1_000_000)}</span>`,
      ),
      titled(
        `${'<table class="prodDetTable">'.repeat(150)}${'<tr><th>a</th><td>b</td></tr>'.repeat(5_000)}`,
      ),
      titled(
        `${'<div id="corePrice_desktop">'.repeat(300)}${'<b class="a-price">x</b>'.repeat(10_000)}`,
      ),
      titled(`<ul id="altImages"><li class="item"><img src="${'a'.repeat(1_000_000)}.b"></ul>`),
      titled(`<ul id="altImages"><li class="item"><img src="${'a.'.repeat(500_000)}"></ul>`),
      titled(`<div id="merchant-info">${'amazon.b'.repeat(200_000)}</div>`),
      titled(`${'<ul id="feature-bullets"><li>'.repeat(150)}${'words '.repeat(500_000)}`),
    ];
    expectLinear(() => {
      for (const body of bodies) {
        try {
          extract(body);
        } catch (thrown) {
          expect(thrown).toMatchObject({ name: 'Fault' });
        }
      }
    }, bodies);
  });
});
