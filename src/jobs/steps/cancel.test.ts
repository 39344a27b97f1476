import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import {
  type JobFixture,
  openJobFixture,
  variantSoldRequest,
} from '../../../test/support/jobs/jobs.ts';
import { newId } from '../../base/id.ts';
import { Fault } from '../../contract/fault.ts';
import type { Outcome } from '../../store/batches.ts';
import { replaceMethods } from '../../store/wrap.ts';
import type { JobContext } from '../context.ts';
import { chargeJob } from '../credits.ts';
import { writeRecords } from '../records.ts';
import { approve, cancel } from './decide.ts';

const operatorId = newId();
const credits = 5_000;
const owner = { operatorId: null, reason: '' };

let fixture: JobFixture;
let userId: string;
beforeEach(async () => {
  fixture = await openJobFixture();
  userId = await fixture.createUser(credits);
});
afterEach(() => fixture.close());

async function submitted(items: number): Promise<string> {
  return (await fixture.submit(userId, 'SubmitVariantSold', variantSoldRequest(items))).jobId;
}

/** Counts the units of a job by outcome. */
async function outcomesOf(jobId: string): Promise<(Outcome | undefined)[]> {
  const found: (Outcome | undefined)[] = [];
  for await (const { units, outcomes } of fixture.context.store.batches.read(jobId)) {
    found.push(...units.map((_unit, at) => outcomes[at]));
  }
  return found;
}

/** Ends the first batch of a running job with a result for each unit. */
async function endFirstBatch(jobId: string): Promise<void> {
  const { store, clock } = fixture.context;
  const [batch] = await store.batches.find({ jobId });
  await store.batches.claim(batch!, 0, clock.now(), clock.now() + 1);
  const places = Array.from({ length: batch!.total }, (_, index) => index);
  await store.batches.recordOutcomes(batch!, 1, {
    outcomes: Object.fromEntries(
      places.map((index) => [
        index,
        { status: 'SUCCESS' as const, attempt: 1, readAt: clock.now() },
      ]),
    ),
    segment: await writeRecords(
      fixture.context,
      `${jobId}/part`,
      new Map(places.map((index) => [index, Buffer.from('{"a":1}')])),
    ),
    end: { file: null, at: clock.now() },
  });
}

describe('cancelling a job that awaits approval', () => {
  test.each([
    ['Cancelled by its owner.', { operatorId: null, reason: '' }],
    ['Cancelled by an operator.', { operatorId, reason: '' }],
    ['Too dear.', { operatorId, reason: 'Too dear.' }],
  ])('rejects it with the reason: %s', async (reason, by) => {
    const jobId = await submitted(2);
    const { operatorId: decidedBy } = by;
    expect(await cancel(fixture.context, jobId, by)).toMatchObject({
      state: 'rejected',
      reason,
      decidedBy,
    });
    expect(await fixture.balance(userId)).toBe(credits);
    expect(await fixture.problems()).toEqual([]);
  });

  test('refunds its charge', async () => {
    const urls = ['https://mkta.sg/search?keyword=lamp%20006'];
    const { jobId } = await fixture.submit(userId, 'SubmitSearchItems', { urls });
    expect(await fixture.balance(userId)).toBeLessThan(credits);
    expect(await cancel(fixture.context, jobId, owner)).toMatchObject({ state: 'rejected' });
    expect(await fixture.balance(userId)).toBe(credits);
    expect(await fixture.problems()).toEqual([]);
  });
});

