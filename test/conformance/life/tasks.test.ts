import { describe, expect, test } from 'vitest';
import type { TestUser } from '../../support/service/api.ts';
import {
  type AnyJson,
  download,
  ended,
  expectCredits,
  expectFields,
  requestCount,
  run,
  submit,
  useLife,
} from './life.ts';

const life = useLife();
const paths = {
  searchesOfB: '/v1/mktb/search/bulk',
  shopsOfB: '/v1/mktb/merchant/bulk',
  shopsOfC: '/v1/mktc/merchant/bulk',
  searchesOfE: '/v1/mkte/search/bulk',
  storesOfF: '/v1/mktf/search/bulk',
};

/** Runs tasks and returns the last response and each task's file. Null for a task without one. */
async function collect(
  user: TestUser,
  path: string,
  items: unknown[],
): Promise<{ shown: AnyJson; files: (AnyJson | null)[] }> {
  const shown = await run(life(), user, path, { items });
  const files = [];
  for (const { download_url: url } of shown.items)
    files.push(url === null ? null : JSON.parse((await download(life(), url, user)).text));
  return { shown, files };
}

/**
 * Runs tasks that all succeed and returns their results, unwrapped from the array that some
 * marketplaces use.
 */
async function results(path: string, jobType: string, items: unknown[]): Promise<AnyJson[]> {
  const user = await life().api.createUser(10_000);
  const { shown, files } = await collect(user, path, items);
  expect(shown).toMatchObject({ status: 'completed', total: items.length, success: items.length });
  const objects = files.map((file, at) => {
    const object = Array.isArray(file) ? file[0] : file;
    if (Array.isArray(file)) expect(file).toHaveLength(1);
    if (path !== paths.storesOfF) expect(object.batch_id).toBe(shown.items[at].task_id);
    return object;
  });
  expectFields(jobType, objects);
  return objects;
}

/**
 * Returns the identities of a listing's products. At marketplace E, an advertised product is a
 * separate entry.
 */
const idsOf = ({ products }: AnyJson): unknown[] =>
  products.map(
    ({ id, asin, is_sponsored: ad }: AnyJson) => id ?? `${asin}${ad ? ' advertised' : ''}`,
  );

function expectDistinct(result: AnyJson): void {
  expect(new Set(idsOf(result)).size).toBe(result.products.length);
}

describe('searches of B', () => {
  test('contain every page, limited by product_limit and pmin', async () => {
    const search = { keyword: 'rak 81001' };
    const [whole, ...cut] = await results(paths.searchesOfB, 'mktb search_bulk', [
      search,
      { ...search, product_limit: 1 },
      { ...search, product_limit: 70 },
      { ...search, pmin: 200_000 },
      { ...search, pmin: 200_000, product_limit: 10 },
      { list_type: 'category', keyword: '81701', category: 'dapur' },
      { keyword: 'rak 81700' },
    ]);
    expect(whole.products.length).toBeGreaterThan(70);
    expectDistinct(whole);
    expect(whole).toMatchObject({ keyword: 'rak 81001', list_type: 'search' });
    const [one, seventy, dear, tenDear, category, none] = cut;
    expect(idsOf(one)).toEqual(idsOf(whole).slice(0, 1));
    expect(idsOf(seventy)).toEqual(idsOf(whole).slice(0, 70));
    const priced = whole.products.filter(({ price }: AnyJson) => price >= 200_000);
    expect(priced.length).toBeGreaterThan(10);
    expect(priced.length).toBeLessThan(whole.products.length);
    expect(idsOf(dear)).toEqual(idsOf({ products: priced }));
    expect(idsOf(tenDear)).toEqual(idsOf(dear).slice(0, 10));
    expect(category).toMatchObject({ keyword: '81701', list_type: 'category' });
    expect(category.products).toHaveLength(1);
    expect(none.products).toEqual([]);
  });

  test('have the listed fields for every kind of page', async () => {
    const sorts = ['701', '702', '704', '705', '706', '707', '708'];
    await results(
      paths.searchesOfB,
      'mktb search_bulk',
      sorts.map((digits) => ({ keyword: `rak 82${digits}` })),
    );
  });

  test('end at 5,000 products by default', async () => {
    const [many] = await results(paths.searchesOfB, 'mktb search_bulk', [{ keyword: 'rak 83703' }]);
    expect(many.products).toHaveLength(5_000);
  });
});

