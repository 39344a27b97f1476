import { beforeEach, expect, test } from 'vitest';
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
