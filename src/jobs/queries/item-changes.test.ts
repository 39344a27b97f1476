import { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { type JobFixture, openJobFixture } from '../../../test/support/jobs/jobs.ts';
import { openTracking, type Tracking } from '../../../test/support/jobs/tracking.ts';
import type { Job } from '../../store/documents.ts';
import { expire } from '../../store/expiry.ts';
import { listTrackedItems } from '../../store/history.ts';
import { newTrackingRun } from '../../store/tracking-run.ts';
import { approve } from '../steps/decide.ts';
import { createExplorer, type EntryQuery, type RowQuery } from './explore.ts';
import { exportFile } from './files.ts';
import { requireCompared } from './item-changes.ts';
import { results } from './results.ts';

const [lamp, chair, table] = ['30000000001', '30000000002', '30000000003'] as const;
const changed = { filter: [], search: '', sort: '', only: 'changed' } as const;

let fixture: JobFixture;
let tracking: Tracking;
let userId: string;
beforeEach(async () => {
  fixture = await openJobFixture();
  await fixture.startWorker();
  tracking = openTracking(fixture);
  userId = await fixture.createUser(100_000);
});
afterEach(() => fixture.close());

const jobOf = async ({ jobId }: { jobId: string }) =>
  (await fixture.context.store.jobs.get(jobId))!;
const keysOf = async (job: Job, query: RowQuery = changed) =>
  (await Array.fromAsync(createExplorer(fixture.context).records(job, query))).map(
    ({ unit }) => unit.unit.key,
  );

const linesOf = async (job: Job, only: '' | 'changed') =>
  (await text(Readable.from(results(fixture.context, job, { only }))))
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as { index: number; key: string });

describe('changedEntries()', () => {
  test('returns new, changed, and returned items, each once and in the order submitted', async () => {
    const first = await tracking.run(userId, [lamp, chair], 'daily');
    expect(await keysOf(await jobOf(first))).toEqual([lamp, chair]);
    tracking.changeItem(lamp, { isRemoved: true });
    tracking.changeItem(chair, { priceFactor: 0.5 });
    const second = await tracking.run(userId, [lamp, chair, table], 'daily');
    expect(second.counts).toMatchObject({ missing: 1, changed: 1, new: 1 });
    expect(await keysOf(await jobOf(second))).toEqual([chair, table]);
    tracking.changeItem(lamp, null);
    const others = Array.from({ length: 130 }, (_, index) => `${31_000_000_000 + index}`);
    const third = await jobOf(
      await tracking.run(userId, [table, lamp, ...others, chair, lamp], 'daily'),
    );
    expect(await keysOf(third)).toEqual([lamp, ...others]);
    expect(await keysOf(third, { ...changed, filter: [`unit_key=${lamp}`] })).toEqual([lamp]);
    const fourth = await jobOf(await tracking.run(userId, [lamp, chair], 'daily'));
    expect(await keysOf(fourth)).toEqual([]);
  });

  test('selects pages of changed records', async () => {
    await tracking.run(userId, [lamp, chair, table]);
    for (const id of [lamp, table]) tracking.changeItem(id, { priceFactor: 0.5 });
    const job = await jobOf(await tracking.run(userId, [lamp, chair, table]));
    const explorer = createExplorer(fixture.context);
    const query: EntryQuery = { ...changed, status: '', limit: 1, after: '' };
    const page = await explorer.list(job, query);
    expect([page.total, page.items.map(({ unit }) => unit.index)]).toEqual([2, [0]]);
    const next = await explorer.list(job, { ...query, after: page.next! });
    expect([next.next, next.items.map(({ unit }) => unit.index)]).toEqual([null, [2]]);
    expect((await explorer.list(job, { ...query, only: '', limit: 9 })).items).toHaveLength(3);
  });

  test('returns the changed entries of a listing', async () => {
    const { store } = fixture.context;
    const run = async () => {
      await fixture.clock.advance(1_000);
      const request = { urls: ['https://mkta.sg/shop/21'] };
      const options = { track: 'shop-21' };
      const { jobId } = await fixture.submit(
        userId,
        'SubmitMerchantItems',
        request,
        undefined,
        options,
      );
      await approve(fixture.context, jobId, userId);
      const job = await fixture.waitForState(jobId, 'completed');
      await store.trackingRuns.insert({ ...newTrackingRun(job)!, activeUser: null });
      await tracking.compare();
      return job;
    };
    const first = await run();
    const { items } = await listTrackedItems(store, userId, 'shop-21', {}, { limit: 1 });
    expect(await keysOf(first)).toHaveLength((await store.trackingRuns.get(first.id))!.counts.new);
    tracking.changeItem(items[0]!.key, { priceFactor: 0.9 }, 'sg');
    const records = await Array.fromAsync(
      createExplorer(fixture.context).records(await run(), changed),
    );
    expect(records.map(({ record }) => String(record!.itemid))).toEqual([items[0]!.key]);
    expect(await linesOf(await run(), 'changed')).toEqual([]);
    tracking.changeItem(items[0]!.key, { priceFactor: 0.8 }, 'sg');
    const [line, ...others] = await linesOf(await run(), 'changed');
    expect([line, others]).toMatchObject([{ index: 0, file: { items: expect.any(Number) } }, []]);
  });
});

