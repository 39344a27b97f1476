import { afterEach, describe, expect, it } from 'vitest';
import { direct } from '../../../sandbox/in-process-origin.ts';
import { listedId, sites as origin } from '../../../sandbox/sites/index.ts';
import { fakeProduct } from '../../../sandbox/sites/products.ts';
import type { JsonObject } from '../../base/json.ts';
import type { FetchPage, PageRequest } from '../../fetch/page.ts';
import { declaredSites } from '../declared-sites/declared-sites.ts';
import type { ListSummary } from '../market.ts';
import { sites } from './index.ts';
import { product } from './product.ts';
import { search } from './search.ts';

const shop = 'https://shop.example';

/** Declares sites of other shops. */
const declare = (declarations: object) =>
  declaredSites.use(
    { path: '/nowhere', texts: { 'sites.json': JSON.stringify(declarations) } },
    undefined,
    () => 0,
  );
afterEach(() => declaredSites.use(null));

const page = (body: string, url: string, status = 200) => ({
  status,
  headers: {},
  body: Buffer.from(body),
  url,
  at: 0,
});

const readProduct = (path: string) =>
  product.read(
    { url: `${shop}${path}` },
    { region: 'example', fetch: direct(origin, 'example').fetch },
  );

async function readListing(region: string, url: string, fetch: FetchPage) {
  const entries: JsonObject[] = [];
  const pages = search.read({ url }, { region, fetch });
  for (;;) {
    const next = await pages.next();
    if (next.done) return { entries, summary: next.value as ListSummary };
    entries.push(...next.value.entries);
  }
}

