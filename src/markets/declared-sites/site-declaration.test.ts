import { describe, expect, test } from 'vitest';
import { parseHtml } from '../html/html.ts';
import { hasHost, parseSites } from './site-declaration.ts';
import { recordOf } from './site-fields.ts';
import { openSitePage } from './site-page.ts';
import { readProductPage } from './site-product.ts';

describe('parseSites()', () => {
  test('accepts a host alone', () => {
    expect(parseSites('{"kiln": "Kiln.example"}')).toEqual([
      { name: 'kiln', hosts: ['kiln.example'], fields: {}, listing: {}, policy: {} },
    ]);
  });

  test('accepts comments, shorthands, and limits', () => {
    const text = `{
      // A shop.
      "kiln": {
        "hosts": ["kiln.example", "kiln.example:8443"], "fetch": "browser", "requests_per_second": 0.5, "concurrency": 1,
        "fields": { "price": ".price", "title": ["schema.org", {"css": "h1"}] },
      },
    }`;
    expect(parseSites(text)[0]).toMatchObject({
      policy: { fetch: 'browser', concurrency: 1, requestsPerSecond: 0.5 },
      fields: { price: [{ css: '.price' }], title: [{ structured: true }, { css: 'h1' }] },
    });
  });

  test.each([
    ['{"kiln": {"hosts": ["kiln.example"]', 'line 1, column 36: close brace expected'],
    [
      '{\n  "Kiln": "kiln.example"}',
      'line 2, column 11: Kiln: expected a name such as kiln or kiln-de',
    ],
    [
      '{"kiln": "https://kiln.example/"}',
      'line 1, column 10: kiln.hosts.0: expected a host such as shop.example',
    ],
    [
      '{"kiln": {\n "hosts": ["kiln.example", "a b"]}}',
      'line 2, column 28: kiln.hosts.1: expected a host',
    ],
    [
      '{"kiln": {"host": "kiln.example"}}',
      'line 1, column 19: kiln.host: no such setting. Did you mean hosts?',
    ],
    ['{"kiln": {}}', 'line 1, column 10: kiln.hosts: missing'],
    ['{"kiln": {"hosts": []}}', 'line 1, column 20: kiln.hosts: '],
    [
      '{"kiln": {"hosts": ["k.example"], "concurrency": 99}}',
      'line 1, column 50: kiln.concurrency: ',
    ],
    [
      '{"kiln": {"hosts": ["k.example"],\n"fields": {"price": {"css": ".a["}}}}',
      'line 2, column 21: kiln.fields.price.0.css: not a CSS selector',
    ],
    [
      '{"kiln": {"hosts": ["k.example"],\n "fields": {"price": [".a",\n  "li:has(.price)"]}}}',
      'line 3, column 3: kiln.fields.price.1.css: :has is not supported',
    ],
    [
      '{"kiln": {"hosts": ["k.example"],\n "listing": {"items": ":not(.a .b)"}}}',
      'line 2, column 23: kiln.listing.items: :not with a combinator is not supported',
    ],
    [
      '{"kiln": {"hosts": ["k.example"], "fields": {"price": {"css": "a", "json": "b"}}}}',
      'kiln.fields.price.0: expected a CSS selector, {"css": …}, {"json": …}, or "schema.org"',
    ],
    [
      '{"kiln": {"hosts": ["k.example"], "fields": {"Price": "a"}}}',
      'expected a field such as title',
    ],
    [
      '{"kiln": {"hosts": ["k.example"],\n "wait_for": ".price"}}',
      'line 2, column 14: kiln.wait_for: only a browser waits: add "fetch": "browser"',
    ],
    [
      '{"kiln": {"hosts": ["k.example"], "fetch": "browser",\n "wait_for": "p:has(b)"}}',
      'line 2, column 14: kiln.wait_for: :has is not supported',
    ],
    ['[]', 'line 1, column 1: '],
    ['', 'line 1, column 1: '],
  ])('refuses %s', (text, message) => {
    expect(() => parseSites(text)).toThrow(message);
  });
});

test.each([
  ['https://kiln.example/p/1', true],
  ['https://www.kiln.example/', true],
  ['https://shop.kiln.example/', false],
  ['https://kiln.example.evil.example/', false],
  ['https://kiln.example:8080/', false],
])('hasHost() checks the whole host of %s', (url, expected) => {
  expect(hasHost(parseSites('{"kiln": "kiln.example"}')[0]!, new URL(url))).toBe(expected);
});