describe('results()', () => {
  test('returns the lines of units that changed, as they are without the filter', async () => {
    const all = await tracking.run(userId, [lamp, chair]);
    expect((await linesOf(await jobOf(all), 'changed')).map(({ key }) => key)).toEqual([
      lamp,
      chair,
    ]);
    tracking.changeItem(chair, { priceFactor: 0.5 });
    const job = await jobOf(await tracking.run(userId, [lamp, chair]));
    const lines = await linesOf(job, '');
    expect(lines).toHaveLength(2);
    expect(await linesOf(job, 'changed')).toEqual([lines[1]]);
  });
});

describe('exportFile()', () => {
  const read = async (job: Job, only: string) => {
    const { bytes } = await exportFile(fixture.context, job.file!.path, {
      format: 'json',
      only,
      columns: '',
    });
    return (JSON.parse(await text(Readable.from(bytes))) as { unit_key: string }[]).map(
      (row) => row.unit_key,
    );
  };

  test('returns the changed records of a result file', async () => {
    await tracking.run(userId, [lamp, chair]);
    tracking.changeItem(chair, { priceFactor: 0.5 });
    const job = await jobOf(await tracking.run(userId, [lamp, chair]));
    expect(await read(job, '')).toEqual([lamp, chair]);
    expect(await read(job, 'changed')).toEqual([chair]);
    await expect(read(job, 'new')).rejects.toMatchObject({
      problems: [{ loc: ['query', 'only'], type: 'enum' }],
    });
    const untracked = await tracking.end(userId, [lamp], '');
    await expect(read(untracked, 'changed')).rejects.toMatchObject({
      problems: [{ loc: ['query', 'only'] }],
    });
  });
});

describe('requireCompared()', () => {
  const faultOf = async (job: Job) =>
    requireCompared(fixture.context, job).then(
      () => null,
      ({ code, message, retryAfterMs }) => ({ code, message, retryAfterMs }),
    );

  test('refuses a job that is not tracked', async () => {
    expect(await faultOf(await tracking.end(userId, [lamp], ''))).toEqual({
      code: 'invalid',
      message: 'body.only: Only a tracked job has changes: submit it with track',
      retryAfterMs: undefined,
    });
  });

  test('asks to retry until the comparison has ended, and reports deleted changes', async () => {
    const { store } = fixture.context;
    const job = await tracking.end(userId, [lamp]);
    const wait = {
      code: 'conflict',
      message: 'The changes of the job are not complete yet. Try again later.',
      retryAfterMs: 2_000,
    };
    expect(await faultOf(job)).toEqual(wait);
    await store.trackingRuns.insert({ ...newTrackingRun(job)!, activeUser: null });
    expect(await faultOf(job)).toEqual(wait);
    await tracking.compare();
    expect(await faultOf(job)).toBeNull();
    const announced = { ...job, noticeDue: null };
    expect(await faultOf(announced)).toBeNull();
    const later = fixture.clock.now() + 1;
    await expire(store, { trackingRuns: later });
    expect(await faultOf(announced)).toMatchObject({ code: 'results_deleted' });
  });

  test.each(['held', 'discarded'] as const)('refuses a job that is %s', async (state) => {
    const job = await tracking.end(userId, [lamp]);
    const hold = { state, reasons: [], heldAt: 1, decidedAt: null };
    expect(await faultOf({ ...job, hold })).toMatchObject({
      code: 'conflict',
      message: expect.stringContaining(state),
    });
  });
});
