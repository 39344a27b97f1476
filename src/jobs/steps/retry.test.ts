import { create } from '@bufbuild/protobuf';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { JobService } from '../../../gen/gleaner/job/v1/job_pb.ts';
import {
  type SubmitOptions,
  SubmitOptionsSchema,
} from '../../../gen/gleaner/job/v1/submit_options_pb.ts';
import { createCrashingProcess } from '../../../test/support/faults/crash.ts';
import {
  grant,
  type JobFixture,
  openJobFixture,
  variantSoldRequest,
} from '../../../test/support/jobs/jobs.ts';
import { newId } from '../../base/id.ts';
import { Fault, type FaultCode } from '../../contract/fault.ts';
import type { BatchReference } from '../../store/batches.ts';
import type { Job } from '../../store/documents.ts';
import { replaceMethods } from '../../store/wrap.ts';
import { sweep } from '../../sweep/sweep.ts';
import type { JobContext } from '../context.ts';
import { chargeJob, refundJob } from '../credits.ts';
import { approve } from './decide.ts';
import { retry, retryWarning } from './retry.ts';
import { work } from './work.ts';

const { retryJob } = JobService.method;
const operatorId = newId();
const credits = 5_000;

let fixture: JobFixture;
let userId: string;
/** Items that are temporarily unavailable, and their fault code. */
let hidden: Set<string>;
let code: FaultCode;
/** Items that the marketplace does not have. */
let gone: Set<string>;

async function open(changes: Parameters<typeof openJobFixture>[0] = {}): Promise<void> {
  fixture = await openJobFixture(changes);
  hidden = new Set();
  gone = new Set();
  code = 'browser_missing';
  fixture.wrapFetch((fetch, itemId) => (request) => {
    if (gone.has(itemId)) throw new Fault('page_not_found', 'Gone.');
    if (hidden.has(itemId)) throw new Fault(code, 'Not now.');
    return fetch(request);
  });
  userId = await fixture.createUser(credits);
}

/** Requests a retry as the service does; returns the new job's id. */
async function again(
  jobId: string,
  by: {
    key?: string;
    approvedBy?: string;
    context?: JobContext;
    source?: Job;
    options?: SubmitOptions;
  } = {},
): Promise<string> {
  const { key, approvedBy = null, context = fixture.context } = by;
  const source = by.source ?? (await context.store.jobs.get(jobId))!;
  const submitter = {
    userId: approvedBy ?? source.userId,
    mode: 'live' as const,
    keyId: null,
    idempotencyKey: key,
    options: by.options,
  };
  const request = create(retryJob.input, { jobId });
  const respond = async ({ id }: Job) => ({ jobId: id });
  const response = await retry(context, retryJob, request, submitter, source, approvedBy, respond);
  return response.jobId;
}

const keysOf = async (jobId: string) => {
  const keys: string[] = [];
  for await (const { units } of fixture.context.store.batches.read(jobId))
    keys.push(...units.map(({ key }) => key));
  return keys;
};

const jobOf = async (jobId: string) => (await fixture.context.store.jobs.get(jobId))!;

/** An ended job of product pages of which every third failed. */
async function endedBulk(rows: number): Promise<{ jobId: string; failed: string[] }> {
  const ids = variantSoldRequest(rows).items.map(({ itemId }) => itemId);
  hidden = new Set(ids.filter((_id, at) => at % 3 === 0));
  const regions = ['sg', 'id'];
  const csv = [
    'region,shop_id,item_id',
    ...ids.map((id, at) => `${regions[at % 2]},77,${id}`),
  ].join('\n');
  await fixture.submit(userId, 'SubmitGetPcBulk', {
    file: Buffer.from(csv).toString('base64'),
    resultFormat: 'jsonl',
  });
  const { items } = await fixture.context.store.jobs.list({ userId }, { limit: 1 });
  await fixture.waitForState(items[0]!.id, 'partial_complete');
  return { jobId: items[0]!.id, failed: [...hidden] };
}

afterEach(() => fixture.close());

