import { describe, expect, test } from 'vitest';
import type { TestUser } from '../../support/service/api.ts';
import { until } from '../../support/time/until.ts';
import { ended, type Life, type Submitted, submit, useLife } from './life.ts';

/** Latency of slow pages, which makes the first retrieve precede the end of the job. */
const slowMs = 1_500;

/** Items with slow pages. */
const slow = {
  mktb: { shop_domain: 'toko-93', product_key: 'lampu-93900' },
  mktc: { formattedId: 'ps--GLN-60093-93900', sku: 'GLN-60093-93900-00001' },
};
const pathOf = (market: string) => `/v1/${market}/pdp/bulk`;

const retrieveNow = async ({ api }: Life, user: TestUser, { path, id }: Submitted) => {
  const { body, headers } = await api.get(user, `${path}/retrieve/${id}`);
  return { body, kept: headers.get('cache-control') };
};

/** Waits for the end of a job through the operator service, which is not cached. */
async function untilOver({ api }: Life, { id }: Submitted): Promise<void> {
  await until(
    `job ${id} is over`,
    async () => (await api.operatorJobs('GetJob', { job_id: id })).finishedAt,
    { withinMs: 10_000 },
  );
}

describe.concurrent('with the default durations', () => {
  const life = useLife({ GLEANER_RETRIEVE_CACHE: '120s,24h' }, slowMs);

  test.each(['mktb', 'mktc'] as const)(
    'caches a response about a running job of %s for 120 s, even if the job ends',
    async (market) => {
      const user = await life().api.createUser(100);
      const job = await submit(life(), user, pathOf(market), { items: [slow[market]] });
      const first = await retrieveNow(life(), user, job);
      expect(first.body).toMatchObject({ status: 'processing', pending: 1 });
      expect(first.kept).toMatch(/^private, max-age=(120|119)$/);
      await untilOver(life(), job);
      const second = await retrieveNow(life(), user, job);
      expect(second.body).toEqual(first.body);
      expect(second.kept).toMatch(/^private, max-age=1[012]\d$/);
    },
  );

  test.each(['mktb', 'mktc'] as const)(
    'caches a response about an ended job of %s for a day, for its owner only',
    async (market) => {
      const [user, other] = [await life().api.createUser(100), await life().api.createUser(100)];
      const job = await submit(life(), user, pathOf(market), { items: [slow[market]] });
      await untilOver(life(), job);
      const first = await retrieveNow(life(), user, job);
      expect(first.body).toMatchObject({
        status: 'completed',
        download_url: expect.stringMatching(/^http/),
      });
      expect(first.kept).toMatch(/^private, max-age=(86400|86399)$/);
      // Every response has newly signed links, so an identical link means a cached response.
      expect((await retrieveNow(life(), user, job)).body).toEqual(first.body);
      expect((await life().api.get(other, `${job.path}/retrieve/${job.id}`)).status).toBe(404);
      // The audit log has an entry of each read of an operator.
      const { operatorKey } = life().deployment;
      const reads = await Promise.all(
        [1, 2].map(() => retrieveNow(life(), { ...user, key: operatorKey }, job)),
      );
      expect(reads.map(({ kept }) => kept)).toEqual(['no-store', 'no-store']);
      const { entries } = await life().api.operator('ListAuditEntries', { target: job.id });
      expect(
        entries.filter(({ action }: { action: string }) => action === 'RetrievePdpBulk'),
      ).toHaveLength(2);
    },
  );

  test.each([
    ['/v1/mktd/pdp/bulk', { product_id: '1729000093900', country: 'sg' }],
    ['/v1/mkte/pdp/bulk', { asin: 'B0GLN93900', country: 'us' }],
    ['/v1/mktb/search/bulk', { keyword: 'rak 93900', product_limit: 1 }],
    ['/v1/mktc/merchant/bulk', { shopid: 'GLN-93900', limit: 1 }],
  ])('caches no response of %s', async (path, item) => {
    const user = await life().api.createUser(100);
    const job = await submit(life(), user, path, { items: [item] });
    const first = await retrieveNow(life(), user, job);
    expect(first).toEqual({
      body: expect.objectContaining({ status: 'processing' }),
      kept: 'no-store',
    });
    expect(await ended(life(), user, job)).toMatchObject({ status: 'completed' });
  });
});

describe('with the cache disabled', () => {
  const life = useLife({ GLEANER_RETRIEVE_CACHE: 'off' }, slowMs);

  test('returns the current state in every response', async () => {
    const user = await life().api.createUser(100);
    const job = await submit(life(), user, pathOf('mktb'), { items: [slow.mktb] });
    const first = await retrieveNow(life(), user, job);
    expect(first).toEqual({
      body: expect.objectContaining({ status: 'processing' }),
      kept: 'no-store',
    });
    expect(await ended(life(), user, job)).toMatchObject({ status: 'completed' });
  });
});
