import { describe, expect, test } from 'vitest';
import {
  download,
  ended,
  expectCredits,
  expectFields,
  linesOf,
  requestCount,
  run,
  submit,
  useLife,
} from './life.ts';

const life = useLife();

/** Product pages of a marketplace. */
interface Pages {
  market: string;
  jobType: string;
  /** Creates an item. Its last digits select the page of the fake marketplace. */
  item(digits: string): Record<string, string>;
  /** Returns the members that identify its line in the file. */
  line(item: Record<string, string>): Record<string, string | null>;
  /** Digits that select every kind of page, and the expected outcomes. */
  sorts: string[];
}

const digits = (first: number, count: number) =>
  Array.from({ length: count }, (_, at) => String(first + at));

const markets: Pages[] = [
  {
    market: 'mktb',
    jobType: 'mktb pdp_bulk',
    item: (end) => ({ shop_domain: 'toko-76', product_key: `lampu-76${end}` }),
    line: ({ shop_domain, product_key }) => ({
      shop_domain: shop_domain!,
      product_key: product_key!,
    }),
    sorts: ['700', '701', '703', '704', '705'],
  },
  {
    market: 'mktc',
    jobType: 'mktc pdp_bulk',
    item: (end) => ({
      id: `7${end}`,
      formattedId: `ps--GLN-60076-76${end}`,
      sku: `GLN-60076-76${end}-00001`,
      pickupPointCode: 'PP-1',
    }),
    line: ({ id, ...others }) => ({ item_id: id!, ...others }),
    sorts: ['700', '701', '702', '703'],
  },
  {
    market: 'mktd',
    jobType: 'mktd pdp_bulk',
    item: (end) => ({ product_id: `1729000077${end}`, country: 'vn' }),
    line: ({ product_id, country }) => ({ item_id: product_id!, country: country! }),
    sorts: digits(700, 9),
  },
  {
    market: 'mkte',
    jobType: 'mkte pdp_bulk',
    item: (end) => ({ asin: `B0GLN78${end}`, country: 'fr' }),
    line: ({ asin, country }) => ({ item_id: asin!, country: country! }),
    sorts: digits(700, 13),
  },
];

describe.each(markets)('product pages of $market', ({ market, jobType, item, line, sorts }) => {
  const path = `/v1/${market}/pdp/bulk`;

  test('result in gzip-compressed JSON Lines behind a link that needs no token', async () => {
    const user = await life().api.createUser(1_000);
    // Includes a missing item and a duplicate.
    const items = [...sorts, '001', '800', '002', '001'].map(item);
    const job = await submit(life(), user, path, { items });
    const cost = items.length * 5;
    expect(job.response).toEqual({
      job_id: job.id,
      status: 'processing',
      total: items.length,
      cost,
      message: null,
    });
    const shown = await ended(life(), user, job);
    expect(shown).toEqual({
      job_id: job.id,
      status: 'partial_complete',
      total: items.length,
      success: items.length - 1,
      failed: 1,
      pending: 0,
      progress: 1,
      download_url: expect.stringMatching(/^http/),
      message: null,
      errors: [{ ...line(item('800')), error: expect.stringMatching(/\S/) }],
    });
    const file = await download(life(), shown.download_url);
    expect([file.type, file.name]).toEqual([
      'application/gzip',
      `${market}_pdp_${job.id}.jsonl.gz`,
    ]);
    expect([...file.bytes.subarray(0, 2)]).toEqual([0x1f, 0x8b]);
    const lines = linesOf(file);
    expectFields(jobType, lines);
    expect(lines.map(({ response, ...identity }) => identity)).toEqual(
      items.filter((_, at) => at !== sorts.length + 1).map(line),
    );
    await expectCredits(life(), user, { granted: 1_000, charged: cost, refunded: 5 });

    const tampered = shown.download_url.replace(job.id, '00000000-0000-4000-8000-000000000000');
    for (const url of [
      tampered,
      shown.download_url.slice(0, -1),
      shown.download_url.split('?')[0],
    ]) {
      const { status, body } = await life().api.get(user, url.slice(life().deployment.url.length));
      expect([url, status, body]).toMatchObject([url, 403, { detail: expect.any(String) }]);
    }
  });

  test('lead to a failed, fully refunded job without a file if all are missing', async () => {
    const user = await life().api.createUser(10);
    const shown = await run(life(), user, path, { items: ['800', '800'].map(item) });
    expect(shown).toMatchObject({
      status: 'failed',
      success: 0,
      failed: 2,
      download_url: null,
      message: null,
    });
    await expectCredits(life(), user, { granted: 10, charged: 10, refunded: 10 });
  });

  test('lead to a completed job without refunds if all exist', async () => {
    const user = await life().api.createUser(100);
    const shown = await run(life(), user, path, { items: ['001', '002', '003'].map(item) });
    expect(shown).toMatchObject({ status: 'completed', success: 3, failed: 0, progress: 1 });
    expect(shown).not.toHaveProperty('errors');
    await expectCredits(life(), user, { granted: 100, charged: 15, refunded: 0 });
  });
});