describe('a retry', () => {
  beforeEach(() => open());

  test('is a new job of the failed units in their order, otherwise equal to the first', async () => {
    await fixture.startWorker();
    const { jobId, failed } = await endedBulk(90);
    const first = await jobOf(jobId);
    expect(await fixture.balance(userId)).toBe(credits - 60 * 8);
    hidden.clear();
    await fixture.clock.advance(1);
    const second = await fixture.waitForState(await again(jobId), 'completed');
    expect(await keysOf(second.id)).toEqual(failed);
    const { market, kind, region, params, lane, unitPrice } = first;
    expect(second).toMatchObject({
      market,
      kind,
      region,
      params,
      lane,
      unitPrice,
      userId,
      retryOf: jobId,
    });
    expect(second).toMatchObject({ totalUnits: 30, cost: 240, refunded: 0, file: { items: 30 } });
    expect(second.number).not.toBe(first.number);
    const regions = new Set(
      (await fixture.context.store.batches.find({ jobId: second.id })).map((batch) => batch.region),
    );
    expect(regions).toEqual(new Set(['sg', 'id']));
    expect(await fixture.balance(userId)).toBe(credits - 90 * 8);
    expect(await jobOf(jobId)).toEqual(first);
    expect(await fixture.problems()).toEqual([]);
  });

  test('omits units whose failure is final, and reports how many', async () => {
    await fixture.startWorker();
    const ids = variantSoldRequest(9).items.map(({ itemId }) => itemId);
    gone = new Set(ids.slice(1, 3));
    const { jobId, failed } = await endedBulk(9);
    expect((await jobOf(jobId)).counts?.units).toMatchObject({ success: 4, failed: 5 });
    hidden.clear();
    const balance = await fixture.balance(userId);
    const second = await fixture.waitForState(await again(jobId), 'completed');
    expect(await keysOf(second.id)).toEqual(failed);
    expect(await fixture.balance(userId)).toBe(balance - 3 * 8);
    expect(await retryWarning(fixture.context, await jobOf(jobId))).toBe(
      '3 of 5 failed units are retried. The failure of the others is final: 2 page_not_found.',
    );
    expect(await retryWarning(fixture.context, second)).toBeNull();
  });

  test('is rejected without a charge if the failure of every unit is final', async () => {
    await fixture.startWorker();
    code = 'page_private';
    const { jobId } = await endedBulk(3);
    const balance = await fixture.balance(userId);
    await expect(again(jobId)).rejects.toMatchObject({
      code: 'conflict',
      message: 'A retry cannot succeed. Every failure is final: 1 page_private.',
    });
    expect(await fixture.balance(userId)).toBe(balance);
    expect((await fixture.context.store.jobs.list({ retryOf: jobId }, { limit: 9 })).items).toEqual(
      [],
    );
  });

  test('is charged at the current unit price', async () => {
    await fixture.startWorker();
    const { jobId } = await endedBulk(3);
    Object.assign(fixture.context.settings, { prices: new Map([['get_pc_bulk', 11]]) });
    expect(await jobOf(await again(jobId))).toMatchObject({ unitPrice: 11, cost: 11 });
  });

  test('above max_credits is refused, and the next call is not bound by it', async () => {
    await fixture.startWorker();
    const { jobId } = await endedBulk(3);
    const balance = await fixture.balance(userId);
    const options = create(SubmitOptionsSchema, { maxCredits: 7 });
    await expect(again(jobId, { key: 'k', options })).rejects.toMatchObject({
      code: 'max_credits_exceeded',
      quota: { required: 8, current: balance },
    });
    expect(await fixture.balance(userId)).toBe(balance);
    expect(await jobOf(await again(jobId, { key: 'k' }))).toMatchObject({ cost: 8, options: {} });
  });

  test('is rejected while the job runs, and if no unit failed', async () => {
    const { jobId } = await fixture.submit(userId, 'SubmitVariantSold', variantSoldRequest(2));
    await expect(again(jobId)).rejects.toMatchObject({
      code: 'conflict',
      message: expect.stringContaining('awaiting_approval'),
    });
    await approve(fixture.context, jobId, operatorId);
    await fixture.startWorker();
    await fixture.waitForState(jobId, 'completed');
    await expect(again(jobId)).rejects.toMatchObject({ code: 'conflict', message: /failed/ });
    expect((await fixture.context.store.jobs.list({ userId }, { limit: 9 })).items).toHaveLength(1);
  });

  test('awaits approval if its kind does, unless an operator requests it', async () => {
    const request = variantSoldRequest(1, '30000000001');
    hidden.add('30000000001');
    const { jobId } = await fixture.submit(userId, 'SubmitVariantSold', request);
    await approve(fixture.context, jobId, operatorId);
    await fixture.startWorker();
    await fixture.waitForState(jobId, 'completed', 'partial_complete');
    const balance = await fixture.balance(userId);
    const waiting = await again(jobId);
    expect(await jobOf(waiting)).toMatchObject({
      state: 'awaiting_approval',
      decidedBy: null,
      cost: 10,
    });
    expect(await fixture.balance(userId)).toBe(balance);
    await expect(again(jobId)).rejects.toMatchObject({
      code: 'conflict',
      message: expect.stringContaining(waiting),
    });
    await approve(fixture.context, waiting, operatorId);
    await fixture.waitForState(waiting, 'failed');
    // The first retry has ended, so another one is a new job.
    const other = await again(jobId, { approvedBy: operatorId });
    expect(other).not.toBe(waiting);
    expect(await fixture.waitForState(other, 'failed')).toMatchObject({
      decidedBy: operatorId,
      decideBy: null,
      userId,
    });
    expect(await fixture.balance(userId)).toBe(balance);
    expect(await fixture.problems()).toEqual([]);
  });

  test('leaves nothing behind if the credits are insufficient', async () => {
    await fixture.startWorker();
    const { jobId } = await endedBulk(9);
    Object.assign(fixture.context.settings, { prices: new Map([['get_pc_bulk', credits]]) });
    await expect(again(jobId, { key: 'k' })).rejects.toMatchObject({
      code: 'insufficient_credits',
      quota: { required: 3 * credits },
    });
    expect((await fixture.context.store.jobs.list({ retryOf: jobId }, { limit: 9 })).items).toEqual(
      [],
    );
    Object.assign(fixture.context.settings, { prices: new Map() });
    expect((await jobOf(await again(jobId, { key: 'k' }))).cost).toBe(24);
  });

  test('under one idempotency key is one job; another request under the key is a conflict', async () => {
    await fixture.startWorker();
    const { jobId } = await endedBulk(9);
    const first = await again(jobId, { key: 'k' });
    expect(await again(jobId, { key: 'k' })).toBe(first);
    const ended = await fixture.waitForState(first, 'failed');
    expect(ended.retryOf).toBe(jobId);
    expect(await again(jobId, { key: 'k' })).toBe(first);
    await expect(again(first, { key: 'k' })).rejects.toMatchObject({ code: 'conflict' });
    const third = await again(first, { key: 'other' });
    expect(await jobOf(third)).toMatchObject({ retryOf: first, totalUnits: 3 });
  });

  test('requested concurrently is one job, charged once', async () => {
    await fixture.startWorker();
    const { jobId } = await endedBulk(9);
    const balance = await fixture.balance(userId);
    hidden.clear();
    const calls = await Promise.allSettled(Array.from({ length: 8 }, () => again(jobId)));
    const ids = new Set(calls.flatMap((call) => (call.status === 'fulfilled' ? [call.value] : [])));
    expect(ids.size).toBe(1);
    for (const call of calls)
      if (call.status === 'rejected') expect(call.reason).toMatchObject({ code: 'conflict' });
    await fixture.waitForState([...ids][0]!, 'completed');
    expect(
      (await fixture.context.store.jobs.list({ retryOf: jobId }, { limit: 9 })).items,
    ).toHaveLength(1);
    expect(await fixture.balance(userId)).toBe(balance - 24);
  });
});

