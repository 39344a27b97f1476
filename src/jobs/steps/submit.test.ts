import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import {
  grant,
  type JobFixture,
  minFreeBytes,
  openJobFixture,
  variantSoldRequest,
} from '../../../test/support/jobs/jobs.ts';
import { Fault } from '../../contract/fault.ts';
import { openLocalQueue } from '../../queue/local/open.ts';
import type { Queue } from '../../queue/queue.ts';
import type { BatchReference } from '../../store/batches.ts';
import { replaceMethods } from '../../store/wrap.ts';
import { sweep } from '../../sweep/sweep.ts';

let fixture: JobFixture;
beforeEach(async () => {
  fixture = await openJobFixture({ approval: false });
});
afterEach(() => fixture.close());

const page = { region: 'sg', itemId: '30000000001', shopId: '77' };
const jobsOf = async (userId: string) =>
  (await fixture.context.store.jobs.list({ userId }, { limit: 100 })).items;
const ledgerOf = async (userId: string) =>
  (await fixture.context.store.ledger.list({ userId }, { limit: 100 })).items.map(
    ({ type, amount }) => [type, amount],
  );

/**
 * Replaces the fixture's queue by one that accepts nothing; returns a function that restores it.
 */
async function takeQueueAway(): Promise<() => void> {
  const { context } = fixture;
  const there = context.queue;
  const closed: Queue = openLocalQueue({ clock: fixture.clock, log: context.log });
  await closed.close();
  context.queue = closed;
  return () => {
    context.queue = there;
  };
}

/**
 * A queue that responds once and is then lost. `arrives`: whether the message without a response
 * arrives.
 */
function goingAway(
  queue: Queue,
  arrives: (message: BatchReference) => Promise<unknown> = async () => {},
): Queue {
  let isAway = false;
  const lost = () => new Fault('unavailable', 'The broker is gone.');
  return {
    ...queue,
    async publish(message) {
      isAway = true;
      await arrives(message);
      throw lost();
    },
    async ping() {
      if (isAway) throw lost();
    },
  };
}