describe('cancelling a running job', () => {
  test.each([
    ['Cancelled by its owner.', owner],
    ['Cancelled by an operator.', { operatorId, reason: '' }],
  ])('stops it with the reason: %s', async (reason, by) => {
    const jobId = await submitted(2);
    await approve(fixture.context, jobId, operatorId);
    expect(await cancel(fixture.context, jobId, by)).toMatchObject({ state: 'terminated', reason });
  });

  test('keeps and charges finished units, and stops and refunds the rest once', async () => {
    const jobId = await submitted(120);
    await approve(fixture.context, jobId, operatorId);
    await endFirstBatch(jobId);
    const calls = await Promise.allSettled(
      Array.from({ length: 4 }, () =>
        cancel(fixture.context, jobId, { operatorId, reason: 'Wrong items.' }),
      ),
    );
    const done = calls.flatMap((call) => (call.status === 'fulfilled' ? [call.value] : []));
    expect(done).toHaveLength(1);
    expect(done[0]).toMatchObject({ state: 'terminated', refunded: 700, reason: 'Wrong items.' });
    expect(done[0]!.file?.items).toBe(120);
    expect(done[0]!.counts?.units).toEqual({ total: 120, success: 50, failed: 70, notRun: 70 });
    for (const call of calls)
      if (call.status === 'rejected') expect(call.reason).toMatchObject({ code: 'conflict' });
    const outcomes = await outcomesOf(jobId);
    expect(outcomes.slice(0, 50).every((outcome) => outcome?.status === 'SUCCESS')).toBe(true);
    expect(new Set(outcomes.slice(50).map((outcome) => JSON.stringify(outcome)))).toEqual(
      new Set([
        JSON.stringify({
          status: 'FAILED',
          code: 'terminated',
          message: 'The task was terminated before this item was done. Wrong items.',
        }),
      ]),
    );
    expect(await fixture.balance(userId)).toBe(credits - 500);
    expect(await fixture.problems()).toEqual([]);
    // The kind has no cancelled state: its clients see the outcome of the batches.
    const shown = await fixture.read(userId, 'RetrieveVariantSold', { jobId });
    expect([shown.status, shown.jobStatus]).toEqual(['partial_complete', 'partial_complete']);
  });

  test('counts as not run only units that no worker had ended', async () => {
    const jobId = await submitted(120);
    await approve(fixture.context, jobId, operatorId);
    const { store, clock } = fixture.context;
    const [batch] = await store.batches.find({ jobId });
    await store.batches.claim(batch!, 0, clock.now(), clock.now() + 1);
    const gone = { status: 'FAILED' as const, code: 'page_not_found' as const, message: 'Gone.' };
    await store.batches.recordOutcomes(batch!, 1, { outcomes: { 0: gone } });
    const { counts } = await cancel(fixture.context, jobId, owner);
    expect(counts?.units).toEqual({ total: 120, success: 0, failed: 120, notRun: 119 });
  });

  test('completes it if nothing is left to stop', async () => {
    const jobId = await submitted(2);
    await approve(fixture.context, jobId, operatorId);
    await endFirstBatch(jobId);
    expect(await cancel(fixture.context, jobId, owner)).toMatchObject({
      state: 'completed',
      refunded: 0,
    });
    expect(await fixture.problems()).toEqual([]);
  });

  test('refunds everything if nothing was dispatched, and keeps an earlier reason', async () => {
    const jobId = await submitted(2);
    const { store, clock } = fixture.context;
    const job = (await store.jobs.get(jobId))!;
    await chargeJob(store, job, clock.now());
    await store.jobs.move(jobId, ['awaiting_approval'], 'approved', clock.now(), {
      reason: 'Urgent.',
    });
    expect(await cancel(fixture.context, jobId, owner)).toMatchObject({
      state: 'terminated',
      reason: 'Urgent.',
      refunded: 20,
    });
    expect(await fixture.balance(userId)).toBe(credits);
    expect(await fixture.problems()).toEqual([]);
  });

  test('refunds a single page', async () => {
    const { taskId } = await fixture.submit(userId, 'SubmitGetPc', {
      region: 'sg',
      itemId: '61',
      shopId: '7',
    });
    const job = (await fixture.context.store.jobs.find({ number: taskId }))[0]!;
    await cancel(fixture.context, job.id, owner);
    expect(await fixture.balance(userId)).toBe(credits);
    expect(await fixture.read(userId, 'RetrieveGetPc', { taskId })).toMatchObject({
      status: 'failed',
      refunded: 8,
      detail: expect.stringContaining('terminated'),
    });
  });
});

test.each(['submitted', 'approving', 'settling', 'rejecting', 'terminating', 'completed'] as const)(
  'returns conflict for a job that is %s',
  async (state) => {
    const jobId = await submitted(1);
    const { store, clock } = fixture.context;
    await store.jobs.move(jobId, ['awaiting_approval'], state, clock.now(), {
      finishedAt: state === 'completed' ? clock.now() : null,
    });
    const messages = {
      submitted: `There is no job '${jobId}'.`,
      approving: 'The job is starting. Try again in a moment.',
      completed: 'The job has already ended (completed).',
    } as Partial<Record<string, string>>;
    await expect(cancel(fixture.context, jobId, owner)).rejects.toMatchObject({
      code: state === 'submitted' ? 'not_found' : 'conflict',
      message: messages[state] ?? 'The job is ending.',
    });
    expect((await store.jobs.get(jobId))?.state).toBe(state);
  },
);

test('returns not_found for an unknown job', async () => {
  await expect(cancel(fixture.context, newId(), owner)).rejects.toMatchObject({
    code: 'not_found',
  });
});

describe('cancelling a job that changes meanwhile', () => {
  /**
   * The context of a process that reads a stale job for some reads; each attempt reads it twice.
   */
  const behind = async (jobId: string, reads: number): Promise<JobContext> => {
    const { store } = fixture.context;
    const before = await store.jobs.get(jobId);
    let left = reads;
    const getJob: typeof store.jobs.get = async (id) => {
      left -= 1;
      return left >= 0 ? before : store.jobs.get(id);
    };
    return { ...fixture.context, store: replaceMethods(store, { jobs: { get: getJob } }) };
  };

  test('stops it if it was approved between two attempts', async () => {
    const jobId = await submitted(2);
    const context = await behind(jobId, 2);
    await approve(fixture.context, jobId, operatorId);
    expect(await cancel(context, jobId, owner)).toMatchObject({ state: 'terminated' });
    expect(await fixture.balance(userId)).toBe(credits);
  });

  test('returns conflict after three attempts, and does not stop it', async () => {
    const jobId = await submitted(2);
    const context = await behind(jobId, 5);
    await approve(fixture.context, jobId, operatorId);
    await expect(cancel(context, jobId, owner)).rejects.toMatchObject({
      code: 'conflict',
      message: 'The job is changing. Try again.',
    });
    expect((await fixture.context.store.jobs.get(jobId))?.state).toBe('processing');
  });

  test('returns the fault of the store, and does not stop it', async () => {
    const jobId = await submitted(2);
    const moveJob = async () => {
      throw new Fault('unavailable', 'The store does not answer.');
    };
    const context = {
      ...fixture.context,
      store: replaceMethods(fixture.context.store, { jobs: { move: moveJob } }),
    };
    await expect(cancel(context, jobId, owner)).rejects.toMatchObject({ code: 'unavailable' });
  });
});
