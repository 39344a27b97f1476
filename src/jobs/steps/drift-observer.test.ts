import { beforeEach, expect, test } from 'vitest';
import { type JobFixture, openJobFixture } from '../../../test/support/jobs/jobs.ts';
import type { FetchPage } from '../../fetch/page.ts';
import { listFieldDrift } from '../../quality/alarms.ts';
import { sweep } from '../../sweep/sweep.ts';
import { observeUnit } from './read-unit.ts';

let fixture: JobFixture;
let userId: string;
beforeEach(async () => {
  fixture = await openJobFixture({ approval: false });
  userId = await fixture.createUser(100_000);
  await fixture.startWorker();
  return () => fixture.close();
});

/** Reads fifty items as variant sold, then lets the sweep write the statistics. */
async function read(times: number): Promise<void> {
  for (let turn = 0; turn < times; turn++) {
    const items = Array.from({ length: 50 }, (_, at) => ({
      itemId: String(20_101 + at),
      shopId: '7',
    }));
    const { jobId } = await fixture.submit(userId, 'SubmitVariantSold', { country: 'sg', items });
    for (let wait = 0; wait < 8; wait++) await fixture.clock.advance(5_000);
    await fixture.waitForState(jobId, 'completed', 'partial_complete', 'failed');
    await sweep(fixture.context);
  }
}

const altered =
  (from: RegExp, to: string) =>
  (fetch: FetchPage): FetchPage =>
  async (request) => {
    const response = await fetch(request);
    return { ...response, body: Buffer.from(response.body.toString().replace(from, to)) };
  };

test('a field that the site renames raises an alarm with an example, which ends when the field returns', async () => {
  await read(5);
  expect(await listFieldDrift(fixture.context.store, false)).toEqual([]);
  fixture.wrapFetch(altered(/"ctime":/, '"created":'));
  await read(4);
  const [alarm, ...others] = await listFieldDrift(fixture.context.store, false);
  expect(others).toEqual([]);
  expect(alarm).toMatchObject({
    market: 'mkta',
    page: 'variants',
    field: 'createTime',
    baseline: 0,
  });
  expect(alarm?.absent).toBeGreaterThan(0.4);
  expect(alarm?.example).toMatchObject({ region: 'sg', input: { shop_id: '7' } });
  fixture.wrapFetch((fetch) => fetch);
  await read(5);
  expect(await listFieldDrift(fixture.context.store, false)).toEqual([]);
});

test('a field missing from a few pages, as before, raises no alarm', async () => {
  await read(8);
  const drift = await listFieldDrift(fixture.context.store, true);
  const price = drift.find(({ field }) => field === 'models[].price');
  // Two of fifty pages lack their prices.
  expect(price?.absent).toBeGreaterThan(0);
  expect(price?.since).toBeNull();
});

test('unreadable pages raise an alarm', async () => {
  await read(3);
  fixture.wrapFetch(altered(/^[\s\S]*$/, '<html><body>Our new shop</body></html>'));
  await read(2);
  const fields = (await listFieldDrift(fixture.context.store, false)).map(({ field }) => field);
  expect(fields).toEqual(['(page)']);
});

test('entries of listings are checked page by page', async () => {
  const urls = [
    'https://shop.sg/search?keyword=lamp+002',
    'https://shop.sg/search?keyword=lamp+003',
  ];
  const { jobId } = await fixture.submit(userId, 'SubmitSearchItems', { urls });
  await fixture.waitForState(jobId, 'completed');
  await sweep(fixture.context);
  const drift = await listFieldDrift(fixture.context.store, true);
  const pages = drift.find(({ page, field }) => page === 'search' && field === 'name');
  // Both have 130 items: three pages of up to 60.
  expect(pages).toMatchObject({ pages: 6, absent: 0 });
});

test('fields whose values contradict each other are counted for the next record', async () => {
  const { context } = fixture;
  const items = [{ itemId: '20101', shopId: '7' }];
  const { jobId } = await fixture.submit(userId, 'SubmitVariantSold', { country: 'sg', items });
  await fixture.waitForState(jobId, 'completed');
  const job = (await context.store.jobs.get(jobId))!;
  const [batch] = await Array.fromAsync(context.store.batches.read(jobId));
  fixture.metrics.take();
  const observer = observeUnit(context, { job, batch: batch!, index: 0 });
  observer.contradictions(['createTime']);
  observer.page([{ createTime: 1 }]);
  observer.page([{ createTime: 1 }]);
  await context.drift.flush();
  const counters = fixture.metrics.take().counters;
  expect(counters.filter(({ name }) => name === 'gleaner_contradictions_total')).toMatchObject([
    { labels: { market: 'mkta', field: 'createTime' }, value: 1 },
  ]);
  const drift = await listFieldDrift(context.store, true);
  // The page of the job, and those of the observer.
  expect(drift.find(({ field }) => field === 'createTime')).toMatchObject({
    pages: 3,
    contradicted: 1 / 3,
  });
  expect(drift.find(({ field }) => field === 'models[].price')).toMatchObject({ contradicted: 0 });
});
