import { beforeEach, expect, test } from 'vitest';
import { type JobsBench, openJobs } from '../../test/support/jobs.ts';
import { listFieldDrift } from '../drift/alarms.ts';
import type { FetchPage } from '../fetch/page.ts';
import { sweep } from '../sweep/sweep.ts';

let bench: JobsBench;
let userId: string;
beforeEach(async () => {
  bench = await openJobs({ approval: false });
  userId = await bench.createUser(100_000);
  await bench.startWorker();
  return () => bench.close();
});

/** Reads fifty items as variant sold, and lets the sweep write what was seen. */
async function read(times: number): Promise<void> {
  for (let turn = 0; turn < times; turn++) {
    const items = Array.from({ length: 50 }, (_, at) => ({ itemId: String(20_101 + at), shopId: '7' }));
    const { jobId } = await bench.submit(userId, 'SubmitVariantSold', { country: 'sg', items });
    for (let wait = 0; wait < 8; wait++) await bench.clock.pass(5_000);
    await bench.reaches(jobId, 'completed', 'partial_complete', 'failed');
    await sweep(bench.context);
  }
}

const altered =
  (from: RegExp, to: string) =>
  (fetch: FetchPage): FetchPage =>
  async (request) => {
    const answer = await fetch(request);
    return { ...answer, body: Buffer.from(answer.body.toString().replace(from, to)) };
  };

test('a field that the site renames begins an alarm with an example, and ends it when it is back', async () => {
  await read(5);
  expect(await listFieldDrift(bench.context.store, false)).toEqual([]);
  bench.between(altered(/"ctime":/, '"created":'));
  await read(4);
  const [alarm, ...others] = await listFieldDrift(bench.context.store, false);
  expect(others).toEqual([]);
  expect(alarm).toMatchObject({ market: 'mkta', page: 'variants', field: 'createTime', baseline: 0 });
  expect(alarm?.absent).toBeGreaterThan(0.4);
  expect(alarm?.example).toMatchObject({ region: 'sg', input: { shop_id: '7' } });
  bench.between((fetch) => fetch);
  await read(5);
  expect(await listFieldDrift(bench.context.store, false)).toEqual([]);
});

test('a field that is missing from a few pages as ever is none', async () => {
  await read(8);
  const drift = await listFieldDrift(bench.context.store, true);
  const price = drift.find(({ field }) => field === 'models[].price');
  // Two of fifty pages hide their prices.
  expect(price?.absent).toBeGreaterThan(0);
  expect(price?.since).toBeNull();
});

test('pages that cannot be read any more begin an alarm', async () => {
  await read(3);
  bench.between(altered(/^[\s\S]*$/, '<html><body>Our new shop</body></html>'));
  await read(2);
  const fields = (await listFieldDrift(bench.context.store, false)).map(({ field }) => field);
  expect(fields).toEqual(['(page)']);
});

test('entries of listings are looked at, page by page', async () => {
  const urls = ['https://shop.sg/search?keyword=lamp+002', 'https://shop.sg/search?keyword=lamp+003'];
  const { jobId } = await bench.submit(userId, 'SubmitSearchItems', { urls });
  await bench.reaches(jobId, 'completed');
  await sweep(bench.context);
  const drift = await listFieldDrift(bench.context.store, true);
  const pages = drift.find(({ page, field }) => page === 'search' && field === 'name');
  // Both have 130 items: three pages of 60.
  expect(pages).toMatchObject({ pages: 6, absent: 0 });
});
