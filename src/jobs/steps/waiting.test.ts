import { create } from '@bufbuild/protobuf';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { GetJobRequestSchema, JobService } from '../../../gen/gleaner/job/v1/job_pb.ts';
import {
  type JobFixture,
  noon,
  openJobFixture,
  variantSoldRequest,
} from '../../../test/support/jobs/jobs.ts';
import { flushTasks } from '../../../test/support/time/clock.ts';
import { jobServiceHandlers } from '../../api/services/jobs.ts';
import { Fault } from '../../contract/fault.ts';
import { countsOf } from '../../store/batch-store.ts';
import { sweep } from '../../sweep/sweep.ts';
import { waitOf } from './read-batch.ts';

const minuteMs = 60_000;
let fixture: JobFixture;
let user: string;
/** End of the origin's pause. */
let pausedUntil: number;
/** Items whose page is blocked, whatever the state of the origin. */
let blocked: Set<string>;
/** Requests sent, by item. */
let sent: Map<string, number>;

beforeEach(async () => {
  fixture = await openJobFixture({ approval: false });
  user = await fixture.createUser(10_000);
  pausedUntil = 0;
  blocked = new Set();
  sent = new Map();
  fixture.wrapFetch((fetch, itemId) => async (request) => {
    const ms = pausedUntil - fixture.clock.now();
    if (ms > 0)
      throw new Fault('origin_paused', 'mkta/sg: blocked (page_blocked)', { retryAfterMs: ms });
    sent.set(itemId, (sent.get(itemId) ?? 0) + 1);
    if (blocked.has(itemId)) throw new Fault('page_blocked', 'the site asks for a robot check');
    return fetch(request);
  });
});

afterEach(() => fixture.close());

const retrieve = (jobId: string) => fixture.read(user, 'RetrieveVariantSold', { jobId });
const submitted = async (plain: number, ...more: string[]): Promise<string> =>
  (await fixture.submit(user, 'SubmitVariantSold', variantSoldRequest(plain, ...more))).jobId;
const waits = async (jobId: string) =>
  (await Array.fromAsync(fixture.context.store.batches.read(jobId), ({ wait }) => wait))
    .filter((wait) => wait !== null && wait.until > fixture.clock.now())
    .sort((one, other) => one!.until - other!.until);

/** Advances the clock in steps, so that everything due happens in between. */
async function pass(ms: number): Promise<void> {
  await flushTasks();
  for (let left = ms; left > 0; left -= 1_000) await fixture.clock.advance(Math.min(left, 1_000));
}

/** The job as an operator sees it. */
async function waitingFor(jobId: string): Promise<string> {
  const handler = jobServiceHandlers(fixture.context).unary.get(JobService.method.getJob)!;
  const { signal } = new AbortController();
  const principal = { userId: user, role: 'operator' };
  const call = { principal, signal, waitMs: 0, responseHeaders: {} } as unknown as Parameters<
    typeof handler
  >[1];
  const response = await handler(create(GetJobRequestSchema, { jobId }), call);
  return (response as unknown as { waitingFor: string }).waitingFor;
}

describe('waitOf()', () => {
  const later = (until: number, reason: string, tries = 1) => ({ until, reason, tries });

  test.each([
    ['the last unit', [later(2, 'a'), later(3, 'b')], 3, 'b'],
    ['the first unit', [later(3, 'a'), later(2, 'b')], 3, 'a'],
    [
      'the first of two that wait equally long',
      [later(3, 'a'), later(3, 'b'), later(1, 'c')],
      3,
      'a',
    ],
  ])('waits as long as, and for the reason of, %s', (_which, units, until, reason) => {
    expect(waitOf(new Map(units.entries()), 1)).toMatchObject({ until, reason });
  });

  test('keeps the attempts of each unit by its index', () => {
    const units = new Map([
      [4, later(2, 'a', 1)],
      [7, later(3, 'b', 5)],
    ]);
    expect(waitOf(units, 1)).toEqual({
      since: 1,
      until: 3,
      reason: 'b',
      tries: { 4: 1, 7: 5 },
      failures: 0,
    });
  });
});