describe('shops of B', () => {
  test('contain every page, or the first max_pages', async () => {
    const counted = () =>
      Object.entries(life().origins.counters())
        .filter(([place]) => place.startsWith('mktb/'))
        .reduce((sum, [, count]) => sum + count, 0);
    const [whole] = await results(paths.shopsOfB, 'mktb merchant_bulk', [{ shopid: '84001' }]);
    const [first] = await results(paths.shopsOfB, 'mktb merchant_bulk', [
      { shopid: '84001', max_pages: 1 },
    ]);
    const before = counted();
    const [second] = await results(paths.shopsOfB, 'mktb merchant_bulk', [
      { shopid: '84001', max_pages: 2 },
    ]);
    expect(whole).toMatchObject({ shopid: '84001', total_products: whole.products.length });
    expectDistinct(whole);
    expect(first.products.length).toBeLessThan(whole.products.length);
    expect(idsOf(first)).toEqual(idsOf(whole).slice(0, first.products.length));
    expect(first.total_products).toBe(first.products.length);
    expect(second.products.length).toBeGreaterThan(first.products.length);
    expect(idsOf(second)).toEqual(idsOf(whole).slice(0, second.products.length));
    // Two pages, and the request for the shop's name.
    expect(counted() - before).toBeLessThanOrEqual(3);
  });
});

describe('merchants of C', () => {
  test('contain every page within limit', async () => {
    const [whole, one, fifty] = await results(paths.shopsOfC, 'mktc merchant_bulk', [
      { shopid: 'GLN-85001' },
      { shopid: 'GLN-85001', limit: 1 },
      { shopid: 'GLN-85001', limit: 50 },
    ]);
    expect(whole.products.length).toBeGreaterThan(50);
    expectDistinct(whole);
    expect(idsOf(one)).toEqual(idsOf(whole).slice(0, 1));
    expect(idsOf(fifty)).toEqual(idsOf(whole).slice(0, 50));
  });

  test('have the listed fields for every kind of page', async () => {
    const sorts = ['700', '701', '702', '704', '705', '706', '707', '708', '709'];
    await results(
      paths.shopsOfC,
      'mktc merchant_bulk',
      sorts.map((digits) => ({ shopid: `GLN-86${digits}` })),
    );
  });
});