describe('product', () => {
  it.each(['10001', '10002', '10003', '10004'])(
    'reads page %s from JSON-LD or microdata',
    async (id) => {
      const { name, offers, brand, sku } = fakeProduct(id);
      expect(await readProduct(`/p/${id}`)).toMatchObject({
        id: `p-${id}`,
        site: 'example',
        url: `${shop}/p/${id}`,
        title: name,
        brand: brand.name,
        sku,
        price: Number(offers.price),
        currency: 'EUR',
        condition: 'New',
        seller: 'Example Shop',
        available: offers.availability.endsWith('/InStock'),
      });
    },
  );

  it('requests the address as a store that a caller names', async () => {
    const asked = direct(origin, 'example');
    await product.read(
      { url: `${shop}/p/10001?a=1#top` },
      { region: 'example', fetch: asked.fetch },
    );
    expect(asked.requests).toMatchObject([{ origin: shop, path: '/p/10001?a=1' }]);
    const { redirects } = asked.requests[0] as { redirects: (target: URL) => boolean };
    const targets = [
      'https://www.shop.example/p/2',
      'https://evil.example/',
      'https://shop.example:8080/',
    ];
    expect(targets.map((target) => redirects(new URL(target)))).toEqual([true, false, false]);
  });

  it.each([
    ['10800', 'page_not_found'],
    ['10801', 'page_not_found'],
    ['10807', 'page_blocked'],
    ['10808', 'page_blocked'],
    ['10810', 'page_throttled'],
    ['10812', 'page_failed'],
    ['10814', 'page_unreadable'],
    ['10815', 'page_empty'],
  ])('rejects page %s with %s', async (id, code) => {
    await expect(readProduct(`/p/${id}`)).rejects.toMatchObject({ code });
  });

  it('leaves out texts that it cannot decode', () => {
    const cyrillic = Buffer.from([0xca, 0xf0, 0xf3, 0xe6, 0xea, 0xe0]);
    const [start, end] = ['<title>', '</title><h1>Mug</h1><p class="price">12,50 EUR</p>'];
    const extract = (title: Buffer, heading = end) => {
      const body = Buffer.concat([Buffer.from(start), title, Buffer.from(heading)]);
      const url = `${shop}/p/10001`;
      return product.extract({ ...page('', url), body }, { url }, 'example');
    };
    const button = '<button>Add to cart</button>';
    expect(extract(cyrillic, end + button)).toMatchObject({ title: 'Mug', price: 12.5 });
    const message = 'the page is not in the encoding that it declares';
    const untitled = '</title><p class="price">12,50 EUR</p>';
    expect(() => extract(cyrillic, untitled + button)).toThrow(message);
  });

  it('reports the fields for which a page contradicts itself', async () => {
    const fields: string[] = [];
    const data = JSON.stringify({ '@type': 'Product', name: 'Mug', offers: { price: 10.5 } });
    const body = `<title>Mug</title><h1>Mug</h1><div><p class="price">€ 12,50</p><button>Add to cart</button></div>
      <script type="application/ld+json">${data}</script>`;
    const record = await product.read(
      { url: `${shop}/p/1` },
      {
        region: 'example',
        fetch: async () => page(body, `${shop}/p/1`),
        reportContradictions: (names) => fields.push(...names),
      },
    );
    expect([record.price, fields]).toEqual([12.5, ['price']]);
  });

  it('is ready with a price, sold out, or without a product', async () => {
    let isReady: PageRequest['isReady'];
    const mug = (offers: string) =>
      page(
        `<h1>Mug</h1><script type="application/ld+json">{"@type": "Product", "name": "Mug"${offers}}</script>`,
        `${shop}/p/1`,
      );
    const fetch: FetchPage = async (request) => {
      isReady = request.isReady;
      return mug(', "offers": {"price": 9}');
    };
    await product.read({ url: `${shop}/p/1` }, { region: 'example', fetch });
    const responses = [
      mug(', "offers": {"price": 9}'),
      mug(', "offers": {"availability": "OutOfStock"}'),
      page('', `${shop}/p/1`, 404),
      mug(', "sku": "7"'),
      page('<title>Loading</title>', `${shop}/p/1`),
    ];
    expect(responses.map((response) => isReady!(response))).toEqual([
      true,
      true,
      true,
      false,
      false,
    ]);
  });

  it('rejects a page without what the declaration waits for', () => {
    declare({ kiln: { hosts: ['kiln.example'], fetch: 'browser', wait_for: '.price' } });
    const body =
      '<h1>Mug</h1><script type="application/ld+json">{"@type": "Product", "name": "Mug"}</script>';
    const response = page(body, 'https://kiln.example/p/1');
    expect(() => product.extract(response, { url: response.url }, 'kiln')).toThrow(
      'the page does not show .price, the "wait_for" of the site',
    );
  });

  it('rejects the first page of the shop, to which removed products lead', () => {
    const response = page('<title>Example Shop</title><h1>New arrivals</h1>', `${shop}/`);
    expect(() => product.extract(response, { url: `${shop}/p/1` }, 'example')).toThrow(
      /its first page/,
    );
  });

  it('rejects a page whose products are others', () => {
    const named = (name: string) => ({ '@type': 'Product', name, offers: { price: 5 } });
    const data = JSON.stringify([named('Bowl'), named('Jug')]);
    const response = page(
      `<h1>Mug</h1><script type="application/ld+json">${data}</script>`,
      `${shop}/p/1`,
    );
    expect(() => product.extract(response, { url: `${shop}/p/1` }, 'example')).toThrow(
      'the page states products, but none with its address or its name',
    );
  });

  it('rejects a "not found" page that shows another product', () => {
    const product_ = {
      '@context': 'https://schema.org',
      '@type': 'Product',
      name: 'Bol',
      offers: { price: 5 },
    };
    const data = `<script type="application/ld+json">${JSON.stringify(product_)}</script>`;
    const response = page(`<title>Page non trouvée | Bol</title>${data}`, `${shop}/p/1`);
    expect(() => product.extract(response, { url: `${shop}/p/1` }, 'example')).toThrow(
      expect.objectContaining({ code: 'page_not_found' }),
    );
  });

  const stated = (name: string, rest = '') =>
    `<title>${name}</title>${rest}<script type="application/ld+json">${JSON.stringify({ '@type': 'Product', name, offers: { price: 5 } })}</script>`;
  const codeOf = (html: string, url = `${shop}/p/mug`, requested = `${shop}/p/mug`) => {
    try {
      product.extract(page(html, url), { url: requested }, 'example');
    } catch (thrown) {
      return (thrown as { code: string }).code;
    }
    return 'none';
  };

  it.each([
    ['/p/bowl', 'page_mismatch'],
    ['/c/mugs', 'page_mismatch'],
    ['/search?q=mug', 'page_mismatch'],
    ['/', 'page_not_found'],
    ['/en/', 'page_not_found'],
    ['/en-us/p/mug', 'page_region'],
    ['/en/p/mug', 'none'],
    ['/p/mug?variant=7', 'none'],
  ])('classifies a product to which %s leads as %s', (path, code) =>
    expect(codeOf(stated('Bowl'), `${shop}${path}`)).toBe(code),
  );

  it('accepts a redirect from a number to a page that links to it', () => {
    const link = `<link rel="shortlink" href="${shop}/?p=7">`;
    expect(codeOf(stated('Bowl', link), `${shop}/bowl`, `${shop}/?p=7`)).toBe('none');
    expect(codeOf(stated('Bowl'), `${shop}/bowl`, `${shop}/?p=7`)).toBe('page_mismatch');
  });

  it('rejects a page that forwards to another one', () => {
    const refresh = (url: string) => `<meta http-equiv="refresh" content="0; url=${url}">`;
    expect(codeOf(stated('Mug', refresh('/p/bowl')))).toBe('page_failed');
    expect(codeOf(stated('Mug', refresh('/login')))).toBe('page_login');
    expect(codeOf(stated('Mug', refresh('/p/mug?a=1')))).toBe('none');
  });

  it.each([
    ['Access denied', 'page_blocked'],
    ['Choose your country', 'page_region'],
    ['Log in | Kiln', 'page_login'],
    ['Age verification', 'page_unreadable'],
    ['Before you continue', 'page_unreadable'],
    ['Service unavailable', 'page_failed'],
  ])('rejects %j, whose metadata describe the product', (title, code) => {
    const meta = `<meta property="og:title" content="Oat mug"><meta property="product:price:amount" content="5">`;
    expect(codeOf(`<title>${title}</title>${meta}<h1>${title}</h1>`)).toBe(code);
    expect(codeOf(`<title>Oat mug</title>${meta}<dialog><h1>${title}</h1></dialog>`)).toBe('none');
  });

  it('rejects a page that says that its product is gone, and states another one', () => {
    const gone = '<h1>Oops!</h1><p>This product is no longer available.</p>';
    const other = stated('Red bowl').replace('<title>Red bowl', '<title>Kiln');
    expect(codeOf(other + gone)).toBe('page_not_found');
    expect(codeOf(stated('Red bowl') + gone)).toBe('none');
  });

  it.each([
    ['{"error": "not found"}', 'page_not_found'],
    [JSON.stringify({ html: stated('Mug') }), 'page_unreadable'],
  ])('rejects JSON: %s', (body, code) => {
    const headers = { 'content-type': 'application/json' };
    const response = { ...page(body, `${shop}/p/mug`), headers };
    expect(() => product.extract(response, { url: `${shop}/p/mug` }, 'example')).toThrow(
      expect.objectContaining({ code }),
    );
  });

  it('rejects a part of a page, and two pages', () => {
    const whole = `<html><head>${stated('Mug')}</head><body><h1>Mug</h1></body></html>`;
    expect(codeOf(whole)).toBe('none');
    expect(codeOf(whole.slice(0, -20))).toBe('page_unreadable');
    expect(codeOf(whole + whole)).toBe('page_unreadable');
    expect(() =>
      product.extract(page(whole, `${shop}/p/mug`, 206), { url: `${shop}/p/mug` }, 'example'),
    ).toThrow(expect.objectContaining({ code: 'page_failed' }));
  });

  it('rejects a redirect to another host', () => {
    const response = page('<h1>Mug</h1>', 'https://other.example/p/1');
    expect(() => product.extract(response, { url: `${shop}/p/1` }, 'example')).toThrow(
      /other\.example/,
    );
  });

  it('rejects units of a site that is no longer declared, and of hosts that it no longer has', () => {
    const response = page('', `${shop}/p/1`);
    expect(() => product.extract(response, { url: `${shop}/p/1` }, 'gone')).toThrow(
      /site gone is not declared/,
    );
    const reading = product.read(
      { url: 'https://other.example/' },
      { region: 'example', fetch: async () => response },
    );
    return expect(reading).rejects.toMatchObject({
      code: 'invalid',
      message: expect.stringContaining('shop.example'),
    });
  });
});

