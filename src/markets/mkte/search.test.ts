import { describe, expect, it } from 'vitest';
import { direct } from '../../../sandbox/in-process-origin.ts';
import { mkte as origin } from '../../../sandbox/mkte/index.ts';
import { fakeProduct } from '../../../sandbox/mkte/products.ts';
import { countPages, fakeSearchResults } from '../../../sandbox/mkte/search-page.ts';
import { money, stores } from '../../../sandbox/mkte/stores.ts';
import type { JsonObject } from '../../base/json.ts';
import { regions } from './regions.ts';
import { search, searchRequest } from './search.ts';

async function readAll(input: JsonObject, region = 'us') {
  const asked = direct(origin, region);
  const pages: JsonObject[][] = [];
  const reading = search.read({ list_type: 'search', ...input }, { region, fetch: asked.fetch });
  for (;;) {
    const step = await reading.next();
    if (step.done)
      return { pages, entries: pages.flat(), summary: step.value, requests: asked.requests };
    expect(step.value.list).toBe('products');
    pages.push(step.value.entries);
  }
}

function extract(results: string): JsonObject[] {
  const body = Buffer.from(`<html><body><div class="s-main-slot">${results}</div></body></html>`);
  return search.extract(
    { status: 200, headers: {}, body, url: 'http://site.test/s', at: 0 },
    {},
    'us',
  );
}

const result = (inner: string) =>
  `<div data-component-type="s-search-result" data-asin="B0TEST0001" class="s-result-item">${inner}</div>`;

describe('a page of another search', () => {
  const priced = '<h2><a href="/dp/B0TEST0001">Lamp</a></h2><span class="a-price">$5.00</span>';
  const page = (message: string) =>
    `<html><body><div class="s-main-slot"><div cel_widget_id="MAIN-TOP_BANNER_MESSAGE-1">${message}</div>
     ${result(priced)}</div><script>{"totalResultCount":300}</script></body></html>`;
  const readPage = async (url: string, input: JsonObject, message = '') => {
    const body = Buffer.from(page(message));
    const address = `https://www.amazon.com${url}`;
    const fetch = async () => ({ status: 200, headers: {}, body, url: address, at: 0 });
    const entries: JsonObject[] = [];
    const reading = search.read(input, { region: 'us', fetch });
    for (;;) {
      const step = await reading.next();
      if (step.done) return { entries, summary: step.value };
      entries.push(...step.value.entries);
    }
  };
  const lamp = { list_type: 'search', keyword: 'desk lamp' };
  const category = { list_type: 'category', keyword: '1101', category: '1101' };

  it.each([
    ['/s?k=desk+lamp&page=1', lamp],
    ['/s?k=desk+lamp&rh=n%3A1101&page=1', lamp],
    ['/s?rh=n%3A1101&page=1', category],
    ['/Lamps/b?node=1101', category],
  ])('is not %s', async (url, input) =>
    expect((await readPage(url, input)).entries).toHaveLength(1),
  );

  it.each([
    ['/s?k=lamp', lamp],
    ['/b?node=1101', lamp],
    ['/', lamp],
    ['/s?rh=n%3A1102', category],
    ['/', category],
  ])('is %s', async (url, input) => {
    await expect(readPage(url, input)).rejects.toMatchObject({ code: 'page_mismatch' });
  });

  const url = '/s?k=desk+lamp';

  it.each([
    'No results for desk lamp. Showing results for lamp.',
    'Keine Ergebnisse für desk lamp',
    'Aucun résultat pour desk lamp',
    'No hay resultados para desk lamp',
    'Nessun risultato per desk lamp',
  ])('has no results if it says %j', async (message) => {
    expect(await readPage(url, lamp, message)).toEqual({
      entries: [],
      summary: expect.objectContaining({ total_products: 0, has_more: false }),
    });
  });

  it('is a mismatch if the store corrected the keyword', async () => {
    const message = 'Showing results for lamp. Search instead for desk lamp';
    await expect(readPage(url, lamp, message)).rejects.toMatchObject({ code: 'page_mismatch' });
    expect((await readPage(url, lamp, 'Results')).entries).toHaveLength(1);
  });
});