test.each([
  [
    'mktd',
    (at: number) => ({ product_id: `172900007900${at}` }),
    ['th', 'my', 'th', 'sg', 'my', 'th'],
  ],
  ['mkte', (at: number) => ({ asin: `B0GLN7900${at}` }), ['uk', 'jp', 'uk', 'us', 'jp', 'uk']],
])(
  'items of %s are grouped by country and read from the origin of their country',
  async (market, item, countries) => {
    const user = await life().api.createUser(100);
    const places = () =>
      Object.entries(life().origins.counters()).filter(([place]) => place.startsWith(market));
    const before = new Map(places());
    const items = countries.map((country, at) => ({ ...item(at), country }));
    const shown = await run(life(), user, `/v1/${market}/pdp/bulk`, { items });
    expect(shown).toMatchObject({ status: 'completed', success: 6 });
    const lines = linesOf(await download(life(), shown.download_url));
    const [first, second, third] = new Set(countries);
    expect(lines.map(({ country }) => country)).toEqual([
      first,
      first,
      first,
      second,
      second,
      third,
    ]);
    for (const { country, response } of lines) expect(response._country).toBe(country);
    const read = places().filter(([place, count]) => count > (before.get(place) ?? 0));
    expect(new Set(read.map(([place]) => place.split(/[/ ]/)[1]))).toEqual(new Set(countries));
  },
);

test('an ended job lists its first 100 failed items in order', async () => {
  const user = await life().api.createUser(1_000);
  const items = Array.from({ length: 130 }, (_, at) => ({
    shop_domain: 'toko-79',
    product_key: at % 10 === 0 ? `rak-79${at}001` : `rak-79${at}800`,
  }));
  const shown = await run(life(), user, '/v1/mktb/pdp/bulk', { items });
  expect(shown).toMatchObject({ status: 'partial_complete', failed: 117 });
  const gone = items.filter(({ product_key }) => product_key.endsWith('800')).slice(0, 100);
  expect(shown.errors).toEqual(
    gone.map((item) => ({ ...item, error: expect.stringMatching(/\S/) })),
  );
});

test('accepts 2,000 items in one job', async () => {
  const user = await life().api.createUser(10_000);
  const items = Array.from({ length: 2_000 }, (_, at) => ({
    shop_domain: 'toko-80',
    product_key: `rak-${80_000 + Math.floor(at / 600) * 1_000 + (at % 600)}`,
  }));
  const shown = await run(life(), user, '/v1/mktb/pdp/bulk', { items });
  expect(shown).toMatchObject({ status: 'completed', total: 2_000, success: 2_000 });
  const lines = linesOf(await download(life(), shown.download_url));
  expect(lines.map(({ product_key }) => product_key)).toEqual(
    items.map(({ product_key }) => product_key),
  );
  expect(requestCount(life(), 'mktb/id /graphql/PDPGetLayoutQuery')).toBeGreaterThanOrEqual(2_000);
  await expectCredits(life(), user, { granted: 10_000, charged: 10_000, refunded: 0 });
});