describe('search', () => {
  it('reads every page of a structured list', async () => {
    const asked = direct(origin, 'example');
    const { entries, summary } = await readListing('example', `${shop}/c/mugs-1`, asked.fetch);
    expect(summary).toEqual({
      site: 'example',
      total_products: entries.length,
      pages_fetched: asked.requests.length,
      has_more: false,
    });
    expect(asked.requests.length).toBeGreaterThan(1);
    const { name, offers } = fakeProduct(listedId('mugs-1', 30));
    expect(entries[30]).toMatchObject({
      title: name,
      price: Number(offers.price),
      currency: 'EUR',
      url: `${shop}/p/${listedId('mugs-1', 30)}`,
    });
    expect(new Set(entries.map(({ id }) => id)).size).toBe(entries.length);
  });

  it('ends when a page repeats', async () => {
    const asked = direct(origin, 'example');
    expect((await readListing('example', `${shop}/c/mugs-704`, asked.fetch)).entries).toHaveLength(
      24,
    );
    expect(asked.requests).toHaveLength(2);
  });

  it.each([
    ['800', 'page_not_found'],
    ['807', 'page_blocked'],
    ['814', 'page_unreadable'],
  ])('rejects a listing ending in %s with %s', async (digits, code) => {
    const asked = direct(origin, 'example');
    await expect(
      readListing('example', `${shop}/c/mugs-${digits}`, asked.fetch),
    ).rejects.toMatchObject({
      code,
    });
  });

  const card = (at: number) =>
    `<li class="card"><a href="/p/${at}"><h3>Mug ${at}</h3></a><b class="price">€ ${at},50</b></li>`;
  const shown = (numbers: number[], after = '') => `<ul>${numbers.map(card).join('')}</ul>${after}`;

  const mugList = (at: number) =>
    `<script type="application/ld+json">${JSON.stringify({
      '@type': 'ItemList',
      itemListElement: [{ '@type': 'ListItem', name: `Mug ${at}`, url: `/p/${at}` }],
    })}</script>`;

  it.each([
    ['names', '<a class="next" href="#">›</a><a aria-label="Next page" href="/c?p=2">›</a>', 2],
    ['names, below its path', '<li class="next"><a href="/c/page/2">2</a></li>', 2],
    ['only names for slides', '<a class="next" href="#">›</a><a class="next" href="/p/9">›</a>', 1],
  ])('follows the next page that a listing %s', async (_name, links, pageCount) => {
    declare({ kiln: { hosts: ['kiln.example'] } });
    const fetch: FetchPage = async ({ path }) =>
      page(path === '/c' ? mugList(1) + links : mugList(2), `https://kiln.example${path}`);
    const { summary } = await readListing('kiln', 'https://kiln.example/c', fetch);
    expect(summary.pages_fetched).toBe(pageCount);
  });

  it('rejects a product page that lists other products', async () => {
    declare({ kiln: { hosts: ['kiln.example'] } });
    const mug = { '@type': 'Product', name: 'Mug', offers: { '@type': 'Offer', price: 9 } };
    const data = `<script type="application/ld+json">${JSON.stringify(mug)}</script>`;
    const body = `<h1>Mug</h1>${data}${mugList(2)}`;
    const fetch: FetchPage = async ({ path }) => page(body, `https://kiln.example${path}`);
    await expect(readListing('kiln', 'https://kiln.example/p/1', fetch)).rejects.toMatchObject({
      code: 'page_unreadable',
    });
  });

  it('reads declared elements and follows a declared link within the hosts', async () => {
    declare({
      kiln: {
        hosts: ['kiln.example'],
        listing: { items: '.card', fields: { title: 'h3', price: '.price' }, next: 'a.more' },
      },
    });
    const bodies: Record<string, string> = {
      '/c': shown([1, 2], '<a class="more" href="/c?after=2">More</a>'),
      '/c?after=2': shown([2, 3], '<a class="more" href="https://ads.example/">More</a>'),
    };
    const fetch: FetchPage = async ({ path }) => page(bodies[path]!, `https://kiln.example${path}`);
    const { entries, summary } = await readListing('kiln', 'https://kiln.example/c', fetch);
    expect(entries.map(({ title, price, currency, url }) => [title, price, currency, url])).toEqual(
      [
        ['Mug 1', 1.5, 'EUR', 'https://kiln.example/p/1'],
        ['Mug 2', 2.5, 'EUR', 'https://kiln.example/p/2'],
        ['Mug 3', 3.5, 'EUR', 'https://kiln.example/p/3'],
      ],
    );
    expect(summary).toEqual({ site: 'kiln', total_products: 3, pages_fetched: 2, has_more: false });
  });

  it('counts pages by a declared parameter, up to the declared maximum', async () => {
    const fields = { title: 'h3' };
    const listing = { items: '.card', fields, page_parameter: 'p', first_page: 0, max_pages: 3 };
    declare({ kiln: { hosts: ['kiln.example'], listing } });
    const paths: string[] = [];
    const fetch: FetchPage = async ({ path }) => {
      paths.push(path);
      return page(shown([paths.length]), `https://kiln.example${path}`);
    };
    const { summary } = await readListing('kiln', 'https://kiln.example/c?sort=new', fetch);
    expect(summary).toMatchObject({ pages_fetched: 3, has_more: true });
    expect(paths).toEqual(['/c?sort=new', '/c?sort=new&p=1', '/c?sort=new&p=2']);
  });
});