describe('searches of E', () => {
  test('contain all discovered pages, or the requested number', async () => {
    const search = { list_type: 'search', keyword: 'desk lamp 87702', country: 'us' };
    const [whole, first, third, category, none] = await results(
      paths.searchesOfE,
      'mkte search_bulk',
      [
        { ...search, pages: 0 },
        { ...search, pages: 1 },
        { ...search, pages: 3 },
        { list_type: 'category', keyword: '87701', category: '87701', country: 'jp' },
        { ...search, keyword: 'lamp 87700' },
      ],
    );
    expect(whole).toMatchObject({
      keyword: search.keyword,
      list_type: 'search',
      country: 'us',
      scraped_pages: 12,
    });
    expect(first.scraped_pages).toBe(1);
    expect(third.scraped_pages).toBe(3);
    expectDistinct(whole);
    for (const cut of [first, third]) {
      expect(cut.total_products).toBe(cut.products.length);
      expect(idsOf(cut)).toEqual(idsOf(whole).slice(0, cut.products.length));
    }
    expect(third.products.length).toBeGreaterThan(first.products.length);
    expect(whole.total_products).toBe(whole.products.length);
    expect(category).toMatchObject({
      keyword: '87701',
      list_type: 'category',
      country: 'jp',
      scraped_pages: 1,
    });
    expect(none).toMatchObject({ total_products: 0, products: [] });
    const [day, hour] = new Date().toISOString().split('T') as [string, string];
    expect([whole.submit_date, whole.submit_hour]).toEqual([day, hour.slice(0, 2)]);
  });

  test('have the listed fields for every kind of page', async () => {
    const sorts = ['703', '704', '705', '706', '707'];
    const items = sorts.map((digits) => ({
      list_type: 'search',
      keyword: `lamp 88${digits}`,
      country: 'de',
    }));
    await results(paths.searchesOfE, 'mkte search_bulk', items);
  });

  test('name their tasks after keyword and country', async () => {
    const user = await life().api.createUser(100);
    const item = { list_type: 'search', country: 'uk', pages: 1 };
    const items = [
      { ...item, keyword: 'desk lamp' },
      { ...item, keyword: '  wool \t sock  ' },
      { ...item, list_type: 'category', keyword: '89701', category: '89701' },
    ];
    const job = await submit(life(), user, paths.searchesOfE, { items });
    expect(job.response).toEqual({
      job_id: job.id,
      status: 'processing',
      total: 3,
      cost: 18,
      message: null,
      items: items.map(({ keyword, list_type }) => ({
        task_id: expect.any(String),
        keyword,
        list_type,
        status: 'pending',
      })),
    });
    const shown = await ended(life(), user, job);
    expect(shown.items.map(({ keyword, list_type }: AnyJson) => [keyword, list_type])).toEqual([
      ['desk_lamp_1', 'search'],
      ['wool_sock_2', 'search'],
      ['89701_3', 'category'],
    ]);
    expect(shown.items.map(({ task_id }: AnyJson) => task_id)).toEqual(
      job.response.items.map(({ task_id }: AnyJson) => task_id),
    );
  });
});

describe('stores of F', () => {
  test('contain the store’s own products of every page, or those of a search', async () => {
    const store = life().origins.address('mktf', '');
    const host = new URL(store).host;
    const [whole, collection, one, found] = await results(paths.storesOfF, 'mktf search_bulk', [
      { url: `${store}/` },
      { url: `${store}/collections/lamps-90001` },
      { url: `${store}/collections/lamps-90701` },
      { url: `${store}/search?q=clay%20MUG` },
    ]);
    expect(whole).toMatchObject({
      url: `${store}/`,
      store: host,
      collection: null,
      total_products: 620,
    });
    expect(whole.products).toHaveLength(620);
    expectDistinct(whole);
    expect(collection).toMatchObject({
      collection: 'lamps-90001',
      total_products: collection.products.length,
    });
    expect(one).toMatchObject({ total_products: 1, pages_fetched: expect.any(Number) });
    const mugs = whole.products.filter(({ title }: AnyJson) => /clay mug/i.test(title));
    expect(mugs.length).toBeGreaterThan(0);
    expect(found).toMatchObject({ collection: null, total_products: mugs.length });
    expect(found.products).toEqual(mugs);
  });
});