describe('while an origin is paused', () => {
  test('a batch is deferred, and the job reports what it waits for', async () => {
    pausedUntil = noon + 5 * minuteMs;
    const jobId = await submitted(60);
    await fixture.startWorker();
    await fixture.eventually('both batches wait', async () => (await waits(jobId)).length === 2);
    const words = 'mkta/sg: blocked (page_blocked), next try 2030-01-07T04:05:00.000Z';
    expect(await retrieve(jobId)).toMatchObject({
      status: 'processing',
      progress: '0/2 batches complete',
      waitingFor: `waiting for ${words}`,
    });
    expect(await waitingFor(jobId)).toBe(words);
    expect((await fixture.context.store.batches.find({ jobId })).map(({ state }) => state)).toEqual(
      ['queued', 'queued'],
    );
    expect(sent.size).toBe(0);
  });

  test('the batch resumes as soon as possible, and the job no longer reports a wait', async () => {
    pausedUntil = noon + 5 * minuteMs;
    const jobId = await submitted(60);
    await fixture.startWorker();
    await pass(5 * minuteMs - 1);
    expect(sent.size).toBe(0);
    await pass(1_000);
    await fixture.waitForState(jobId, 'completed');
    const response = await retrieve(jobId);
    expect(response.waitingFor).toBeUndefined();
    expect(await waitingFor(jobId)).toBe('');
    expect([...sent.values()]).toEqual(Array(60).fill(1));
    for await (const { wait } of fixture.context.store.batches.read(jobId)) expect(wait).toBeNull();
    expect(await fixture.problems()).toEqual([]);
  });

  test('a short pause is waited for without releasing the batch', async () => {
    const jobId = await submitted(3);
    blocked = new Set(
      variantSoldRequest(3)
        .items.map(({ itemId }) => itemId)
        .slice(0, 1),
    );
    await fixture.startWorker();
    await fixture.eventually('one is blocked', () => sent.size === 3);
    blocked.clear();
    await pass(3_000);
    await fixture.waitForState(jobId, 'completed');
    expect((await fixture.context.store.batches.find({ jobId }))[0]!.attempt).toBe(1);
  });

  test('the sweep resumes the batch if the process that deferred it has ended', async () => {
    pausedUntil = noon + 5 * minuteMs;
    const jobId = await submitted(3);
    const worker = await fixture.startWorker();
    await fixture.eventually('it waits', async () => (await waits(jobId)).length === 1);
    await worker.stop();
    await pass(6 * minuteMs);
    expect(sent.size).toBe(0);
    await fixture.startWorker();
    await sweep(fixture.context);
    await fixture.waitForState(jobId, 'completed');
  });

  test('the sweep does not resume the batch early', async () => {
    pausedUntil = noon + 5 * minuteMs;
    const jobId = await submitted(3);
    await fixture.startWorker();
    await fixture.eventually('it waits', async () => (await waits(jobId)).length === 1);
    await pass(4 * minuteMs);
    await sweep(fixture.context);
    await flushTasks();
    expect((await fixture.context.store.batches.find({ jobId }))[0]).toMatchObject({
      state: 'queued',
      attempt: 1,
    });
  });

  test('its units fail after an hour with the reason, and are refunded', async () => {
    pausedUntil = noon + 2 * minuteMs;
    const jobId = await submitted(2);
    await fixture.startWorker();
    for (let minute = 0; minute < 70; minute += 1) {
      pausedUntil = fixture.clock.now() + 2 * minuteMs;
      await pass(minuteMs);
    }
    const job = await fixture.waitForState(jobId, 'failed');
    expect(job.finishedAt! - noon).toBeGreaterThan(50 * minuteMs);
    expect(job.refunded).toBe(job.cost);
    const item = variantSoldRequest(1).items[0]!.itemId;
    expect(
      await fixture.read(user, 'DownloadVariantSoldItem', { jobId, itemId: item }),
    ).toMatchObject({
      status: 'FAILED',
      errorLog: 'mkta/sg: blocked (page_blocked); the maximum wait was exceeded',
    });
    expect(sent.size).toBe(0);
  });

  test('a task fails sooner than the units of a job', async () => {
    const itemId = variantSoldRequest(1).items[0]!.itemId;
    const { taskId } = await fixture.submit(user, 'SubmitGetPc', {
      region: 'sg',
      itemId,
      shopId: '77',
    });
    pausedUntil = noon + 2 * minuteMs;
    await fixture.startWorker();
    const look = () => fixture.read(user, 'RetrieveGetPc', { taskId });
    await fixture.eventually('it waits', async () => (await look()).waitingFor !== undefined);
    expect(await look()).toMatchObject({
      waitingFor: 'waiting for mkta/sg: blocked (page_blocked), next try 2030-01-07T04:02:00.000Z',
    });
    for (let minute = 0; minute < 12; minute += 1) {
      pausedUntil = fixture.clock.now() + 2 * minuteMs;
      await pass(minuteMs);
    }
    await fixture.eventually('the task ends', async () => (await look()).status === 'failed');
    const task = await look();
    expect(task).toMatchObject({
      status: 'failed',
      detail: expect.stringContaining('the maximum wait was exceeded'),
    });
    expect(task.waitingFor).toBeUndefined();
  });
});

describe('a page that is refused while others succeed', () => {
  const bad = '30000000999';

  test('delays nothing else, and is attempted six times in all', async () => {
    blocked.add(bad);
    const jobId = await submitted(60, bad);
    await fixture.startWorker();
    await fixture.eventually('all others are read', () => sent.size === 61);
    await fixture.eventually('it waits', async () => {
      await pass(1_000);
      return (await waits(jobId)).length > 0;
    });
    expect(await waits(jobId)).toMatchObject([
      { reason: 'mkta/sg: blocked (page_blocked)', tries: { 10: expect.any(Number) } },
    ]);
    const succeeded = async () => (await countsOf(fixture.context.store, jobId)).units.success;
    await fixture.eventually('all others have ended', async () => (await succeeded()) === 60);
    await pass(2 * minuteMs);
    await fixture.waitForState(jobId, 'completed');
    expect(sent.get(bad)).toBe(6);
    for (const [itemId, times] of sent) if (itemId !== bad) expect(times).toBe(1);
    expect(
      await fixture.read(user, 'DownloadVariantSoldItem', { jobId, itemId: bad }),
    ).toMatchObject({
      status: 'FAILED',
      errorLog: 'the site asks for a robot check',
    });
    expect(await fixture.problems()).toEqual([]);
  });
});