describe('submitting while the queue does not respond', () => {
  test('succeeds, and refunds everything in the response', async () => {
    const putBack = await takeQueueAway();
    const userId = await fixture.createUser(1_000);
    const response = await fixture.submit(userId, 'SubmitVariantSold', variantSoldRequest(60));
    expect(response).toMatchObject({
      status: 'initializing',
      cost: 600,
      refunded: 600,
      totalBatches: 2,
    });
    expect(await fixture.balance(userId)).toBe(1_000);
    expect(await fixture.context.store.jobs.get(response.jobId)).toMatchObject({
      state: 'failed',
      refunded: 600,
    });
    const shown = await fixture.read(userId, 'RetrieveVariantSold', { jobId: response.jobId });
    expect(shown).toMatchObject({
      status: 'failed',
      batches: [{ status: 'FAILED' }, { status: 'FAILED' }],
    });
    expect((await ledgerOf(userId)).sort()).toEqual([
      ['charge', -600],
      ['grant', 1_000],
      ['refund', 600],
    ]);
    putBack();
    expect(await fixture.problems()).toEqual([]);
  });

  test('one rejected publish of several only delays its batch, which the sweep queues', async () => {
    const userId = await fixture.createUser(1_000);
    const { queue } = fixture.context;
    let published = 0;
    let isAway = true;
    fixture.context.queue = {
      ...queue,
      publish: async (message) => {
        published += 1;
        if (published === 2) throw new Fault('unavailable', 'The stream is full.');
        return queue.publish(message);
      },
      ping: () =>
        isAway ? Promise.reject(new Fault('unavailable', 'The broker is gone.')) : queue.ping(),
    };
    const response = await fixture.submit(userId, 'SubmitVariantSold', variantSoldRequest(100));
    expect(response).toMatchObject({ cost: 1_000, refunded: 0 });
    const states = async () =>
      (await fixture.context.store.batches.find({ jobId: response.jobId })).map(
        ({ state }) => state,
      );
    expect(await states()).toEqual(['queued', 'waiting']);
    isAway = false;
    await fixture.startWorker();
    await fixture.eventually('the first batch is done', async () => (await states())[0] === 'done');
    await sweep(fixture.context);
    expect(published).toBe(2);
    await fixture.clock.advance(5_000);
    await sweep(fixture.context);
    expect(published).toBe(3);
    expect(await fixture.waitForState(response.jobId, 'completed')).toMatchObject({ refunded: 0 });
    expect(await fixture.problems()).toEqual([]);
  });

  test('batches also wait if a responding queue rejects every publish', async () => {
    const userId = await fixture.createUser(1_000);
    const { queue } = fixture.context;
    let isFull = true;
    fixture.context.queue = {
      ...queue,
      publish: async (message) => {
        if (isFull) throw new Fault('unavailable', 'The stream is full.');
        return queue.publish(message);
      },
    };
    const bulk = await fixture.submit(userId, 'SubmitVariantSold', variantSoldRequest(60));
    expect(bulk).toMatchObject({ cost: 600, refunded: 0 });
    expect(await fixture.submit(userId, 'SubmitGetPc', page)).toMatchObject({ cost: 8 });
    isFull = false;
    await fixture.startWorker();
    await fixture.clock.advance(5_000);
    await sweep(fixture.context);
    for (const { id } of await jobsOf(userId)) await fixture.waitForState(id, 'completed');
    expect(await fixture.balance(userId)).toBe(392);
    expect(await fixture.problems()).toEqual([]);
  });

  test('kinds that reject instead return unavailable, charge nothing, and leave no job', async () => {
    const putBack = await takeQueueAway();
    const userId = await fixture.createUser(8);
    const refused = fixture.submit(userId, 'SubmitGetPc', page, 'key');
    await expect(refused).rejects.toMatchObject({ code: 'unavailable' });
    expect(await jobsOf(userId)).toEqual([]);
    expect(await ledgerOf(userId)).toEqual([['grant', 8]]);
    // Nothing was created, so the same key works as soon as the queue does.
    putBack();
    expect(await fixture.submit(userId, 'SubmitGetPc', page, 'key')).toMatchObject({ cost: 8 });
    expect(await fixture.balance(userId)).toBe(0);
  });

  test('kinds that reject refund everything if the queue fails halfway', async () => {
    const userId = await fixture.createUser(8);
    const { queue } = fixture.context;
    fixture.context.queue = goingAway(queue);
    const refused = fixture.submit(userId, 'SubmitGetPc', page, 'key');
    await expect(refused).rejects.toMatchObject({ code: 'unavailable' });
    expect(await fixture.balance(userId)).toBe(8);
    fixture.context.queue = queue;
    expect(await fixture.submit(userId, 'SubmitGetPc', page, 'key')).toMatchObject({ cost: 8 });
    expect(await fixture.balance(userId)).toBe(0);
    await fixture.startWorker();
    const states = async () => (await jobsOf(userId)).map(({ state }) => state);
    await fixture.eventually('the second task is done', async () =>
      (await states()).includes('completed'),
    );
    expect((await states()).sort()).toEqual(['completed', 'failed']);
    expect(await fixture.problems()).toEqual([]);
  });

  test('kinds that reject never run the job, even if a message arrived', async () => {
    const userId = await fixture.createUser(8);
    const { queue } = fixture.context;
    fixture.context.queue = goingAway(queue, (message) => queue.publish(message));
    await expect(fixture.submit(userId, 'SubmitGetPc', page)).rejects.toMatchObject({
      code: 'unavailable',
    });
    expect(await fixture.balance(userId)).toBe(8);
    fixture.context.queue = queue;
    await fixture.startWorker();
    await fixture.clock.advance(60_000);
    await sweep(fixture.context);
    expect(fixture.requestedItems()).toEqual([]);
    expect((await jobsOf(userId)).map(({ state }) => state)).toEqual(['failed']);
    expect(await fixture.problems()).toEqual([]);
  });

  test('kinds that reject accept the job if a worker already has the batch', async () => {
    const userId = await fixture.createUser(8);
    const { queue, store } = fixture.context;
    const held = Promise.withResolvers<void>();
    fixture.wrapFetch((fetch) => async (request) => {
      await held.promise;
      return fetch(request);
    });
    await fixture.startWorker();
    fixture.context.queue = goingAway(queue, async (message) => {
      await queue.publish(message);
      await fixture.eventually('it is claimed', async () => {
        const [batch] = await store.batches.find({ jobId: message.jobId });
        return batch!.state === 'claimed';
      });
    });
    expect(await fixture.submit(userId, 'SubmitGetPc', page)).toMatchObject({ cost: 8 });
    held.resolve();
    const [job] = await jobsOf(userId);
    expect(await fixture.waitForState(job!.id, 'completed')).toMatchObject({ refunded: 0 });
    expect(await fixture.balance(userId)).toBe(0);
    expect(await fixture.problems()).toEqual([]);
  });
});