describe('a retry after an earlier one', () => {
  beforeEach(async () => {
    await open();
    await fixture.startWorker();
  });

  test('creates a new job each time if the earlier one failed', async () => {
    const { jobId } = await endedBulk(3);
    const ids = new Set<string>();
    for (let time = 0; time < 4; time += 1) {
      const id = await again(jobId);
      await fixture.waitForState(id, 'failed');
      await fixture.clock.advance(1);
      ids.add(id);
    }
    expect(ids.size).toBe(4);
  });

  test.each([
    ['discarded', 'none'],
    ['left half discarded', 'delete'],
  ] as const)('creates a new job if the earlier one was %s', async (_what, failing) => {
    const { jobId } = await endedBulk(3);
    const { store } = fixture.context;
    const balance = await fixture.balance(userId);
    for (let time = 0; time < 2; time += 1) {
      fixture.context.store = replaceMethods(store, {
        jobs: {
          create: async (...job) => {
            await store.jobs.create(...job);
            await grant(fixture.context, userId, -balance);
          },
          ...(failing === 'none'
            ? {}
            : { [failing]: () => Promise.reject(new Fault('unavailable', 'x')) }),
        },
      });
      const code = failing === 'none' ? 'insufficient_credits' : 'unavailable';
      await expect(again(jobId)).rejects.toMatchObject({ code });
      fixture.context.store = store;
      await grant(fixture.context, userId, balance);
    }
    expect(await jobOf(await again(jobId))).toMatchObject({ retryOf: jobId, cost: 8 });
  });

  test('returns the same job under its key if the earlier response was lost', async () => {
    const { jobId } = await endedBulk(3);
    const { store, queue } = fixture.context;
    fixture.context.queue = { ...queue, publish: async () => true };
    const update: typeof store.submissions.update = async (where, change) => {
      if (change.response !== undefined) throw new Fault('unavailable', 'The store is away.');
      return store.submissions.update(where, change);
    };
    const context = {
      ...fixture.context,
      store: replaceMethods(store, { submissions: { update } }),
    };
    await expect(again(jobId, { key: 'k', context })).rejects.toMatchObject({
      code: 'unavailable',
    });
    const { items } = await store.jobs.list({ retryOf: jobId }, { limit: 9 });
    expect(items).toMatchObject([{ state: 'processing' }]);
    expect(await again(jobId, { key: 'k' })).toBe(items[0]!.id);
  });

  test('resumes an interrupted retry, even for another caller', async () => {
    const { jobId } = await endedBulk(3);
    const { store } = fixture.context;
    const moveJob = () => Promise.reject(new Fault('unavailable', 'The store is away.'));
    const context = {
      ...fixture.context,
      store: replaceMethods(store, { jobs: { move: moveJob } }),
    };
    await expect(again(jobId, { key: 'k', context })).rejects.toMatchObject({
      code: 'unavailable',
    });
    const { items } = await store.jobs.list({ retryOf: jobId }, { limit: 9 });
    expect(items).toMatchObject([{ state: 'submitted' }]);
    expect(await again(jobId)).toBe(items[0]!.id);
  });
});