describe.each([
  ['searches of B', paths.searchesOfB, 6, [{ keyword: 'rak 91701' }]],
  ['shops of B', paths.shopsOfB, 6, [{ shopid: '91701' }, { shopid: '91800' }]],
  ['merchants of C', paths.shopsOfC, 6, [{ shopid: 'GLN-91701' }, { shopid: 'GLN-91800' }]],
  [
    'searches of E',
    paths.searchesOfE,
    6,
    ['701', '800'].map((digits) => ({
      list_type: 'search',
      keyword: `rak 91${digits}`,
      country: 'it',
    })),
  ],
  [
    'stores of F',
    paths.storesOfF,
    1,
    ['701', '800'].map((digits) => `/collections/lamps-91${digits}`),
  ],
] as const)('%s', (_, path, price, given) => {
  const itemsOf = () =>
    given.map((item) =>
      typeof item === 'string' ? { url: life().origins.address('mktf', '') + item } : item,
    );

  test('have one file each, named after its index, behind a link for their owner only', async () => {
    const [user, other] = [await life().api.createUser(12), await life().api.createUser(0)];
    const [item] = itemsOf();
    const shown = await run(life(), user, path, { items: [item] });
    expect(shown).toMatchObject({
      status: 'completed',
      total: 1,
      success: 1,
      failed: 0,
      pending: 0,
    });
    const [{ download_url: url, task_id: task }] = shown.items;
    const { type, name } = await download(life(), url, user);
    const [, , market, kind] = path.split('/');
    expect([type, name]).toEqual(['application/json', `${market}_${kind}_bulk_1_${task}_1.json`]);
    const at = url.slice(life().deployment.url.length);
    expect((await life().api.get(null, at)).status).toBe(401);
    expect((await life().api.get(other, at)).status).toBe(404);
    await expectCredits(life(), user, { granted: 12, charged: price, refunded: 0 });
  });

  test('are copied from a recent job for one that accepts them, at the lower price', async () => {
    const [user, other] = [await life().api.createUser(12), await life().api.createUser(12)];
    const items = itemsOf().slice(0, 1);
    const collected = async (owner: TestUser) => {
      const job = await submit(life(), owner, path, { items }, '?max_age=1h');
      const [item] = (await ended(life(), owner, job)).items;
      const file = JSON.parse((await download(life(), item.download_url, owner)).text);
      return { item, file: Array.isArray(file) ? file[0] : file };
    };
    const first = await collected(user);
    expect(first.item).not.toHaveProperty('collected_at');
    const before = life().origins.counters();
    const { item, file } = await collected(other);
    expect(life().origins.counters()).toEqual(before);
    expect(item.collected_at).toEqual(expect.any(Number));
    if (file.collected_at !== undefined) expect(file.collected_at).toBe(item.collected_at);
    if (file.batch_id !== undefined) expect(file.batch_id).toBe(item.task_id);
    const { batch_id: _, submit_date: __, submit_hour: ___, ...listing } = first.file;
    expect(file).toMatchObject(listing);
    const refunded = price - Math.ceil(price / 2);
    await expectCredits(life(), other, { granted: 12, charged: price, refunded });
  });

  if (given.length > 1)
    test('are refunded when they fail, in a partly completed and in a failed job', async () => {
      const user = await life().api.createUser(100);
      const [good, gone] = itemsOf();
      const { shown, files } = await collect(user, path, [good, gone, good]);
      expect(shown).toMatchObject({
        status: 'partial_complete',
        total: 3,
        success: 2,
        failed: 1,
        pending: 0,
      });
      expect(shown.items[1]).toMatchObject({
        status: 'FAILED',
        download_url: null,
        error: expect.stringMatching(/\S/),
      });
      expect(files[0].products ?? files[0][0].products).toEqual(
        files[2].products ?? files[2][0].products,
      );
      await expectCredits(life(), user, { granted: 100, charged: 3 * price, refunded: price });

      const poor = await life().api.createUser(price);
      const failed = await run(life(), poor, path, { items: [gone] });
      expect(failed).toMatchObject({ status: 'failed', success: 0, failed: 1 });
      await expectCredits(life(), poor, { granted: price, charged: price, refunded: price });
    });
});

test('a task with unreadable pages is retried a few times, then fails and is refunded', async () => {
  const user = await life().api.createUser(6);
  const place = 'mktb/id /graphql/SearchProductV5Query';
  const before = requestCount(life(), place);
  const shown = await run(life(), user, paths.searchesOfB, { items: [{ keyword: 'rak 92813' }] });
  expect(shown).toMatchObject({ status: 'failed', items: [{ status: 'FAILED' }] });
  expect(requestCount(life(), place) - before).toBe(4);
  await expectCredits(life(), user, { granted: 6, charged: 6, refunded: 6 });
});