describe('entries', () => {
  it.each(Object.keys(regions))('have the listed fields as text in region %s', async (region) => {
    const keyword = 'lamp 100';
    const { pages } = await readAll({ keyword, pages: 1 }, region);
    const store = stores[region]!;
    const made = fakeSearchResults(keyword, 1).map(({ asin, ad }) => ({
      ...fakeProduct(region, asin),
      ad,
    }));
    expect(pages).toHaveLength(1);
    expect(pages[0]).toEqual(
      made.map((product) => ({
        asin: product.asin,
        title: product.title,
        price: money(store, product.price).replace(/\s/g, ' '),
        original_price:
          product.before === null ? null : money(store, product.before).replace(/\s/g, ' '),
        currency: store.currency,
        rating: product.rating.toFixed(1),
        review_count: String(product.ratings),
        thumbnail: `https://m.example-cdn.test/images/I/${product.images[0]}._AC_UL320_.jpg`,
        url: `/A-Slug-%C3%A9/dp/${product.asin}/ref=sr_1_1?qid=1&sr=8-1`,
        is_prime: expect.any(Boolean),
        is_sponsored: product.ad,
        brand: null,
      })),
    );
    expect(new Set(pages[0]!.map(({ is_prime }) => is_prime)).size).toBe(2);
  });

  it.each([
    '<span class="a-color-secondary">Sponsored</span>',
    '<span class="puis-label-popover-default"><span class="a-color-secondary">Gesponsert</span></span>',
    '<div class="s-label-popover-hover">スポンサー</div>',
    '<h2 aria-label="Anuncio patrocinado - Lámpara"><a href="/dp/B0TEST0001">Lámpara</a></h2>',
  ])('are sponsored by their label: %s', (label) => {
    const priced = '<span class="a-price">$5.00</span>';
    expect(extract(result(label + priced))[0]).toMatchObject({ is_sponsored: true });
    const other = label.replace(/Sponsored|Gesponsert|スポンサー|Anuncio patrocinado - /, 'Wool ');
    expect(extract(result(other + priced))[0]).toMatchObject({ is_sponsored: false });
  });

  it.each([
    ['src="https://cdn.test/a.jpg"', 'https://cdn.test/a.jpg'],
    ['src="//cdn.test/a.jpg"', 'https://cdn.test/a.jpg'],
    ['src="data:image/gif;base64,R0" data-src="https://cdn.test/a.jpg"', 'https://cdn.test/a.jpg'],
    [
      'src="data:image/gif;base64,R0" srcset="https://cdn.test/a.jpg 1x, https://cdn.test/b.jpg 2x"',
      'https://cdn.test/a.jpg',
    ],
    ['src="data:image/gif;base64,R0"', null],
  ])('have the address of the image with %s', (attributes, thumbnail) => {
    const image = `<img class="s-image" ${attributes}>`;
    expect(extract(result(`${image}<h2>Lamp</h2>`))[0]).toMatchObject({ thumbnail });
  });

  it('separate title and brand if both are headings', async () => {
    const { entries } = await readAll({ keyword: 'shirt 704', pages: 1 });
    const { title, brand } = fakeProduct('us', String(entries[2]!.asin));
    expect(entries[2]).toMatchObject({ title, brand });
  });

  it('have null without a price or rating, never another seller’s price', async () => {
    const { entries } = await readAll({ keyword: 'bare 705', pages: 1 });
    for (const entry of entries) {
      expect(entry).toMatchObject({
        price: null,
        original_price: null,
        currency: null,
        rating: null,
        review_count: null,
      });
    }
  });

  it('have the price of their own format, not of a trial or another format', async () => {
    const { entries } = await readAll({ keyword: 'audio 708' });
    for (const { asin, price, original_price } of entries) {
      const made = fakeProduct('us', String(asin));
      expect([price, original_price]).toEqual([money(stores.us!, made.price), null]);
    }
  });

  it('are read from the layout of 2017', async () => {
    const { entries, pages } = await readAll({ keyword: 'lamp 706' });
    expect(pages).toHaveLength(countPages('lamp 706'));
    const { title, ratings, price } = fakeProduct('us', String(entries[0]!.asin));
    expect(entries[0]).toMatchObject({
      title,
      price: money(stores.us!, price),
      review_count: String(ratings),
      url: `/A-Slug/dp/${entries[0]!.asin}/ref=sr_1_1`,
      is_prime: true,
      is_sponsored: false,
    });
  });

  it('have an abbreviated count only if no label is exact', () => {
    const stars = (rest: string) =>
      result(
        `<h2><a href="/x/dp/B0TEST0001">T</a></h2><div class="a-row"><span class="a-icon-alt">4.5 out of 5 stars</span>${rest}</div>`,
      );
    expect(extract(stars('<a href="#customerReviews">(84.7K)</a>'))[0]!.review_count).toBe('84.7K');
    expect(
      extract(stars('<span aria-label="84,753"><a href="#customerReviews">(84.7K)</a></span>'))[0]!
        .review_count,
    ).toBe('84753');
    expect(
      extract(stars('<a aria-label="13 sizes and 4 colours">more</a>'))[0]!.review_count,
    ).toBeNull();
  });

  it.each([
    ['<span aria-label="4 sizes"></span><a href="#customerReviews">(123)</a>', '123'],
    ['<span aria-label="50 bought in past month"></span>', null],
    ['<a href="#customerReviews">4.3</a><a href="#customerReviews">(12)</a>', '12'],
    ['<a href="#customerReviews">(12,34,567)</a>', null],
  ])('have the count of %s', (more, count) => {
    const row = `<div class="a-row"><i><b class="a-icon-alt">4.3 out of 5 stars</b></i>${more}</div>`;
    expect(extract(result(`<h2>T</h2>${row}`))[0]!.review_count).toBe(count);
  });

  it('use the accessible title if the visible one is truncated', () => {
    const [entry] = extract(
      result(
        '<a href="/x/dp/B0TEST0001"><h2 aria-label="Sponsored Ad – Lamp with a long name"><span>Lamp with...</span></h2></a>',
      ),
    );
    expect(entry).toMatchObject({ title: 'Lamp with a long name', url: '/x/dp/B0TEST0001' });
  });

  it('have a path even if a link is broken or missing', () => {
    expect(extract(result('<h2>T</h2>'))[0]!.url).toBe('/dp/B0TEST0001');
    expect(extract(result('<h2><a href="/sspa/click?url=%E0%A4%A">T</a></h2>'))[0]!.url).toMatch(
      /^\//,
    );
  });
});