describe('a retry whose process crashes', () => {
  test.each(['before', 'after'] as const)(
    '%s any call to an engine results in one job',
    async (when) => {
      await open();
      let messages: BatchReference[] = [];
      const alive: JobContext = {
        ...fixture.context,
        queue: { ...fixture.context.queue, publish: async (message) => messages.push(message) > 0 },
      };
      const workOff = async () => {
        for (let message = messages.shift(); message !== undefined; message = messages.shift())
          await work(alive, message, () => {}, new AbortController().signal);
      };
      const recover = async () => {
        messages = [];
        for (let round = 0; round < 3; round++) {
          await fixture.clock.advance(61_000);
          await sweep(alive);
          await workOff();
        }
      };
      const worker = await fixture.startWorker();
      const { jobId } = await endedBulk(9);
      await worker.stop();
      hidden.clear();
      let source: Job = await jobOf(jobId);
      let last = 1;
      for (let dead = true; dead; last += 1) {
        const balance = await fixture.balance(userId);
        const victim = createCrashingProcess(alive, last, when);
        await Promise.race([
          again(source.id, { key: `${last}`, context: victim.context }).catch(() => {}),
          victim.crashed,
        ]);
        dead = victim.isCrashed();
        await recover();
        // The client repeats the call with its key; the retry may have ended by then.
        const id = await again(source.id, { key: `${last}`, context: alive });
        await workOff();
        const where = `death at call ${last}, ${when} ${victim.crashedAt()}`;
        const retries = await alive.store.jobs.list({ retryOf: source.id }, { limit: 9 });
        expect(
          retries.items.map((job) => [job.id, job.state]),
          where,
        ).toEqual([[id, 'completed']]);
        expect(await fixture.balance(userId), where).toBe(balance - 24);
        // The next call must belong to another job, because one retry of one job is tested.
        source = await copyOf(alive, source);
      }
      expect(last).toBeGreaterThan(8);
      expect(await fixture.problems()).toEqual([]);
    },
  );
});

/** The same ended and paid job under another id. */
async function copyOf({ store, clock }: JobContext, source: Job): Promise<Job> {
  const copy = { ...source, id: newId(), number: null };
  const batches = [];
  for await (const batch of store.batches.read(source.id)) {
    batches.push({ ...batch, id: newId(), jobId: copy.id });
  }
  await store.jobs.create(copy, batches);
  await chargeJob(store, copy, clock.now());
  await refundJob(store, copy, copy.refunded, clock.now());
  return copy;
}
