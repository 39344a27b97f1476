import { beforeEach, describe, expect, test } from 'vitest';
import { type JobsBench, noon, openJobs } from '../../test/support/jobs.ts';
import { Fault } from '../base/fault.ts';
import { aBatch, aJob, units } from '../store/contract/samples.ts';
import type { Batch, BatchReference } from '../store/documents.ts';
import { backOff, deferUntil, publishLater, releaseClaim } from './release.ts';

const never = new AbortController().signal;
const away = new Fault('unavailable', 'The store is away.');

let bench: JobsBench;
let published: BatchReference[];
let batch: Batch;
let message: BatchReference;
beforeEach(async () => {
  bench = await openJobs();
  published = [];
  const { store, queue } = bench.context;
  bench.context.queue = { ...queue, publish: async (sent) => published.push(sent) > 0 };
  const job = aJob({ totalBatches: 1, totalUnits: 2 });
  await store.createJob(job, [aBatch(job, 0, units(2))]);
  [message] = (await store.queueBatches(job.id, 1, noon)) as [BatchReference];
  batch = (await store.claimBatch(message.batchId, 0, noon, noon + 60_000))!;
  return () => bench.close();
});

const reread = async () => (await Array.fromAsync(bench.context.store.readBatches(batch.jobId)))[0]!;
/** The context of a process for which the store is away when it releases a batch. */
const withoutRelease = () => ({
  ...bench.context,
  store: { ...bench.context.store, releaseBatch: () => Promise.reject(away) },
});
const late = () => ({ ...batch, attempt: batch.attempt + 1 });

describe('releaseClaim()', () => {
  test('queues the batch at once for the next attempt', async () => {
    await releaseClaim(bench.context, batch, message);
    expect(await reread()).toMatchObject({ state: 'queued', attempt: 1, stalledClaims: 0 });
    expect(published).toEqual([{ ...message, attempt: 1 }]);
  });

  test('publishes nothing when the claim was lost or the store is away', async () => {
    await releaseClaim(bench.context, late(), message);
    await releaseClaim(withoutRelease(), batch, message);
    expect(published).toEqual([]);
    expect((await reread()).state).toBe('claimed');
  });
});

describe('backOff()', () => {
  const counts = { waited: null, failures: 1 };

  test('publishes the batch after its pause, and keeps what it waits for', async () => {
    await backOff(bench.context, batch, message, away, counts, never);
    const wait = (await bench.context.store.findWait(batch.id))!;
    expect(wait).toMatchObject({ since: noon, reason: 'storage unavailable', tries: {}, failures: 1 });
    expect(wait.until).toBeGreaterThanOrEqual(noon + 1_000);
    expect(wait.until).toBeLessThanOrEqual(noon + 2_000);
    expect(await reread()).toMatchObject({ state: 'queued', stalledClaims: 0, notBefore: wait.until });
    await bench.clock.pass(wait.until - noon - 1);
    expect(published).toEqual([]);
    await bench.clock.pass(1);
    expect(published).toEqual([{ ...message, attempt: 1 }]);
  });

  test('keeps the tries so far, and counts a fault of the program as a claim without progress', async () => {
    const waited = { batchId: batch.id, jobId: batch.jobId, since: 1, until: 2, reason: 'x', failures: 2 };
    const faults = { waited: { ...waited, tries: { 1: 4 } }, failures: 3 };
    await backOff(bench.context, batch, message, new Fault('internal', 'a bug'), faults, never);
    expect(await bench.context.store.findWait(batch.id)).toMatchObject({
      since: noon,
      reason: 'internal error',
      tries: { 1: 4 },
      failures: 3,
    });
    expect((await reread()).stalledClaims).toBe(1);
  });

  test('does nothing when the claim was lost or the store is away', async () => {
    await backOff(bench.context, late(), message, away, counts, never);
    await backOff(withoutRelease(), batch, message, away, counts, never);
    await bench.clock.pass(10_000);
    expect(published).toEqual([]);
    expect(await bench.context.store.findWait(batch.id)).toBeNull();
  });
});

describe('deferUntil()', () => {
  const until = noon + 5_000;
  const wait = () => ({
    batchId: batch.id,
    jobId: batch.jobId,
    since: noon,
    until,
    reason: 'mkta/sg: blocked',
    tries: {},
    failures: 0,
  });

  test('keeps the wait, and publishes the batch at its end', async () => {
    await deferUntil(bench.context, batch, message, wait(), never);
    expect(await bench.context.store.findWait(batch.id)).toEqual(wait());
    expect(await reread()).toMatchObject({ state: 'queued', notBefore: until });
    await bench.clock.pass(4_999);
    expect(published).toEqual([]);
    await bench.clock.pass(1);
    expect(published).toEqual([{ ...message, attempt: 1 }]);
  });

  test('publishes nothing when the claim was lost', async () => {
    await deferUntil(bench.context, late(), message, wait(), never);
    await bench.clock.pass(10_000);
    expect(published).toEqual([]);
  });
});

describe('publishLater()', () => {
  test('publishes nothing after an abort', async () => {
    const stopping = new AbortController();
    publishLater(bench.context, message, 1_000, stopping.signal);
    stopping.abort();
    await bench.clock.pass(2_000);
    expect(published).toEqual([]);
  });
});
