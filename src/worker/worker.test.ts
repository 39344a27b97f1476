import { beforeEach, expect, test } from 'vitest';
import { plainIds } from '../../sandbox/mkta/ids.ts';
import {
  type JobFixture,
  minFreeBytes,
  openJobFixture,
  variantSoldRequest,
} from '../../test/support/jobs/jobs.ts';
import { newId } from '../base/id.ts';
import { approve } from '../jobs/steps/decide.ts';
import { mkta } from '../markets/mkta/index.ts';
import { countsOf } from '../store/batch-store.ts';
import { replaceMethods, wrapMethods } from '../store/wrap.ts';
import { startWorker } from './worker.ts';

let fixture: JobFixture;
beforeEach(async () => {
  fixture = await openJobFixture();
  return () => fixture.close();
});

test('reports the batches in progress and counts completed units', async () => {
  const held = Promise.withResolvers<void>();
  fixture.wrapFetch((fetch) => async (request) => {
    await held.promise;
    return fetch(request);
  });
  const worker = await startWorker(fixture.context, [mkta]);
  expect(worker.stats).toEqual({ batches: 0, unitsDone: 0 });
  const userId = await fixture.createUser(10_000);
  const { jobId } = await fixture.submit(userId, 'SubmitVariantSold', variantSoldRequest(120));
  await approve(fixture.context, jobId, newId());
  await fixture.eventually('three batches are in hand', () => worker.stats.batches === 3);
  expect(worker.stats.unitsDone).toBe(0);
  held.resolve();
  await fixture.waitForState(jobId, 'completed');
  await fixture.eventually('nothing is in hand', () => worker.stats.batches === 0);
  expect(worker.stats.unitsDone).toBe(120);
  await worker.stop();
});

test('looks for outstanding batches after the last one of a job that it has claimed', async () => {
  const held = Promise.withResolvers<void>();
  fixture.wrapFetch((fetch) => async (request) => {
    await held.promise;
    return fetch(request);
  });
  const userId = await fixture.createUser(10_000);
  const { jobId } = await fixture.submit(userId, 'SubmitVariantSold', variantSoldRequest(120));
  await approve(fixture.context, jobId, newId());
  const looks: string[] = [];
  const store = wrapMethods(fixture.context.store, (name, method) => (...parameters) => {
    if (name === 'batches.count' || name === 'batches.countInFlight') looks.push(name);
    return method(...parameters);
  });
  const worker = await startWorker({ ...fixture.context, store }, [mkta]);
  await fixture.eventually('three batches are in hand', () => worker.stats.batches === 3);
  held.resolve();
  await fixture.waitForState(jobId, 'completed');
  // The end of the job looks once more.
  expect(looks).toEqual(['batches.count', 'batches.count']);
  await worker.stop();
});

test('claims nothing while the disk is almost full, and resumes once there is space', async () => {
  const userId = await fixture.createUser(10_000);
  const { jobId } = await fixture.submit(userId, 'SubmitVariantSold', variantSoldRequest(60));
  await fixture.clock.advance(5_000);
  fixture.setFreeBytes(minFreeBytes - 1);
  const worker = await startWorker(fixture.context, [mkta]);
  await approve(fixture.context, jobId, newId());
  await fixture.clock.advance(120_000);
  const states = async () =>
    (await fixture.context.store.batches.find({ jobId })).map(({ state }) => state);
  expect(await states()).toEqual(['queued', 'queued']);
  expect(fixture.requestedItems()).toEqual([]);
  fixture.setFreeBytes(2 * minFreeBytes);
  await fixture.clock.advance(35_000);
  await fixture.waitForState(jobId, 'completed');
  await worker.stop();
});

test('reads a job once for the admission and the work of its batch', async () => {
  const read: string[] = [];
  const { store } = fixture.context;
  const get = async (jobId: string) => {
    const job = await store.jobs.get(jobId);
    read.push(job!.state);
    return job;
  };
  const context = { ...fixture.context, store: replaceMethods(store, { jobs: { get } }) };
  const worker = await startWorker(context, [mkta]);
  const userId = await fixture.createUser(10_000);
  for (let time = 1; time <= 2; time += 1) {
    const { jobId } = await fixture.submit(userId, 'SubmitVariantSold', variantSoldRequest(20));
    await approve(fixture.context, jobId, newId());
    await fixture.waitForState(jobId, 'completed');
    await fixture.eventually('nothing is in hand', () => worker.stats.batches === 0);
  }
  expect(read).toEqual(['processing', 'processing']);
  await worker.stop();
});

test('gives permits to the batches of a job in their order', async () => {
  const orders = new Set<number | undefined>();
  const { pages } = fixture.context;
  const openSession: typeof pages.openSession = (market, region, signal, caller) => {
    orders.add(caller.owner?.order);
    return pages.openSession(market, region, signal, caller);
  };
  const worker = await startWorker({ ...fixture.context, pages: { ...pages, openSession } }, [
    mkta,
  ]);
  const userId = await fixture.createUser(10_000);
  const { jobId } = await fixture.submit(userId, 'SubmitVariantSold', variantSoldRequest(120));
  await approve(fixture.context, jobId, newId());
  await fixture.waitForState(jobId, 'completed');
  expect(orders).toEqual(new Set([0, 1, 2]));
  await worker.stop();
});

