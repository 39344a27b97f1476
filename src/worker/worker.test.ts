import { beforeEach, expect, test } from 'vitest';
import { plainIds } from '../../sandbox/mkta/ids.ts';
import { type JobsBench, minFreeBytes, openJobs, variantSoldRequest } from '../../test/support/jobs.ts';
import { newId } from '../base/id.ts';
import { approve } from '../jobs/decide.ts';
import { mkta } from '../markets/mkta/index.ts';
import { startWorker } from './worker.ts';

let bench: JobsBench;
beforeEach(async () => {
  bench = await openJobs();
  return () => bench.close();
});

test('a worker tells what it has in hand, and counts units that it has ended', async () => {
  const held = Promise.withResolvers<void>();
  bench.between((fetch) => async (request) => {
    await held.promise;
    return fetch(request);
  });
  const worker = await startWorker(bench.context, [mkta]);
  expect(worker.tally).toEqual({ batches: 0, unitsDone: 0 });
  const userId = await bench.createUser(10_000);
  const { jobId } = await bench.submit(userId, 'SubmitVariantSold', variantSoldRequest(120));
  await approve(bench.context, jobId, newId());
  await bench.comesTrue('three batches are in hand', () => worker.tally.batches === 3);
  expect(worker.tally.unitsDone).toBe(0);
  held.resolve();
  await bench.reaches(jobId, 'completed');
  await bench.comesTrue('nothing is in hand', () => worker.tally.batches === 0);
  expect(worker.tally.unitsDone).toBe(120);
  await worker.stop();
});

test('a worker claims nothing while the disk is almost full, and works on once there is room', async () => {
  const userId = await bench.createUser(10_000);
  const { jobId } = await bench.submit(userId, 'SubmitVariantSold', variantSoldRequest(60));
  await bench.clock.pass(5_000);
  bench.free(minFreeBytes - 1);
  const worker = await startWorker(bench.context, [mkta]);
  await approve(bench.context, jobId, newId());
  await bench.clock.pass(120_000);
  const states = async () => (await bench.context.store.listBatches(jobId)).map(({ state }) => state);
  expect(await states()).toEqual(['queued', 'queued']);
  expect(bench.asked()).toEqual([]);
  bench.free(2 * minFreeBytes);
  await bench.clock.pass(35_000);
  await bench.reaches(jobId, 'completed');
  await worker.stop();
});

test('a batch in hand ends after the disk is almost full', async () => {
  const held = Promise.withResolvers<void>();
  bench.between((fetch) => async (request) => {
    await held.promise;
    return fetch(request);
  });
  const worker = await startWorker(bench.context, [mkta]);
  const userId = await bench.createUser(10_000);
  const { jobId } = await bench.submit(userId, 'SubmitVariantSold', variantSoldRequest(60));
  await approve(bench.context, jobId, newId());
  await bench.comesTrue('two batches are in hand', () => worker.tally.batches === 2);
  bench.free(0);
  await bench.clock.pass(5_000);
  held.resolve();
  await bench.reaches(jobId, 'completed');
  await worker.stop();
});

test('units whose write came too late are not counted', async () => {
  const held = Promise.withResolvers<void>();
  bench.between((fetch) => async (request) => {
    await held.promise;
    return fetch(request);
  });
  const worker = await startWorker(bench.context, [mkta]);
  const userId = await bench.createUser(100);
  const { jobId } = await bench.submit(userId, 'SubmitVariantSold', variantSoldRequest(3));
  await approve(bench.context, jobId, newId());
  await bench.comesTrue('the batch is in hand', () => bench.asked().length === 3);
  const [batch] = await bench.context.store.listBatches(jobId);
  const later = bench.clock.now() + 60_000;
  expect(
    await bench.context.store.claimBatch(batch!.id, batch!.attempt, later, later + 10_000),
  ).not.toBeNull();
  held.resolve();
  await bench.comesTrue('nothing is in hand', () => worker.tally.batches === 0);
  expect(worker.tally.unitsDone).toBe(0);
  await worker.stop();
});

test('a region that does not answer holds up neither the other regions of its job nor other jobs', async () => {
  const isSlow = (item: string) => slow.has(item);
  const ids = plainIds(1_260).map(String);
  const slow = new Set(ids.slice(0, 1_200));
  const answer = Promise.withResolvers<void>();
  bench.between((fetch, item) => async (request) => {
    if (isSlow(item)) await answer.promise;
    return fetch(request);
  });
  await bench.startWorker();
  const userId = await bench.createUser(100_000);
  const submit = async (items: readonly string[], regionOf: (item: string) => string) => {
    const rows = items.map((item) => `${regionOf(item)},7,${item}\n`).join('');
    const file = Buffer.from(`region,shop_id,item_id\n${rows}`).toString('base64');
    const { taskId } = await bench.submit(userId, 'SubmitGetPcBulk', { file, rescrape: true });
    return (await bench.context.store.getJobByNumber(taskId))!.id;
  };
  const mixed = await submit(ids.slice(0, 1_240), (item) => (isSlow(item) ? 'sg' : 'id'));
  const other = await submit(ids.slice(1_240), () => 'th');
  await bench.reaches(other, 'completed');
  const successes = async () => (await bench.context.store.countJob(mixed)).units.success;
  await bench.comesTrue('the other region is read', async () => (await successes()) === 40);
  answer.resolve();
  await bench.reaches(mixed, 'completed');
});

test("a user's many jobs do not keep another user's job from being read", async () => {
  const answer = Promise.withResolvers<void>();
  const isNoisy = new Set(plainIds(50).map(String));
  bench.between((fetch, item) => async (request) => {
    if (isNoisy.has(item)) await answer.promise;
    return fetch(request);
  });
  await bench.startWorker();
  const [noisy, quiet] = [await bench.createUser(100_000), await bench.createUser(100_000)];
  const submit = async (userId: string, itemIds: readonly string[]) => {
    const items = itemIds.map((itemId) => ({ itemId, shopId: '77' }));
    const { jobId } = await bench.submit(userId, 'SubmitVariantSold', { country: 'sg', items });
    await approve(bench.context, jobId, newId());
    return jobId as string;
  };
  const jobs: string[] = [];
  for (let number = 0; number < 30; number += 1) jobs.push(await submit(noisy, [...isNoisy]));
  const job = await submit(quiet, plainIds(450).slice(50).map(String));
  await bench.reaches(job, 'completed');
  answer.resolve();
  for (const each of jobs) await bench.reaches(each, 'completed');
});

test('batches that wait in a worker that stops are worked on by another', async () => {
  const answer = Promise.withResolvers<void>();
  bench.between((fetch) => async (request) => {
    await answer.promise;
    return fetch(request);
  });
  const first = await bench.startWorker();
  const userId = await bench.createUser(10_000);
  const { jobId } = await bench.submit(userId, 'SubmitVariantSold', variantSoldRequest(700));
  await approve(bench.context, jobId, newId());
  await bench.comesTrue('eight batches are begun', () => bench.asked().length === 64);
  const stopping = first.stop();
  answer.resolve();
  await stopping;
  await bench.startWorker();
  await bench.clock.pass(1_000);
  const job = await bench.reaches(jobId, 'completed');
  expect(job.counts?.units).toEqual({ total: 700, success: 700, failed: 0 });
});
