import { describe, expect, it } from 'vitest';
import { direct } from '../../../sandbox/in-process-origin.ts';
import {
  listed,
  mktf as origin,
  sizeOfCollection,
  storeSize,
} from '../../../sandbox/mktf/index.ts';
import type { Json, JsonObject } from '../../base/json.ts';
import type { FetchPage, PageResponse } from '../../fetch/page.ts';
import type { ListSummary } from '../market.ts';
import { search } from './search.ts';

const store = 'https://store.example';

function createResponse(value: Json, url = `${store}/products.json`): PageResponse {
  return { status: 200, headers: {}, body: Buffer.from(JSON.stringify(value)), url, at: 0 };
}

function extract(value: Json, path = '/collections/all'): JsonObject[] {
  return search.extract(createResponse(value), { url: `${store}${path}` }, '');
}

function codeOf(value: Json): string {
  try {
    extract(value);
  } catch (thrown) {
    return (thrown as { code: string }).code;
  }
  return 'none';
}

async function readWith(fetch: FetchPage, path: string) {
  const entries: JsonObject[] = [];
  const pages = search.read({ url: `${store}${path}` }, { region: '', fetch });
  for (;;) {
    const next = await pages.next();
    if (next.done) return { entries, summary: next.value as ListSummary };
    expect(next.value.list).toBe('products');
    entries.push(...next.value.entries);
  }
}

async function read(path: string) {
  const asked = direct(origin, '');
  return { ...(await readWith(asked.fetch, path)), requests: asked.requests };
}

describe('extract()', () => {
  it('returns products unchanged without duplicates', () => {
    const mug = { id: 1, title: 'Mug', tags: [], variants: [{ price: '9.00' }], body_html: null };
    expect(extract({ products: [mug, { id: 2 }, mug] })).toEqual([mug, { id: 2 }]);
  });

  it('is empty for an empty catalogue', () => {
    expect(extract({ products: [] })).toEqual([]);
  });

  it('keeps products with every word of a search in title, vendor, type or tags', () => {
    const products = [
      { id: 1, title: 'Red MUG', vendor: 'Kiln', product_type: 'Home', tags: ['gift'] },
      { id: 2, title: 'Cup', vendor: 'Redwood', product_type: 'mug', tags: [] },
      { id: 3, title: 'Red cap', vendor: null, tags: 'mug, sale' },
      { id: 4, title: 'Red cap', body_html: 'not a mug' },
      { id: 5, title: null, tags: [3, null] },
    ];
    expect(extract({ products }, '/search?q=mug+red').map(({ id }) => id)).toEqual([1, 2, 3]);
  });

  it.each([
    [{ errors: 'Not Found' }, 'page_not_found'],
    [{ errors: 'some other trouble' }, 'page_unreadable'],
    [{ product: {} }, 'page_unreadable'],
    [{ products: {} }, 'page_unreadable'],
    [{ products: ['x'] }, 'page_unreadable'],
    [[], 'page_unreadable'],
    [null, 'page_unreadable'],
  ] as [Json, string][])('rejects %j with %s', (value, code) => expect(codeOf(value)).toBe(code));

  it('throws invalid for an invalid address', () => {
    expect(() => search.extract(createResponse({ products: [] }), { url: 5 }, '')).toThrow(
      /url: not an http or https address/,
    );
  });
});