describe('the pages after the first of a listing', () => {
  const card = (at: number) => `<li class="card"><a href="/p/${at}"><h3>Mug ${at}</h3></a></li>`;
  const listing = { items: '.card', fields: { title: 'h3' } };
  const next = '<a rel="next" href="/c?page=2">More</a>';

  /** Reads a listing of one page with a product, followed by a page or by a redirect to it. */
  const readTwo = (rest: object, second: string, { status = 200, path = '/c?page=2' } = {}) => {
    declare({ kiln: { hosts: ['kiln.example'], listing: { ...listing, ...rest } } });
    const fetch: FetchPage = async (request) =>
      request.path === '/c'
        ? page(`<h1>Mugs</h1>${card(1)}${next}`, 'https://kiln.example/c')
        : page(second, `https://kiln.example${path}`, status);
    return readListing('kiln', 'https://kiln.example/c', fetch);
  };
  const counted = { page_parameter: 'page' };

  it.each([
    ['<title>Just a moment...</title>', 'page_blocked'],
    ['<title>Log in</title><input type="password">', 'page_login'],
    ['<title>Shop</title><div id="root"></div><script src="/a.js"></script>', 'page_empty'],
    ['<title>Choose your country</title>', 'page_region'],
    ['<title>We will be back soon</title>', 'page_failed'],
    ['', 'page_empty'],
  ])('reject %j with %s', async (second, code) => {
    for (const rest of [{}, counted])
      await expect(readTwo(rest, second)).rejects.toMatchObject({ code });
  });

  it.each([
    ['an empty one', '<title>Mugs</title><p>Nothing here', {}],
    ['a "not found" page with products', `<h1>Page not found</h1>${card(2)}`, {}],
    ['the first page of the shop', card(2), { path: '/' }],
    ['another category', card(2), { path: '/c/bowls' }],
    ['status 404', card(2), { status: 404 }],
  ])('end it with %s', async (_, second, response) => {
    const { entries, summary } = await readTwo(counted, second, response);
    expect([entries.length, summary.has_more]).toEqual([1, false]);
  });

  it.each([
    ['a "not found" page with products', `<h1>Page not found</h1>${card(2)}`, {}, 'page_not_found'],
    ['the first page of the shop', card(2), { path: '/' }, 'page_not_found'],
    ['another category', card(2), { path: '/c/bowls' }, 'page_mismatch'],
    ['status 404', card(2), { status: 404 }, 'page_not_found'],
  ])('reject %s to which the site linked', async (_, second, response, code) => {
    await expect(readTwo({}, second, response)).rejects.toMatchObject({ code });
  });

  it.each([
    ['links to no other', '', false],
    ['links to a further one', next.replace('2', '3'), true],
  ])('end it with a page without new entries that %s', async (_, link, hasMore) => {
    for (const entries of ['', card(1)]) {
      const read = await readTwo({}, `<title>Mugs</title><p>All mugs</p>${entries}${link}`);
      expect([read.entries.length, read.summary.has_more]).toEqual([1, hasMore]);
    }
  });

  it('are a fault at the address of a login', async () => {
    await expect(readTwo(counted, card(2), { path: '/login' })).rejects.toMatchObject({
      code: 'page_login',
    });
  });
});

