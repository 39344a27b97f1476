import { beforeAll, describe, expect, it } from 'vitest';
import { type Random, random } from '../../sandbox/random.ts';
import type { MarketPage } from '../../test/support/pages/market-pages.ts';
import { changeHtml, changeJson } from '../../test/support/pages/page-mutations.ts';
import {
  createPageCheck,
  fetchMarketPage,
  jsonPages,
  originOf,
  readerOf,
  splitPage,
} from '../../test/support/pages/unexpected-pages.ts';
import { formatSeedCommand, seedsOf } from '../../test/support/run/seeds.ts';
import type { Json } from '../base/json.ts';
import type { FetchPage, PageResponse } from '../fetch/page.ts';
import { declaredSites } from './declared-sites/declared-sites.ts';

/** Changed copies of each page, and readings of each listing, per seed. */
const copiesPerSeed = 30;
const readingsPerSeed = 2;

/**
 * Maximum requests of a listing whose pages are changed. The unchanged ones need fewer than 100.
 */
const maxRequests = 1_000;

/** A shop whose fields are declared by selectors and by paths of embedded JSON. */
const kiln = {
  hosts: ['kiln.example'],
  fields: {
    title: 'h1',
    brand: { json: 'product.brand', script: 'state' },
    price: ['.price', { json: 'product.price', script: 'state' }],
    list_price: '.was',
    availability: '.stock',
    rating: { css: '.stars', attribute: 'data-rating' },
    review_count: '.reviews',
    images: { css: 'img', attribute: 'src' },
    colors: { json: 'product.colors', script: 'state', type: 'list' },
    details: { json: 'product', script: 'state', type: 'json' },
  },
  listing: { items: '.card', fields: { title: 'h3', price: '.price' }, next: 'a.more' },
} as const;

const state = {
  product: { brand: 'Kiln', price: '1,299.50', colors: ['red', 'blue'], weights: [{ kg: 2 }] },
};

const kilnProduct = `<!doctype html><html><head><title>Mug</title></head><body><h1>Mug <i>large</i></h1>
<span class="price" data-now="12">€ 1.299,50</span> <s class="was">€ 1.500,00</s><p class="stock">In stock</p>
<div class="stars" data-rating="4.5">4.5 of 5</div><a class="reviews" href="#r">1,204 reviews</a>
<img src="/a.jpg"><img src="//cdn.kiln.example/b.jpg"><script id="state" type="application/json">${JSON.stringify(state)}</script>
<script>window.other = {"product": [1, 2]};</script></body></html>`;

const card = (id: number) =>
  `<div class="card"><a href="/p/${id}"><h3>Mug ${id}</h3></a><b class="price">${id}.50 EUR</b></div>`;

const kilnListing = `<!doctype html><html><head><title>Mugs</title></head><body><main>${[1, 2, 3, 4].map(card).join('\n')}</main>
<a class="more" href="/c/mugs?after=4">More</a></body></html>`;

/** Responds as the shop does. */
const fetchKiln: FetchPage = async ({ path }) => ({
  status: 200,
  headers: { 'content-type': 'text/html' },
  body: Buffer.from(path.startsWith('/p/') ? kilnProduct : kilnListing),
  url: `https://kiln.example${path}`,
  at: Date.UTC(2030, 0, 1),
});

const asins = ['700', '701', '702', '703', '704', '705', '706', '707', '709', '710', '713', '714'];
const htmlPages: MarketPage[] = [
  ...asins.map((digits): MarketPage => ['mkte', 'us', 'product', { asin: `B0GLN01${digits}` }]),
  ['mkte', 'jp', 'product', { asin: 'B0GLN01700' }],
  ['mkte', 'de', 'product', { asin: 'B0GLN01705' }],
  ...['701', '704', '705', '706'].map((digits): MarketPage => {
    return ['mkte', 'de', 'search', { list_type: 'search', keyword: `lamp ${digits}` }];
  }),
  ['mktd', 'my', 'product', { product_id: '1729000000000000700', country: 'my' }],
  ['mktd', 'id', 'product', { product_id: '1729000000000000702', country: 'id' }],
  ['sites', 'example', 'product', { url: 'https://shop.example/p/10001' }],
  ['sites', 'example', 'product', { url: 'https://shop.example/p/10002' }],
  ['sites', 'example', 'search', { url: 'https://shop.example/c/lamps-701' }],
  ['sites', 'kiln', 'product', { url: 'https://kiln.example/p/1' }],
  ['sites', 'kiln', 'search', { url: 'https://kiln.example/c/mugs' }],
];