describe('a declared page', () => {
  const read = (fields: object, html: string, others: object = {}) => {
    const [site] = parseSites(
      JSON.stringify({ kiln: { hosts: ['kiln.example'], fields, ...others } }),
    );
    const url = 'https://kiln.example/p/1';
    const found = readProductPage(openSitePage(parseHtml(html), url, site!));
    return found && { record: recordOf(found, url, site!), from: found.from };
  };

  test('has values of CSS selectors, with their types', () => {
    const html = `<h1>Mug</h1><b class="p">Nur 1.234,50 €</b><i data-stock="sofort lieferbar"></i><q class="r">4,5 von 5</q>
      <a class="n">(1.234 Bewertungen)</a><img src="/a.jpg"><img src="/b.jpg"><u class="d">3 Tage</u>`;
    const fields = {
      title: 'h1',
      price: '.p',
      availability: { css: '[data-stock]', attribute: 'data-stock' },
      rating: '.r',
      review_count: '.n',
      images: { css: 'img', attribute: 'src' },
      delivery: '.d',
    };
    expect(read(fields, html)).toMatchObject({
      record: {
        title: 'Mug',
        price: 1234.5,
        currency: 'EUR',
        availability: 'InStock',
        available: true,
        rating: 4.5,
        review_count: 1234,
        images: ['https://kiln.example/a.jpg', 'https://kiln.example/b.jpg'],
        extra: { delivery: '3 Tage' },
      },
      from: { title: 'css h1', price: 'css .p', currency: 'css .p', delivery: 'css .d' },
    });
  });

  test('has a brand without its label, from the first source without a placeholder', () => {
    const fields = { title: 'h1', brand: ['.b', 'a'] };
    const html = '<h1>Mug</h1><b class="b">{{brand}}</b><a>More from brand: Kiln</a>';
    expect(read(fields, html)).toMatchObject({
      record: { brand: 'Kiln' },
      from: { brand: 'css a' },
    });
  });

  test('has a field with the name of a member of every object', () => {
    const fields = { title: 'h1', price: '.p', constructor: '.maker' };
    const html = '<h1>Mug</h1><p class="p">9 €</p><p class="maker">Kiln</p>';
    expect(read(fields, html)?.record.extra).toEqual({ constructor: 'Kiln' });
  });

  test('has prices with their cents in an element of their own, and no range', () => {
    const fields = {
      title: 'h1',
      price: '.p',
      list_price: '.l',
      sale: { css: '.s', type: 'price' },
    };
    const html = (sale: string) =>
      `<h1>Mug</h1><p class="p">1.054<sup>85</sup> €</p><p class="l">1.200 <small>50</small> €</p><p class="s">${sale}</p>`;
    expect(read(fields, html('9 €'))?.record).toMatchObject({
      price: 1054.85,
      list_price: 1200.5,
      extra: { sale: 9 },
    });
    for (const sale of ['9 € - 12 €', '<b>1</b><b>299</b> €', '9<br>299 €', '9 €/Monat'])
      expect(read(fields, html(sale))?.record.extra).toEqual({});
  });

  test('has prices of attributes in which a point separates decimals', () => {
    const fields = { title: 'h1', price: { css: 'b', attribute: 'data-price' } };
    const price = (value: string) =>
      read(fields, `<h1>Mug</h1><b data-price="${value}"></b>`)?.record.price;
    expect(price('12.50')).toBe(12.5);
    expect(price('1.234,50 €')).toBe(1234.5);
    expect(price('12.500') ?? null).toBeNull();
  });

  test.each([
    ['1.299', '€ 1.299,00', 1299],
    ['1,299 €', '€ 1.299,00', 1299],
    ['3.350', '€ 3,35', 3.35],
    ['3.350', '€ 4,00', null],
  ])('has the reading of %j that the page confirms with %j', (value, shown, price) => {
    const visible = `<h1>Mug</h1><div><b>${shown}</b><button>Add to cart</button></div>`;
    const options = { currency: 'EUR' };
    const attribute = { title: 'h1', price: { css: 'i', attribute: 'data-price' } };
    const ofAttribute = read(attribute, `${visible}<i data-price="${value}"></i>`, options);
    expect(ofAttribute?.record.price ?? null).toBe(price);
    const state = { title: 'h1', price: { json: 'amount', script: '__STATE__' } };
    const script = `<script>window.__STATE__ = {"amount": "${value}"}</script>`;
    expect(read(state, visible + script, options)?.record.price ?? null).toBe(price);
  });

  test('has values of embedded state, by element and by assignment', () => {
    const html = `<title>x</title><script type="application/json" id="__DATA__">{"p": [{"name": "Mug", "cents": 950}]}</script>
      <script>window.__STATE__ = {"offer": {"price": "9.50"}, "stock": true};</script>`;
    const fields = {
      title: { json: 'p.0.name', script: '__DATA__' },
      price: { json: 'offer.price', script: '__STATE__' },
      availability: { json: 'stock', script: '__STATE__' },
      cents: { json: 'p.0.cents', type: 'number' },
    };
    expect(read(fields, html, { currency: 'SGD' })).toMatchObject({
      record: { title: 'Mug', price: 9.5, currency: 'SGD', available: true, extra: { cents: 950 } },
      from: { title: 'json __DATA__ p.0.name', currency: 'declaration' },
    });
  });

  test('tries the sources of a field in order, and replaces structured data', () => {
    const html = `<script type="application/ld+json">{"@type": "Product", "name": "Mug",
      "offers": {"price": 12, "priceCurrency": "AUD"}}</script><b class="sale">$9</b>`;
    const sale = read({ price: '.sale' }, html);
    expect(sale).toMatchObject({
      record: { price: 9, currency: 'AUD' },
      from: { title: 'json-ld', price: 'css .sale' },
    });
    expect(read({ price: '.none' }, html)?.record).toMatchObject({ price: null, title: 'Mug' });
    expect(read({ price: ['.none', 'schema.org'] }, html)).toMatchObject({
      record: { price: 12, currency: 'AUD' },
      from: { price: 'json-ld' },
    });
  });

  test('shows no product without a title, or with nothing else', () => {
    expect(read({ title: 'h1', price: '.p' }, '<b class="p">€ 9</b>')).toBeNull();
    expect(read({ title: 'h1', price: '.p' }, '<h1>Sorry</h1>')).toBeNull();
  });
});
