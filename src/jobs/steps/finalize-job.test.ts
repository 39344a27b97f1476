import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { separateSegments } from '../../../test/support/jobs/batch-files.ts';
import {
  type JobFixture,
  openJobFixture,
  variantSoldRequest,
} from '../../../test/support/jobs/jobs.ts';
import { newId } from '../../base/id.ts';
import { aBatch, aJob, units } from '../../store/conformance/samples.ts';
import type { Job } from '../../store/documents.ts';
import { approve } from './decide.ts';
import { finalizeJob, finishEnding } from './finalize-job.ts';
import { compile } from './merged-file.ts';

let fixture: JobFixture;
beforeEach(async () => {
  fixture = await openJobFixture();
  await fixture.startWorker();
});
afterEach(() => fixture.close());

const gone = (count: number) =>
  Array.from({ length: count }, (_, at) => String(30_000_000_801 + at * 1_000));

/** Runs a variant-sold job to its end. */
async function ended(items: number, ...more: string[]): Promise<Job> {
  const userId = await fixture.createUser(5_000);
  const { jobId } = await fixture.submit(
    userId,
    'SubmitVariantSold',
    variantSoldRequest(items, ...more),
  );
  await approve(fixture.context, jobId, newId());
  return fixture.waitForState(jobId, 'completed', 'partial_complete', 'failed');
}

async function bulk(...ids: string[]): Promise<Job> {
  const userId = await fixture.createUser(5_000);
  const rows = ids.map((id) => `sg,77,${id}`);
  const file = Buffer.from(['region,shop_id,item_id', ...rows].join('\n')).toString('base64');
  await fixture.submit(userId, 'SubmitGetPcBulk', { file });
  const [job] = (await fixture.context.store.jobs.list({ userId }, { limit: 1 })).items;
  return fixture.waitForState(job!.id, 'completed', 'partial_complete', 'failed');
}

describe('a job of batches', () => {
  test.each([
    ['completed', 'every batch has a result', 40, gone(3), 30],
    ['partial_complete', 'one batch has none', 50, gone(50), 500],
    ['failed', 'no batch has one', 0, gone(60), 600],
  ] as const)('is %s when %s', async (state, _what, items, missing, refunded) => {
    const job = await ended(items, ...missing);
    expect(job).toMatchObject({ state, refunded });
    expect(await fixture.balance(job.userId)).toBe(5_000 - job.cost + refunded);
    expect(await fixture.problems()).toEqual([]);
  });
});

describe('a job of items', () => {
  const there = ['30000000001', '30000000002'];
  test.each([
    ['completed', 'every item succeeded', there],
    ['partial_complete', 'some did', [...there, ...gone(1)]],
    ['failed', 'none did', gone(2)],
  ] as const)('is %s when %s', async (state, _what, ids) => {
    expect(await bulk(...ids)).toMatchObject({ state });
    expect(await fixture.problems()).toEqual([]);
  });
});

test('a job ends once, however many processes finalize it concurrently', async () => {
  const { context } = fixture;
  const { blobs } = context;
  let files = 0;
  const { write } = blobs;
  // Replaced in place, because the worker already has the context.
  blobs.write = (path, ...rest) => {
    if (path.includes('full_')) files += 1;
    return write(path, ...rest);
  };
  const job = await ended(60, ...gone(2));
  await Promise.all(Array.from({ length: 5 }, () => finalizeJob(context, job.id)));
  expect(files).toBe(1);
  expect(await context.store.jobs.get(job.id)).toEqual(job);
  const { items } = await context.store.ledger.list({ userId: job.userId }, { limit: 10 });
  expect(items.filter(({ type }) => type === 'refund').map(({ amount }) => amount)).toEqual([20]);
});

test('a job whose end was interrupted ends the same way when it is resumed', async () => {
  const { store, clock, blobs } = fixture.context;
  const job = await ended(10, ...gone(2));
  const size = await blobs.size(job.file!.path);
  // The state after a crash between writing the file and the terminal state.
  await store.jobs.move(job.id, ['completed'], 'settling', clock.now(), {
    file: null,
    finishedAt: null,
    refunded: 0,
  });
  const again = (await store.jobs.get(job.id))!;
  await Promise.all([finishEnding(fixture.context, again), finishEnding(fixture.context, again)]);
  expect(await store.jobs.get(job.id)).toMatchObject({
    state: 'completed',
    refunded: 20,
    file: job.file,
  });
  expect(await blobs.size(job.file!.path)).toBe(size);
  expect(await fixture.balance(job.userId)).toBe(5_000 - 100);
  expect(await fixture.problems()).toEqual([]);
});

test('segments are read ahead while a merged file is written', async () => {
  const { context } = fixture;
  const job = await ended(300);
  let open = 0;
  let maxOpen = 0;
  const read: typeof context.blobs.read = async (...place) => {
    open += 1;
    maxOpen = Math.max(maxOpen, open);
    await new Promise((resolve) => setImmediate(resolve));
    open -= 1;
    return context.blobs.read(...place);
  };
  const merged = await compile({ ...context, blobs: { ...context.blobs, read } }, job, 300);
  expect(merged!.file).toEqual(job.file);
  expect(maxOpen).toBeGreaterThan(1);
});

test('a lost record is not a failed unit: the job does not end with a file that omits it', async () => {
  const { context } = fixture;
  const job = await ended(3);
  await separateSegments(context, job.id);
  const [batch] = await Array.fromAsync(context.store.batches.read(job.id));
  await context.blobs.remove([batch!.segments[0]!.path]);
  const again = { ...job, state: 'settling' as const, file: null };
  await expect(finishEnding(context, again)).rejects.toMatchObject({
    code: 'storage_damaged',
    message: expect.stringContaining(`${batch!.segments[0]!.path} is missing`),
  });
});

describe('finishEnding()', () => {
  test('does nothing for a job that has ended', async () => {
    const job = await ended(3, ...gone(1));
    await fixture.clock.advance(1_000);
    await finishEnding(fixture.context, job);
    expect(await fixture.context.store.jobs.get(job.id)).toEqual(job);
    expect(await fixture.problems()).toEqual([]);
  });

  test.each(['terminating', 'settling'] as const)(
    'waits for the batches of a job that is %s',
    async (state) => {
      const { store } = fixture.context;
      const job = aJob({ state, totalBatches: 1, totalUnits: 1 });
      await store.jobs.create(job, [aBatch(job, 0, units(1))]);
      await finishEnding(fixture.context, job);
      expect(await store.jobs.get(job.id)).toEqual(job);
      expect(await store.batches.find({ jobId: job.id })).toMatchObject([
        { state: 'waiting', failed: 0 },
      ]);
    },
  );
});