describe('read()', () => {
  it.each(['mugs-100', 'mugs-701', 'mugs-702', 'mugs-705', 'mugs-709', 'all'])(
    'collects every product of the collection %s once, unchanged',
    async (handle) => {
      const { entries, summary, requests } = await read(`/collections/${handle}`);
      const size = sizeOfCollection(handle);
      expect(entries).toEqual(Array.from({ length: size }, (_, at) => listed(handle, at)));
      expect(summary).toEqual({
        store: 'store.example',
        collection: handle,
        total_products: size,
        pages_fetched: requests.filter(({ path }) => path.includes('/products.json')).length,
        has_more: false,
      });
    },
  );

  it('has more if a page is empty before the number of products that the collection states', async () => {
    const asked = direct(origin, '');
    const fetch: FetchPage = async (request) =>
      request.path.endsWith('&page=2')
        ? createResponse({ products: [] }, `${store}/collections/mugs-100/products.json`)
        : asked.fetch(request);
    const { entries, summary } = await readWith(fetch, '/collections/mugs-100');
    expect(sizeOfCollection('mugs-100')).toBeGreaterThan(250);
    expect(entries).toHaveLength(250);
    expect(summary).toMatchObject({ total_products: 250, pages_fetched: 2, has_more: true });
  });

  it('requests the addressed store, 250 products per page', async () => {
    const { requests } = await read('/collections/mugs-100?page=7');
    expect(requests[0]).toMatchObject({
      origin: store,
      redirects: 'anywhere',
      path: '/collections/mugs-100/products.json?limit=250&page=1',
    });
  });

  it('reads a whole store and requests no page after a short one', async () => {
    const { entries, summary, requests } = await read('/');
    expect(entries).toHaveLength(storeSize);
    expect(summary).toMatchObject({
      collection: null,
      total_products: storeSize,
      pages_fetched: 3,
    });
    expect(requests).toHaveLength(3);
  });

  it("keeps a language's prefix", async () => {
    const { entries, requests } = await read('/fr/collections/mugs-701');
    expect(requests[0]!.path).toMatch(/^\/fr\/collections\/mugs-701\/products\.json/);
    expect(entries[0]!.title).toMatch(/\(fr\)$/);
  });

  it('searches the whole store', async () => {
    const { entries, summary } = await read('/search?q=wool+hand+made');
    const all = Array.from({ length: storeSize }, (_, at) => listed(null, at));
    const expected = all.filter(
      ({ title, tags }) =>
        String(title).startsWith('Wool') && (tags as string[]).includes('Hand Made'),
    );
    expect(expected.length).toBeGreaterThan(0);
    expect(entries).toEqual(expected);
    expect(summary).toMatchObject({
      collection: null,
      total_products: expected.length,
      pages_fetched: 3,
    });
  });

  it('ends when a page repeats', async () => {
    const { entries, requests } = await read('/collections/mugs-704');
    expect(entries).toHaveLength(250);
    expect(requests).toHaveLength(2);
  });

  it('ends at the platform’s maximum offset', async () => {
    const { entries, requests, summary } = await read('/collections/mugs-703');
    expect(entries).toHaveLength(25_000);
    expect(requests).toHaveLength(101);
    expect(summary).toMatchObject({ total_products: 25_000, pages_fetched: 101, has_more: true });
  });

  it('returns an empty list for an empty collection, and a fault for one that only claims to be', async () => {
    expect((await read('/collections/mugs-700')).entries).toEqual([]);
    await expect(read('/collections/mugs-711')).rejects.toMatchObject({
      code: 'page_unreadable',
      message: expect.stringMatching(/none of the \d+ products/),
    });
  });

  it('reads the whole store if its collection "all" is empty', async () => {
    const asked = direct(origin, '');
    const { entries, summary } = await readWith(async (request) => {
      const page = await asked.fetch(request);
      if (!request.path.startsWith('/collections/all/')) return page;
      return { ...page, body: Buffer.from('{"products":[]}') };
    }, '/collections/all');
    expect(entries).toHaveLength(storeSize);
    expect(summary).toMatchObject({
      collection: 'all',
      total_products: storeSize,
      pages_fetched: 4,
    });
  });

  it('rejects another collection’s catalogue after a redirect', async () => {
    const asked = direct(origin, '');
    const led = (path: string) => async (request: Parameters<FetchPage>[0]) => ({
      ...(await asked.fetch(request)),
      url: `https://www.store.example${path}`,
    });
    await expect(
      readWith(led('/collections/cups/products.json'), '/collections/mugs-100'),
    ).rejects.toMatchObject({
      code: 'page_mismatch',
    });
    await expect(readWith(led('/products.json'), '/collections/mugs-100')).rejects.toMatchObject({
      code: 'page_mismatch',
    });
    const same = await readWith(
      led('/en/collections/mugs-701/products.json'),
      '/collections/mugs-701',
    );
    expect(same.entries).toHaveLength(1);
  });

  it.each([
    ['https://kiln9.co.uk/products.json', 'https://kiln9.com/'],
    ['https://eu.kiln9.com/products.json', 'https://us.kiln9.com/'],
    ['https://kiln9.com/en-gb/products.json', 'https://kiln9.com/'],
    [
      'https://kiln9.com/en-gb/collections/a/products.json',
      'https://kiln9.com/en-us/collections/a',
    ],
  ])('rejects %s, the shop of another country than %s', async (url, asked) => {
    const fetch: FetchPage = async () => createResponse({ products: [] }, url);
    const pages = search.read({ url: asked }, { region: '', fetch });
    await expect(pages.next()).rejects.toMatchObject({ code: 'page_region' });
  });

  it('reports a store that redirects to its password page as closed', async () => {
    const fetch: FetchPage = async () => ({
      ...createResponse(''),
      body: Buffer.from('<title>Opening soon</title>'),
      url: `${store}/password`,
    });
    await expect(readWith(fetch, '/')).rejects.toMatchObject({
      code: 'page_private',
      message: expect.stringMatching(/password/),
    });
  });

  it.each([
    [800, 'page_not_found'],
    [801, 'page_not_found'],
    [802, 'page_blocked'],
    [803, 'page_unreadable'],
    [805, 'page_private'],
    [806, 'page_private'],
    [807, 'page_blocked'],
    [808, 'page_blocked'],
    [809, 'page_blocked'],
    [810, 'page_throttled'],
    [811, 'page_throttled'],
    [812, 'page_failed'],
    [813, 'page_unreadable'],
    [814, 'page_unreadable'],
    [815, 'page_empty'],
    [816, 'page_unreadable'],
    [817, 'page_unreadable'],
    [820, 'page_blocked'],
  ])(
    'rejects a collection ending in %d with %s, never returns a short list',
    async (digits, code) => {
      await expect(read(`/collections/mugs-${digits}`)).rejects.toMatchObject({ code });
    },
  );
});