describe('the first page of a listing', () => {
  const read = (body: string, url = 'https://kiln.example/c') => {
    const listing = { items: '.card', fields: { title: 'h3' } };
    declare({ kiln: { hosts: ['kiln.example'], listing } });
    return readListing('kiln', 'https://kiln.example/c', async () => page(body, url));
  };
  const card = '<li class="card"><a href="/p/1"><h3>Mug</h3></a></li>';

  it.each(['No results for "xyz"', '0 products found', 'Keine Treffer', 'Aucun résultat'])(
    'is an empty list under %j, whatever it suggests',
    async (heading) => {
      expect((await read(`<h1>${heading}</h1>${card}`)).entries).toEqual([]);
      expect((await read(`<h1>Mugs</h1><h2>${heading}</h2>${card}`)).entries).toHaveLength(1);
    },
  );

  it('is a fault at another address', async () => {
    await expect(read(card, 'https://kiln.example/c/bowls')).rejects.toMatchObject({
      code: 'page_mismatch',
    });
    await expect(read(card, 'https://kiln.example/')).rejects.toMatchObject({
      code: 'page_not_found',
    });
  });
});

it.each([
  ['an address only', '.card', {}],
  ['blank values', '.card', { title: 'h4', price: '.old' }],
])('rejects a list whose entries have %s', async (_, items, fields) => {
  declare({ kiln: { hosts: ['kiln.example'], listing: { items, fields } } });
  const cards = '<li class="card"><a href="/p/1"><h3>Mug</h3></a></li>';
  const fetch: FetchPage = async ({ path }) => page(cards, `https://kiln.example${path}`);
  await expect(readListing('kiln', 'https://kiln.example/c', fetch)).rejects.toMatchObject({
    code: 'page_unreadable',
    message: expect.stringContaining('declare their selectors'),
  });
});

describe('the market', () => {
  it('has the declared sites as regions, with their limits', () => {
    declare({ kiln: { hosts: ['kiln.example'], requests_per_second: 3 } });
    expect(sites.regions).toEqual(['example', 'kiln']);
    expect(sites.regionPolicy!('kiln')).toEqual({ requestsPerSecond: 3 });
    expect(sites.parseUrl!('product', 'https://www.kiln.example/p/1')).toMatchObject({
      region: 'kiln',
    });
  });

  it.each(['kiln', 'file:///etc/passwd', 'https://a:b@shop.example/', 'https://unknown.example/'])(
    'refuses the address %s',
    (url) => expect(() => sites.parseUrl!('product', url)).toThrow(),
  );

  it('refuses an address of another site', () => {
    declare({ kiln: 'kiln.example' });
    expect(sites.problemOf!({ url: `${shop}/p/1` }, 'kiln')).toEqual({
      name: 'url',
      msg: "'shop.example' is not one of the hosts kiln.example",
    });
    expect(sites.problemOf!({ url: `${shop}/p/1` }, 'example')).toBeNull();
  });
});
