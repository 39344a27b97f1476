import { expect, test } from 'vitest';
import { newId } from '../../base/id.ts';
import { inFlightOf, unqueue } from '../batch-store.ts';
import type { QueuedBatch } from '../batches.ts';
import { excuseClaim, excuseEarlierClaim, releaseBatch, updateClaim } from '../claims.ts';
import {
  aBatch,
  aFailure,
  aJob,
  aSuccess,
  aTime,
  storeClaimedBatch,
  storeJob,
  units,
} from './samples.ts';
import { collect, type OpenStores, runConcurrently, setUpStores } from './stores.ts';

/** Queueing, claiming, renewing, and releasing. */
export function claimConformance(open: OpenStores): void {
  const stores = setUpStores(open);

  test('waiting batches are queued lowest first, up to the limit', async () => {
    const { job, batches } = await storeJob(stores.store, 5, { market: 'mktb', lane: 'single' });
    const references = await stores.store.batches.queue(job.id, 2, aTime);
    expect(references).toEqual(
      batches.slice(0, 2).map(({ id, region }) => ({
        jobId: job.id,
        batchId: id,
        market: 'mktb',
        region,
        lane: 'single',
        units: 2,
        attempt: 0,
        unitKey: null,
      })),
    );
    const listed = await stores.store.batches.find({ jobId: job.id });
    expect(listed.map(({ state, queuedAt }) => [state, queuedAt])).toEqual([
      ['queued', aTime],
      ['queued', aTime],
      ['waiting', null],
      ['waiting', null],
      ['waiting', null],
    ]);
    expect(await inFlightOf(stores.store, job.id, aTime)).toMatchObject({
      batches: 2,
      deferred: new Map(),
    });
    expect(await stores.store.batches.queue(job.id, 0, aTime)).toEqual([]);
    expect(await stores.store.batches.queue(job.id, 10, aTime)).toHaveLength(3);
    expect(await stores.store.batches.queue(job.id, 10, aTime)).toEqual([]);
    expect(await stores.store.batches.queue(newId(), 10, aTime)).toEqual([]);
  });

  test('a queued batch of one unit names the key of the unit', async () => {
    const job = aJob({ totalBatches: 2, totalUnits: 3 });
    const batches = [units(1), units(2)].map((its, seq) => aBatch(job, seq, its));
    await stores.store.jobs.create(job, batches);
    const keys = (queued: QueuedBatch[]) => queued.map(({ unitKey }) => unitKey);
    const { key } = batches[0]!.units[0]!;
    expect(keys(await stores.store.batches.queue(job.id, 2, aTime))).toEqual([key, null]);
    const stalled = await stores.store.batches.requeueStalled(aTime + 1, aTime + 1, 100);
    const stalledKeys = keys(stalled.filter(({ jobId }) => jobId === job.id));
    // Batches that were queued at the same time have no order.
    expect(new Set(stalledKeys)).toEqual(new Set([key, null]));
    await stores.store.batches.fail(job.id, ['queued'], aFailure, aTime);
  });

  test('waiting batches of different attempts are queued together', async () => {
    const { job, batches } = await storeJob(stores.store, 4);
    const queuedFirst = await stores.store.batches.queue(job.id, 2, aTime);
    await stores.store.batches.claim(batches[1]!, 0, aTime, aTime + 10);
    await releaseBatch(stores.store, { ...batches[1]!, attempt: 1 }, aTime);
    await unqueue(
      stores.store,
      queuedFirst.map((reference, attempt) => ({ ...reference, attempt })),
      aTime,
    );
    const queued = await stores.store.batches.queue(job.id, 10, aTime);
    expect(new Map(queued.map(({ batchId, attempt }) => [batchId, attempt]))).toEqual(
      new Map(batches.map(({ id }, seq) => [id, seq === 1 ? 1 : 0])),
    );
  });

  test('batches of one region are queued separately', async () => {
    const job = aJob({ totalBatches: 6, totalUnits: 12 });
    const regions = ['sg', 'id', 'sg', 'id', 'sg', ''];
    const batches = regions.map((region, seq) => aBatch(job, seq, units(2), { region }));
    await stores.store.jobs.create(job, batches);
    const queued = async (limit: number, region?: string) =>
      (await stores.store.batches.queue(job.id, limit, aTime, region)).map(({ batchId }) =>
        batches.findIndex(({ id }) => id === batchId),
      );
    expect(await queued(2, 'sg')).toEqual([0, 2]);
    expect(await queued(1, 'id')).toEqual([1]);
    expect(await queued(9, 'th')).toEqual([]);
    expect(await queued(9, '')).toEqual([5]);
    expect(await queued(9, 'sg')).toEqual([4]);
    expect(await queued(9)).toEqual([3]);
  });

  test('concurrent callers queue different batches', async () => {
    const { job, batches } = await storeJob(stores.store, 30);
    const given = (
      await runConcurrently(8, stores, (store) => store.batches.queue(job.id, 5, aTime))
    ).flat();
    expect(new Set(given.map(({ batchId }) => batchId)).size).toBe(given.length);
    const rest = await stores.store.batches.queue(job.id, 100, aTime);
    const all = [...given, ...rest].map(({ batchId }) => batchId);
    expect(all.toSorted()).toEqual(batches.map(({ id }) => id).toSorted());
  });

  test('a claim increments the attempt and returns the whole batch', async () => {
    const { job, batches } = await storeJob(stores.store, 1);
    await stores.store.batches.queue(job.id, 1, aTime);
    const claimed = await stores.other.batches.claim(batches[0]!, 0, aTime, aTime + 500);
    const expected = {
      ...batches[0],
      state: 'claimed',
      attempt: 1,
      stalledClaims: 1,
      queuedAt: aTime,
      publishedAt: aTime,
      leaseUntil: aTime + 500,
    };
    expect(claimed).toEqual({ ...expected, dueAt: aTime, isInterrupted: false });
    expect(await collect(stores.store.batches.read(job.id))).toEqual([expected]);
    expect(await inFlightOf(stores.store, job.id, aTime)).toMatchObject({
      batches: 1,
      deferred: new Map(),
    });
    const unknown = { id: newId(), jobId: job.id };
    expect(await stores.store.batches.claim(unknown, 0, aTime, aTime + 1)).toBeNull();
  });

  test('a batch is claimed and written under its own job only', async () => {
    const { job, batches } = await storeJob(stores.store, 1);
    await stores.store.batches.queue(job.id, 1, aTime);
    const { id } = batches[0]!;
    const elsewhere = { id, jobId: newId() };
    expect(await stores.store.batches.claim(elsewhere, 0, aTime, aTime + 9)).toBeNull();
    await stores.store.batches.claim({ id, jobId: job.id }, 0, aTime, aTime + 9);
    const outcomes = { 0: aSuccess(), 1: aSuccess() };
    const end = { file: null, at: aTime };
    expect(
      await stores.store.batches.recordOutcomes(elsewhere, 1, { outcomes: { 0: aSuccess() } }),
    ).toBe(false);
    expect(await stores.store.batches.recordOutcomes(elsewhere, 1, { outcomes, end })).toBe(false);
    expect(await releaseBatch(stores.store, { ...elsewhere, attempt: 1 }, aTime)).toBe(false);
  });

  test('grants one of concurrent claims of a batch', async () => {
    const { job, batches } = await storeJob(stores.store, 1);
    await stores.store.batches.queue(job.id, 1, aTime);
    const claims = await runConcurrently(50, stores, (store) =>
      store.batches.claim(batches[0]!, 0, aTime, aTime + 500),
    );
    expect(claims.filter((claim) => claim !== null)).toHaveLength(1);
  });

  test('a valid claim cannot be taken over; one of many takes over an expired one', async () => {
    const batch = await storeClaimedBatch(stores.store, 2);
    expect(await stores.store.batches.claim(batch, 1, aTime + 60_000, aTime + 70_000)).toBeNull();
    const claims = await runConcurrently(20, stores, (store) =>
      store.batches.claim(batch, 0, aTime + 60_001, aTime + 120_000),
    );
    const won = claims.filter((claim) => claim !== null);
    expect(won).toHaveLength(1);
    expect(won[0]).toMatchObject({ attempt: 2, leaseUntil: aTime + 120_000 });
  });

  test('a message of another attempt claims nothing', async () => {
    const batch = await storeClaimedBatch(stores.store, 2);
    await releaseBatch(stores.store, { ...batch, attempt: 1 }, aTime);
    expect(await stores.store.batches.claim(batch, 0, aTime, aTime + 1)).toBeNull();
    expect(await stores.store.batches.claim(batch, 2, aTime, aTime + 1)).toBeNull();
    expect(await stores.store.batches.claim(batch, 1, aTime, aTime + 1)).toMatchObject({
      attempt: 2,
    });
  });

  test('a done batch cannot be claimed', async () => {
    const batch = await storeClaimedBatch(stores.store, 1);
    await stores.store.batches.recordOutcomes(batch, 1, {
      outcomes: { 0: aFailure },
      end: { file: null, at: aTime },
    });
    expect(await stores.store.batches.claim(batch, 1, aTime + 99_999, aTime + 999_999)).toBeNull();
  });

  test('a claim is renewed only by its own attempt', async () => {
    const batch = await storeClaimedBatch(stores.store, 2);
    expect(
      await updateClaim(stores.other, { ...batch, attempt: 1 }, { leaseUntil: aTime + 90_000 }),
    ).toBe(true);
    expect(
      await updateClaim(stores.store, { ...batch, attempt: 0 }, { leaseUntil: aTime + 99_000 }),
    ).toBe(false);
    expect((await stores.store.batches.find({ jobId: batch.jobId }))[0]?.leaseUntil).toBe(
      aTime + 90_000,
    );
    await releaseBatch(stores.store, { ...batch, attempt: 1 }, aTime);
    expect(
      await updateClaim(stores.store, { ...batch, attempt: 1 }, { leaseUntil: aTime + 99_000 }),
    ).toBe(false);
  });

  test('a released batch is queued, keeps its outcomes, and is deferred until notBefore', async () => {
    const batch = await storeClaimedBatch(stores.store, 2);
    await stores.store.batches.recordOutcomes(batch, 1, { outcomes: { 1: aSuccess() } });
    expect(await releaseBatch(stores.store, { ...batch, attempt: 0 }, aTime + 5)).toBe(false);
    expect(await releaseBatch(stores.other, { ...batch, attempt: 1 }, aTime + 5)).toBe(true);
    expect(await releaseBatch(stores.store, { ...batch, attempt: 1 }, aTime + 6)).toBe(false);
    expect((await collect(stores.store.batches.read(batch.jobId)))[0]).toEqual({
      ...batch,
      state: 'queued',
      leaseUntil: null,
      notBefore: aTime + 5,
      outcomes: { 1: aSuccess() },
      success: 1,
      stalledClaims: 0,
    });
    const claimed = await stores.store.batches.claim(batch, 1, aTime, aTime + 1);
    expect(claimed).toMatchObject({ attempt: 2, outcomes: { 1: aSuccess() }, notBefore: null });
  });

  test('a claim tells whether the one before ended without a release', async () => {
    const batch = await storeClaimedBatch(stores.store, 2);
    const { batches } = stores.store;
    const now = aTime + 60_001;
    expect(await batches.claim(batch, 1, now, now + 10)).toMatchObject({ isInterrupted: true });
    await batches.requeueStalled(now + 11, 0, 100);
    const requeued = await batches.claim(batch, 2, now + 12, now + 20);
    expect(requeued).toMatchObject({ attempt: 3, stalledClaims: 3, isInterrupted: true });
    await releaseBatch(stores.store, { ...batch, attempt: 3 }, now + 12);
    const released = await batches.claim(batch, 3, now + 12, now + 20);
    expect(released).toMatchObject({ attempt: 4, stalledClaims: 3, isInterrupted: false });
  });

  test('an earlier claim with progress does not count, and the current one does', async () => {
    const batch = await storeClaimedBatch(stores.store, 2);
    const { batches } = stores.store;
    const now = aTime + 60_001;
    await batches.claim(batch, 1, now, now + 10);
    expect(await excuseEarlierClaim(stores.store, { ...batch, attempt: 1 })).toBe(false);
    const current = { ...batch, attempt: 2 };
    expect(await excuseEarlierClaim(stores.other, current)).toBe(true);
    expect(await excuseEarlierClaim(stores.store, current)).toBe(false);
    expect(await batches.pick({ id: batch.id }, ['stalledClaims'])).toMatchObject({
      stalledClaims: 1,
    });
  });

  test('a claim that its living worker lost does not count as one without progress', async () => {
    const batch = await storeClaimedBatch(stores.store, 2);
    const lost = { ...batch, attempt: 1 };
    const stalled = async () =>
      (await stores.store.batches.pick({ id: batch.id }, ['stalledClaims']))?.stalledClaims;
    const now = aTime + 60_001;
    expect(await stores.store.batches.claim(batch, 1, now, now + 10)).toMatchObject({
      stalledClaims: 2,
    });
    await excuseClaim(stores.other, lost);
    expect(await stalled()).toBe(1);
    await stores.store.batches.requeueStalled(now + 11, 0, 100);
    await excuseClaim(stores.store, { ...lost, attempt: 3 });
    expect(await stalled()).toBe(1);
    await excuseClaim(stores.store, { ...lost, attempt: 2 });
    expect(await stalled()).toBe(0);
    await excuseClaim(stores.store, lost);
    expect(await stalled()).toBe(0);
  });
}