describe('submitting while the disk is almost full', () => {
  const body = variantSoldRequest(3);

  test('is rejected with a retry delay, costs nothing, and leaves its key free', async () => {
    const userId = await fixture.createUser(100);
    fixture.setFreeBytes(minFreeBytes - 1);
    const refused = fixture.submit(userId, 'SubmitVariantSold', body, 'key');
    await expect(refused).rejects.toMatchObject({
      code: 'disk_full',
      message: expect.stringContaining('almost full'),
      retryAfterMs: 30_000,
    });
    expect(await jobsOf(userId)).toEqual([]);
    expect(await fixture.balance(userId)).toBe(100);
    fixture.setFreeBytes(2 * minFreeBytes);
    await fixture.clock.advance(5_000);
    expect(await fixture.submit(userId, 'SubmitVariantSold', body, 'key')).toMatchObject({
      cost: 30,
    });
  });

  test('returns the job of an earlier submission under the same key', async () => {
    const userId = await fixture.createUser(100);
    const first = await fixture.submit(userId, 'SubmitVariantSold', body, 'key');
    fixture.setFreeBytes(0);
    await fixture.clock.advance(5_000);
    expect(await fixture.submit(userId, 'SubmitVariantSold', body, 'key')).toEqual(first);
  });
});

describe('submitting without sufficient credits', () => {
  test('returns the shortfall, leaves no job, and frees its key', async () => {
    const userId = await fixture.createUser(25);
    const submit = () => fixture.submit(userId, 'SubmitVariantSold', variantSoldRequest(3), 'key');
    await expect(submit()).rejects.toMatchObject({
      code: 'insufficient_credits',
      quota: { required: 30, current: 25 },
    });
    expect(await jobsOf(userId)).toEqual([]);
    await grant(fixture.context, userId, 5);
    expect(await submit()).toMatchObject({ cost: 30 });
    expect(await fixture.balance(userId)).toBe(0);
  });

  test('leaves no job and frees its key if the balance changes just before the charge', async () => {
    const userId = await fixture.createUser(30);
    const { store } = fixture.context;
    const createJob: typeof store.jobs.create = async (...job) => {
      await store.jobs.create(...job);
      await grant(fixture.context, userId, -1);
    };
    fixture.context.store = replaceMethods(store, { jobs: { create: createJob } });
    const submit = () => fixture.submit(userId, 'SubmitVariantSold', variantSoldRequest(3), 'key');
    await expect(submit()).rejects.toMatchObject({ code: 'insufficient_credits' });
    expect(await jobsOf(userId)).toEqual([]);
    fixture.context.store = store;
    await grant(fixture.context, userId, 1);
    expect(await submit()).toMatchObject({ cost: 30 });
    expect(await fixture.problems()).toEqual([]);
  });

  test('frees its key for another request', async () => {
    const userId = await fixture.createUser(20);
    const submit = (items: number) =>
      fixture.submit(userId, 'SubmitVariantSold', variantSoldRequest(items), 'key');
    await expect(submit(3)).rejects.toMatchObject({ code: 'insufficient_credits' });
    expect(await submit(2)).toMatchObject({ cost: 20 });
  });

  test('is rejected before approval, although the charge happens at approval', async () => {
    fixture.context.settings.approval = true;
    const userId = await fixture.createUser(29);
    const short = fixture.submit(userId, 'SubmitVariantSold', variantSoldRequest(3));
    await expect(short).rejects.toMatchObject({ code: 'insufficient_credits' });
    expect(await jobsOf(userId)).toEqual([]);
  });
});

