import { expect, test } from 'vitest';
import { newId } from '../../base/id.ts';
import { unqueue } from '../batch-store.ts';
import { batchKey } from '../batches.ts';
import { releaseBatch } from '../claims.ts';
import { aFailure, aTime, storeJob } from './samples.ts';
import { type OpenStores, runConcurrently, setUpStores } from './stores.ts';

/**
 * requeueExpired() and republishQueued(). Each test uses its own times, so that it sees no batch of
 * another test.
 */
export function stalledConformance(open: OpenStores): void {
  const stores = setUpStores(open);

  test('batches published before a time are returned once, and are due since they were queued', async () => {
    const now = aTime;
    const { job, batches } = await storeJob(stores.store, 3, { lane: 'single' });
    await stores.store.batches.queue(job.id, 1, now - 100);
    await stores.store.batches.queue(job.id, 1, now - 50);
    const expected = [
      {
        jobId: job.id,
        batchId: batches[0]!.id,
        market: 'mkta',
        region: batches[0]!.region,
        lane: 'single',
        units: 2,
        attempt: 0,
        unitKey: null,
      },
    ];
    expect(await stores.store.batches.requeueStalled(now, now - 50, 10)).toEqual(expected);
    expect(await stores.store.batches.requeueStalled(now, now - 50, 10)).toEqual([]);
    const listed = await stores.store.batches.find({ jobId: job.id });
    expect(
      listed.map(({ state, queuedAt, publishedAt }) => [state, queuedAt, publishedAt]),
    ).toEqual([
      ['queued', now - 100, now],
      ['queued', now - 50, now - 50],
      ['waiting', null, null],
    ]);
    expect(await stores.store.batches.claim(batches[0]!, 0, now, now + 10)).toMatchObject({
      dueAt: now - 100,
    });
    await stores.store.batches.fail(job.id, ['queued', 'waiting', 'claimed'], aFailure, aTime);
  });

  test('expired claims are requeued however many batches are queued, the longest expired first', async () => {
    const now = aTime + 5_000;
    const { job, batches } = await storeJob(stores.store, 6);
    await stores.store.batches.queue(job.id, 6, now - 900);
    for (const [at, until] of [
      [4, now - 100],
      [5, now - 200],
    ] as const)
      await stores.store.batches.claim(batches[at]!, 0, now - 500, until);
    const requeued = async () =>
      (await stores.store.batches.requeueStalled(now, 0, 1)).map(({ batchId }) =>
        batches.findIndex(({ id }) => id === batchId),
      );
    expect([await requeued(), await requeued(), await requeued()]).toEqual([[5], [4], []]);
    const listed = await stores.store.batches.find({ jobId: job.id });
    expect(listed[5]).toMatchObject({
      state: 'queued',
      queuedAt: now,
      publishedAt: now,
      leaseUntil: null,
    });
    await stores.store.batches.fail(job.id, ['queued'], aFailure, aTime);
  });

  test('an expired claim is requeued, and its worker is superseded', async () => {
    const now = aTime + 10_000;
    const { job, batches } = await storeJob(stores.store, 2);
    await stores.store.batches.queue(job.id, 2, now);
    await stores.store.batches.claim(batches[0]!, 0, now, now + 10);
    await stores.store.batches.claim(batches[1]!, 0, now, now + 11);
    const taken = await stores.store.batches.requeueStalled(now + 11, 0, 10);
    expect(taken).toEqual([
      {
        jobId: job.id,
        batchId: batches[0]!.id,
        market: 'mkta',
        region: batches[0]!.region,
        lane: 'bulk',
        units: 2,
        attempt: 1,
        unitKey: null,
      },
    ]);
    const late = { 0: aFailure, 1: aFailure };
    expect(
      await stores.store.batches.recordOutcomes(batches[0]!, 1, {
        outcomes: late,
        end: { file: null, at: aTime },
      }),
    ).toBe(false);
    expect(await stores.store.batches.claim(batches[0]!, 1, now, now + 10)).toMatchObject({
      attempt: 2,
    });
    await stores.store.batches.fail(job.id, ['claimed'], aFailure, aTime);
  });

  test('a released batch is skipped until its notBefore', async () => {
    const now = aTime + 20_000;
    const { job, batches } = await storeJob(stores.store, 1);
    await stores.store.batches.queue(job.id, 1, now);
    await stores.store.batches.claim(batches[0]!, 0, now, now + 10);
    await releaseBatch(stores.store, { ...batches[0]!, attempt: 1 }, now + 500);
    expect(await stores.store.batches.requeueStalled(now + 499, now + 400, 10)).toEqual([]);
    expect(await stores.store.batches.requeueStalled(now + 500, now + 400, 10)).toHaveLength(1);
    await stores.store.batches.fail(job.id, ['queued'], aFailure, aTime);
  });

  test('a batch that was claimed while waiting and then released is returned', async () => {
    const now = aTime + 22_000;
    const { job, batches } = await storeJob(stores.store, 1);
    // Its publish was rejected, but the message arrived.
    await unqueue(stores.store, await stores.store.batches.queue(job.id, 1, now), now);
    expect(await stores.store.batches.claim(batches[0]!, 0, now, now + 10)).toMatchObject({
      attempt: 1,
    });
    await releaseBatch(stores.store, { ...batches[0]!, attempt: 1 }, now + 500);
    expect(await stores.store.batches.requeueStalled(now + 500, now + 400, 10)).toHaveLength(1);
    await stores.store.batches.fail(job.id, ['queued'], aFailure, aTime);
  });

  test('unpublished batches wait again, unless they were claimed meanwhile', async () => {
    const now = aTime + 25_000;
    const { job, batches } = await storeJob(stores.store, 4);
    const queued = await stores.store.batches.queue(job.id, 3, now);
    await stores.store.batches.claim(batches[1]!, 0, now, now + 10);
    const older = { ...queued[2]!, attempt: 7 };
    await unqueue(stores.store, [queued[0]!, queued[1]!, older], now + 1);
    await unqueue(stores.store, [], now + 1);
    const listed = await stores.store.batches.find({ jobId: job.id });
    expect(listed.map(({ state, queuedAt }) => [state, queuedAt])).toEqual([
      ['waiting', null],
      ['claimed', now],
      ['queued', now],
      ['waiting', null],
    ]);
    // Batches without a delay are not blocked by it.
    expect(await stores.store.batches.queue(job.id, 9, now)).toMatchObject([
      { batchId: batches[3]!.id },
    ]);
    expect(await stores.store.batches.queue(job.id, 9, now, 'sg')).toEqual([]);
    expect(await stores.store.batches.queue(job.id, 9, now + 1)).toEqual([queued[0]]);
    expect((await stores.store.batches.find({ jobId: job.id }))[0]).toMatchObject({
      queuedAt: now + 1,
      notBefore: null,
    });
    // A batch that was published although its publish was reported as failed stays queued.
    await unqueue(stores.store, [queued[0]!], now + 1);
    expect(await stores.store.batches.claim(batches[0]!, 0, now, now + 10)).toMatchObject({
      attempt: 1,
    });
    await stores.store.batches.fail(job.id, ['waiting', 'queued', 'claimed'], aFailure, aTime);
  });

  test('stalled batches are returned for a range of jobs', async () => {
    const now = aTime + 40_000;
    const boundary = '80000000';
    const jobs: string[] = [];
    for (const first of ['1', '9']) {
      const { job } = await storeJob(stores.store, 2, { id: first + newId().slice(1) });
      const [queued] = await stores.store.batches.queue(job.id, 2, now - 10);
      await stores.store.batches.claim(batchKey(queued!), 0, now - 10, now - 1);
      jobs.push(job.id);
    }
    const requeued = async (range?: { atLeast?: string; below?: string }) => {
      const found = await stores.store.batches.requeueStalled(now, now, 100, range);
      return found.map(({ jobId }) => jobs.indexOf(jobId)).filter((index) => index >= 0);
    };
    expect(await requeued({ atLeast: '20000000', below: boundary })).toEqual([]);
    expect(await requeued({ atLeast: boundary })).toEqual([1, 1]);
    expect(await requeued({ below: boundary })).toEqual([0, 0]);
    expect(await requeued()).toEqual([]);
    for (const id of jobs) await stores.store.batches.fail(id, ['queued'], aFailure, aTime);
  });

  test('concurrent callers never get the same batch, and the limit holds', async () => {
    const now = aTime + 30_000;
    const { job } = await storeJob(stores.store, 40);
    await stores.store.batches.queue(job.id, 40, now - 10);
    const given = await runConcurrently(6, stores, (store) =>
      store.batches.requeueStalled(now, now, 9),
    );
    expect(Math.max(...given.map(({ length }) => length))).toBeLessThanOrEqual(9);
    const ids = given.flat().map(({ batchId }) => batchId);
    expect(new Set(ids).size).toBe(ids.length);
    const rest = await stores.store.batches.requeueStalled(now, now, 100);
    expect(new Set([...ids, ...rest.map(({ batchId }) => batchId)]).size).toBe(40);
    expect(ids.length + rest.length).toBe(40);
    expect(await stores.store.batches.requeueStalled(now, now, 0)).toEqual([]);
  });
}