test('completes a batch in progress after the disk is almost full', async () => {
  const held = Promise.withResolvers<void>();
  fixture.wrapFetch((fetch) => async (request) => {
    await held.promise;
    return fetch(request);
  });
  const worker = await startWorker(fixture.context, [mkta]);
  const userId = await fixture.createUser(10_000);
  const { jobId } = await fixture.submit(userId, 'SubmitVariantSold', variantSoldRequest(60));
  await approve(fixture.context, jobId, newId());
  await fixture.eventually('two batches are in hand', () => worker.stats.batches === 2);
  fixture.setFreeBytes(0);
  await fixture.clock.advance(5_000);
  held.resolve();
  await fixture.waitForState(jobId, 'completed');
  await worker.stop();
});

test('does not count units whose write was superseded', async () => {
  const held = Promise.withResolvers<void>();
  fixture.wrapFetch((fetch) => async (request) => {
    await held.promise;
    return fetch(request);
  });
  const worker = await startWorker(fixture.context, [mkta]);
  const userId = await fixture.createUser(100);
  const { jobId } = await fixture.submit(userId, 'SubmitVariantSold', variantSoldRequest(3));
  await approve(fixture.context, jobId, newId());
  await fixture.eventually('the batch is in hand', () => fixture.requestedItems().length === 3);
  const [batch] = await fixture.context.store.batches.find({ jobId });
  const later = fixture.clock.now() + 60_000;
  expect(
    await fixture.context.store.batches.claim(batch!, batch!.attempt, later, later + 10_000),
  ).not.toBeNull();
  held.resolve();
  await fixture.eventually('nothing is in hand', () => worker.stats.batches === 0);
  expect(worker.stats.unitsDone).toBe(0);
  await worker.stop();
});

test('a region that does not respond delays neither other regions of its job nor other jobs', async () => {
  const isSlow = (item: string) => slow.has(item);
  const ids = plainIds(1_260).map(String);
  const slow = new Set(ids.slice(0, 1_200));
  const response = Promise.withResolvers<void>();
  fixture.wrapFetch((fetch, item) => async (request) => {
    if (isSlow(item)) await response.promise;
    return fetch(request);
  });
  await fixture.startWorker();
  const userId = await fixture.createUser(100_000);
  const submit = async (items: readonly string[], regionOf: (item: string) => string) => {
    const rows = items.map((item) => `${regionOf(item)},7,${item}\n`).join('');
    const file = Buffer.from(`region,shop_id,item_id\n${rows}`).toString('base64');
    const { taskId } = await fixture.submit(userId, 'SubmitGetPcBulk', { file, rescrape: true });
    return (await fixture.context.store.jobs.find({ number: taskId }))[0]!.id;
  };
  const mixed = await submit(ids.slice(0, 1_240), (item) => (isSlow(item) ? 'sg' : 'id'));
  const other = await submit(ids.slice(1_240), () => 'th');
  await fixture.waitForState(other, 'completed');
  const successes = async () => (await countsOf(fixture.context.store, mixed)).units.success;
  await fixture.eventually('the other region is read', async () => (await successes()) === 40);
  response.resolve();
  await fixture.waitForState(mixed, 'completed');
});

test("a user's many jobs do not delay another user's job", async () => {
  const response = Promise.withResolvers<void>();
  const isNoisy = new Set(plainIds(50).map(String));
  fixture.wrapFetch((fetch, item) => async (request) => {
    if (isNoisy.has(item)) await response.promise;
    return fetch(request);
  });
  await fixture.startWorker();
  const [noisy, quiet] = [await fixture.createUser(100_000), await fixture.createUser(100_000)];
  const submit = async (userId: string, itemIds: readonly string[]) => {
    const items = itemIds.map((itemId) => ({ itemId, shopId: '77' }));
    const { jobId } = await fixture.submit(userId, 'SubmitVariantSold', { country: 'sg', items });
    await approve(fixture.context, jobId, newId());
    return jobId as string;
  };
  const jobs: string[] = [];
  for (let number = 0; number < 30; number += 1) jobs.push(await submit(noisy, [...isNoisy]));
  const job = await submit(quiet, plainIds(450).slice(50).map(String));
  await fixture.waitForState(job, 'completed');
  response.resolve();
  for (const each of jobs) await fixture.waitForState(each, 'completed');
});

test('batches that wait in a stopping worker are processed by another worker', async () => {
  const response = Promise.withResolvers<void>();
  fixture.wrapFetch((fetch) => async (request) => {
    await response.promise;
    return fetch(request);
  });
  const first = await fixture.startWorker();
  const userId = await fixture.createUser(10_000);
  const { jobId } = await fixture.submit(userId, 'SubmitVariantSold', variantSoldRequest(700));
  await approve(fixture.context, jobId, newId());
  await fixture.eventually('eight batches are begun', () => fixture.requestedItems().length === 64);
  const stopping = first.stop();
  response.resolve();
  await stopping;
  await fixture.startWorker();
  await fixture.clock.advance(1_000);
  const job = await fixture.waitForState(jobId, 'completed');
  expect(job.counts?.units).toEqual({ total: 700, success: 700, failed: 0 });
});