describe('max_credits', () => {
  const maxCredits = 29;

  test('refuses a job that costs more; nothing is charged or created, and the key is free', async () => {
    const userId = await fixture.createUser(100);
    const submit = (options: { maxCredits: number }) =>
      fixture.submit(userId, 'SubmitVariantSold', variantSoldRequest(3), 'key', options);
    await expect(submit({ maxCredits })).rejects.toMatchObject({
      code: 'max_credits_exceeded',
      quota: { required: 30, current: 100 },
      message: 'max_credits: The work costs 30 credits, more than the maximum of 29.',
    });
    expect(await jobsOf(userId)).toEqual([]);
    expect(await ledgerOf(userId)).toEqual([['grant', 100]]);
    const { jobId } = await submit({ maxCredits: 30 });
    expect(await fixture.context.store.jobs.get(jobId)).toMatchObject({
      cost: 30,
      options: { maxCredits: 30 },
    });
  });

  test('is checked before the balance, which another key may cover', async () => {
    const userId = await fixture.createUser(0);
    const submit = fixture.submit(userId, 'SubmitVariantSold', variantSoldRequest(3), undefined, {
      maxCredits,
    });
    await expect(submit).rejects.toMatchObject({ code: 'max_credits_exceeded' });
  });

  test('belongs to the request of an idempotency key', async () => {
    const userId = await fixture.createUser(100);
    const submit = (options?: { maxCredits: number }) =>
      fixture.submit(userId, 'SubmitVariantSold', variantSoldRequest(3), 'key', options);
    const first = await submit({ maxCredits: 30 });
    expect(await submit({ maxCredits: 30 })).toEqual(first);
    await expect(submit({ maxCredits: 31 })).rejects.toMatchObject({ code: 'conflict' });
    await expect(submit()).rejects.toMatchObject({ code: 'conflict' });
  });
});