const fetchOf = (page: MarketPage): FetchPage => (page[1] === 'kiln' ? fetchKiln : originOf(page));

/** Changes a response at random. */
type Mutation = (response: PageResponse, numbers: Random) => PageResponse;

const mutateHtml: Mutation = (response, numbers) => ({
  ...response,
  body: changeHtml(response.body.toString(), numbers),
});

const mutateJson: Mutation = (response, numbers) => {
  const [before, json, after] = splitPage(response);
  const changed = JSON.stringify(changeJson(JSON.parse(json) as Json, numbers));
  return { ...response, body: Buffer.from(before + changed.replaceAll('<', '\\u003c') + after) };
};

/** Fails with the command that repeats a seed, and with the start of the changed page. */
function failWith(problem: string, seed: number, { body }: PageResponse): never {
  const command = formatSeedCommand(seed, ['src/markets/mutated-pages.test.ts']);
  expect.fail(
    `${problem}\n\nTo repeat it: ${command}\n\nThe page: ${body.toString().slice(0, 4_000)}`,
  );
}

/** Extracts the records of changed copies of a page. */
async function checkCopies(page: MarketPage, mutate: Mutation): Promise<void> {
  const check = createPageCheck(page);
  const isKiln = page[1] === 'kiln';
  const response = isKiln
    ? await fetchKiln({ path: new URL(String(page[3].url)).pathname })
    : await fetchMarketPage(page);
  expect(check.extract(response)).toBeNull();
  for (const seed of seedsOf('pages')) {
    for (let copy = 0; copy < copiesPerSeed; copy += 1) {
      const changed = mutate(response, random(`${seed} ${copy} ${JSON.stringify(page)}`));
      const problem = check.extract(changed);
      if (problem !== null) failWith(problem, seed, changed);
    }
  }
  // Otherwise the changes would leave nothing to read.
  expect(check.counts.records).toBeGreaterThan(1);
}

/** Reads a record or listing whose pages are all changed. */
async function checkReading(page: MarketPage, mutate: Mutation, seed: number, numbers: Random) {
  const [, region, , input] = page;
  const check = createPageCheck(page);
  const fetch = fetchOf(page);
  let requests = 0;
  let last: PageResponse | undefined;
  const changed: FetchPage = async (request) => {
    requests += 1;
    if (requests > maxRequests) throw new Error('the listing does not end');
    const response = await fetch(request);
    last = response.status === 200 ? mutate(response, numbers) : response;
    return last;
  };
  const { reader } = readerOf(page);
  let problem: string | null = null;
  try {
    if (reader.sort === 'record') {
      problem = check.records([await reader.read(input, { region, fetch: changed })]);
    } else {
      for await (const { entries } of reader.read(input, { region, fetch: changed }))
        problem ??= check.records(entries);
    }
  } catch (error) {
    problem = check.error(error);
  }
  if (problem !== null) failWith(problem, seed, last!);
}

async function checkReadings(page: MarketPage, mutate: Mutation): Promise<void> {
  for (const seed of seedsOf('pages')) {
    for (let reading = 0; reading < readingsPerSeed; reading += 1)
      await checkReading(
        page,
        mutate,
        seed,
        random(`${seed} reading ${reading} ${JSON.stringify(page)}`),
      );
  }
}

beforeAll(() =>
  declaredSites.use(
    { path: '/nowhere', texts: { 'sites.json': JSON.stringify({ kiln }) } },
    undefined,
    () => 0,
  ),
);

describe('a page with several random changes is a record or list of the documented shape, or a fault', () => {
  it.each(jsonPages)('%s %s %s of %j, JSON', { timeout: 120_000 }, async (...page) => {
    await checkCopies(page, mutateJson);
    await checkReadings(page, mutateJson);
  });

  it.each(htmlPages)('%s %s %s of %j, HTML', { timeout: 120_000 }, async (...page) => {
    await checkCopies(page, mutateHtml);
    await checkReadings(page, mutateHtml);
  });
});