it('leaves out cards without title and price, unless all cards lack them', () => {
  const placeholder = '<div data-component-type="s-search-result" data-asin="B0TEST0002"></div>';
  const asins = (cards: string) => extract(cards).map(({ asin }) => asin);
  expect(asins(placeholder + result('<h2>Lamp</h2>'))).toEqual(['B0TEST0001']);
  expect(() => asins(placeholder)).toThrow(expect.objectContaining({ code: 'page_unreadable' }));
});

describe('paging', () => {
  it('reads all pages in order without duplicates', async () => {
    const { pages, summary, requests, entries } = await readAll({ keyword: 'many 702', pages: 0 });
    expect(pages).toHaveLength(12);
    expect(requests.map(({ path }) => path)).toEqual(
      Array.from({ length: 12 }, (_, at) => `/s?k=many+702&page=${at + 1}`),
    );
    expect(summary).toEqual({
      total_products: entries.length,
      scraped_pages: 12,
      total_result_count: 192,
      has_more: false,
    });
    const names = entries.map(({ asin, is_sponsored }) => `${asin} ${is_sponsored}`);
    expect(new Set(names).size).toBe(names.length);
  });

  it('ends at the requested number of pages', async () => {
    const { summary, requests } = await readAll({ keyword: 'many 702', pages: 3 });
    expect(requests).toHaveLength(3);
    expect(summary).toMatchObject({ scraped_pages: 3, has_more: true });
  });

  it('ends after a single page', async () => {
    expect((await readAll({ keyword: 'one 701' })).requests).toHaveLength(1);
  });

  it('ends when results repeat, despite a next link and new advertisements', async () => {
    const { requests, entries, summary } = await readAll({ keyword: 'again 703' });
    expect(requests).toHaveLength(2);
    // The site states a million results.
    expect(summary.has_more).toBe(true);
    expect(entries.filter(({ is_sponsored }) => is_sponsored === false)).toHaveLength(16);
  });

  it('ends when another page than the requested one is returned', async () => {
    const { requests, summary } = await readAll({ keyword: 'first 707' });
    expect(requests).toHaveLength(3);
    expect(summary.scraped_pages).toBe(2);
  });

  it('returns an empty list for a search without results', async () => {
    const { entries, summary } = await readAll({ keyword: 'nothing 700' });
    expect(entries).toEqual([]);
    expect(summary).toEqual({
      total_products: 0,
      scraped_pages: 1,
      total_result_count: 0,
      has_more: false,
    });
  });

  it('requests a category by its node, with or without a keyword', () => {
    const path = (input: JsonObject) =>
      searchRequest({ list_type: 'category', ...input }, 'us', 2).path;
    expect(path({ keyword: '172282' })).toBe('/s?rh=n%3A172282&page=2');
    expect(path({ keyword: 'x', category: '493964' })).toBe('/s?rh=n%3A493964&page=2');
  });
});

describe('a refusal', () => {
  it.each([
    ['800', 'page_not_found'],
    ['807', 'page_blocked'],
    ['809', 'page_blocked'],
    ['811', 'page_throttled'],
    ['812', 'page_failed'],
    ['813', 'page_unreadable'],
    ['814', 'page_empty'],
    ['816', 'page_throttled'],
  ])('%s is %s and never an empty list', async (ending, code) => {
    await expect(readAll({ keyword: `lamp ${ending}` })).rejects.toMatchObject({
      name: 'Fault',
      code,
    });
  });

  it('fails the whole listing if it affects a later page', async () => {
    await expect(readAll({ keyword: 'lamp 820' })).rejects.toMatchObject({ code: 'page_blocked' });
  });

  it('is not a product page', () => {
    expect(() => extract('')).not.toThrow();
    const body = Buffer.from('<html><body><span id="productTitle">T</span></body></html>');
    const response = { status: 200, headers: {}, body, url: 'http://site.test/s', at: 0 };
    expect(() => search.extract(response, {}, 'us')).toThrow(/instead of the search page/);
  });
});