describe('an idempotency key', () => {
  const body = variantSoldRequest(3);

  test('returns the first response for 24 hours, and charges once', async () => {
    const userId = await fixture.createUser(100);
    const first = await fixture.submit(userId, 'SubmitVariantSold', body, 'key');
    await fixture.clock.advance(24 * 3_600_000 - 1_000);
    expect(await fixture.submit(userId, 'SubmitVariantSold', body, 'key')).toEqual(first);
    expect(await fixture.balance(userId)).toBe(70);
    await fixture.clock.advance(2_000);
    const next = await fixture.submit(userId, 'SubmitVariantSold', body, 'key');
    expect(next.jobId).not.toBe(first.jobId);
    expect(await fixture.balance(userId)).toBe(40);
  });

  test('is a conflict with another body, or another method with the same body', async () => {
    const userId = await fixture.createUser(100);
    await fixture.submit(
      userId,
      'SubmitMerchantItems',
      { urls: ['https://mkta.sg/shop/1'] },
      'key',
    );
    for (const [method, other] of [
      ['SubmitMerchantItems', { urls: ['https://mkta.sg/shop/2'] }],
      ['SubmitSearchItems', { urls: ['https://mkta.sg/shop/1'] }],
    ] as const) {
      await expect(
        fixture.submit(userId, method, { urls: [...other.urls] }, 'key'),
      ).rejects.toMatchObject({
        code: 'conflict',
      });
    }
  });

  test('resumes a crashed submission after a minute, with the existing job', async () => {
    const userId = await fixture.createUser(100);
    const { store } = fixture.context;
    const died = async () => {
      throw new Error('the process is gone');
    };
    fixture.context.store = replaceMethods(store, {
      ledger: { post: died },
      submissions: {
        remove: (where) => ('response' in where ? died() : store.submissions.remove(where)),
        update: died,
      },
    });
    await expect(fixture.submit(userId, 'SubmitVariantSold', body, 'key')).rejects.toThrow('gone');
    fixture.context.store = store;
    const [left] = await jobsOf(userId);
    expect(left).toMatchObject({ state: 'submitted' });
    // A job that is not charged yet is invisible.
    const reading = fixture.read(userId, 'RetrieveVariantSold', { jobId: left!.id });
    await expect(reading).rejects.toMatchObject({ code: 'not_found' });
    const again = () => fixture.submit(userId, 'SubmitVariantSold', body, 'key');
    await expect(again()).rejects.toMatchObject({ code: 'conflict', retryAfterMs: 15_000 });
    await fixture.clock.advance(50_000);
    await expect(again()).rejects.toMatchObject({ code: 'conflict', retryAfterMs: 10_000 });
    await fixture.clock.advance(10_000);
    expect(await again()).toMatchObject({ jobId: left!.id, cost: 30 });
    expect(await again()).toMatchObject({ jobId: left!.id, cost: 30 });
    expect(await fixture.balance(userId)).toBe(70);
  });

  test('returns the job of a submission that failed halfway immediately, charged once', async () => {
    const userId = await fixture.createUser(30);
    const { store } = fixture.context;
    const moveJob = async () => {
      throw new Fault('unavailable', 'The store is away.');
    };
    fixture.context.store = replaceMethods(store, { jobs: { move: moveJob } });
    const failed = fixture.submit(userId, 'SubmitVariantSold', body, 'key');
    await expect(failed).rejects.toMatchObject({ code: 'unavailable' });
    fixture.context.store = store;
    expect(await fixture.balance(userId)).toBe(0);
    const { jobId } = await fixture.submit(userId, 'SubmitVariantSold', body, 'key');
    expect((await jobsOf(userId)).map(({ id }) => id)).toEqual([jobId]);
    expect(await fixture.balance(userId)).toBe(0);
    expect(await fixture.problems()).toEqual([]);
  });

  test('stays bound to the job of a submission that failed afterwards', async () => {
    const userId = await fixture.createUser(100);
    const { store } = fixture.context;
    const update: typeof store.submissions.update = async (where, change) => {
      if (change.response !== undefined) throw new Error('a bug');
      return store.submissions.update(where, change);
    };
    fixture.context.store = replaceMethods(store, { submissions: { update } });
    await expect(fixture.submit(userId, 'SubmitVariantSold', body, 'key')).rejects.toThrow('a bug');
    fixture.context.store = store;
    expect(await fixture.balance(userId)).toBe(70);
    await fixture.clock.advance(60_000);
    expect(await fixture.submit(userId, 'SubmitVariantSold', body, 'key')).toMatchObject({
      cost: 30,
    });
    expect(await jobsOf(userId)).toHaveLength(1);
    expect(await fixture.balance(userId)).toBe(70);
  });

  test('is separate for each user', async () => {
    const [one, other] = [await fixture.createUser(100), await fixture.createUser(100)];
    const first = await fixture.submit(one, 'SubmitVariantSold', body, 'key');
    const second = await fixture.submit(other, 'SubmitVariantSold', body, 'key');
    expect(second.jobId).not.toBe(first.jobId);
  });
});
