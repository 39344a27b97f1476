import { Readable } from 'node:stream';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import {
  type JobFixture,
  openJobFixture,
  variantSoldRequest,
} from '../../../test/support/jobs/jobs.ts';
import { newId } from '../../base/id.ts';
import type { Blobs } from '../../blobs/blobs.ts';
import type { BatchReference } from '../../store/batches.ts';
import type { Job } from '../../store/documents.ts';
import { interruptedMs } from '../../store/job-states.ts';
import { sweepMs } from '../../sweep/continue-jobs.ts';
import { wholeShare } from '../../sweep/share.ts';
import { sweep, sweepForever } from '../../sweep/sweep.ts';
import { leaseMs } from '../context.ts';
import { approve } from './decide.ts';
import { deleteFiles, deleteJob } from './delete.ts';
import { restoreFile } from './restore-file.ts';
import { work } from './work.ts';

let fixture: JobFixture;
let messages: BatchReference[];
beforeEach(async () => {
  fixture = await openJobFixture();
  messages = [];
  const { queue } = fixture.context;
  fixture.context.queue = { ...queue, publish: async (message) => messages.push(message) > 0 };
});
afterEach(() => fixture.close());

const never = new AbortController().signal;
const filesOf = (jobId: string) => fixture.context.blobs.listJob(jobId);
const jobOf = async (jobId: string): Promise<Job> => (await fixture.context.store.jobs.get(jobId))!;

/** An approved job of one batch. */
async function approvedJob(): Promise<string> {
  const userId = await fixture.createUser(1_000);
  const { jobId } = await fixture.submit(userId, 'SubmitVariantSold', variantSoldRequest(3));
  await approve(fixture.context, jobId, newId());
  return jobId;
}

async function endedJob(): Promise<Job> {
  const jobId = await approvedJob();
  await work(fixture.context, messages.shift()!, () => {}, never);
  return jobOf(jobId);
}

/** A context whose writes of some files reach the storage only when they are released. */
function withHeldWrites(isHeld: (path: string) => boolean) {
  const held = Promise.withResolvers<void>();
  let waiting = 0;
  const { context } = fixture;
  let written = 0;
  const write: Blobs['write'] = async (path, contentType, chunks, items) => {
    if (!isHeld(path)) return context.blobs.write(path, contentType, chunks, items);
    const sent = await Array.fromAsync(chunks);
    waiting += 1;
    await held.promise;
    const file = await context.blobs.write(path, contentType, Readable.from(sent), items);
    written += 1;
    return file;
  };
  return {
    context: { ...context, blobs: { ...context.blobs, write } },
    isWaiting: () => waiting > 0,
    isWritten: () => written > 0,
    release: held.resolve,
  };
}

describe('a write that lands after the files of its job were deleted', () => {
  test.each(['deleted files', 'deleted job'])(
    'is removed by its writer: merged file, %s',
    async (what) => {
      const jobId = await approvedJob();
      const held = withHeldWrites((path) => path.includes('full_'));
      const late = work(held.context, messages.shift()!, () => {}, never);
      await fixture.eventually('the merged file is written', held.isWaiting);
      // Another process ends the job.
      await fixture.clock.advance(interruptedMs + 1);
      await sweep(fixture.context);
      const job = await jobOf(jobId);
      expect(job).toMatchObject({ state: 'completed' });
      if (what === 'deleted job') await deleteJob(fixture.context, job);
      else await deleteFiles(fixture.context, job);
      held.release();
      await late;
      expect(await filesOf(jobId)).toEqual([]);
    },
  );

  test('is removed by its writer: segment', async () => {
    const jobId = await approvedJob();
    const message = messages.shift()!;
    const held = withHeldWrites(() => true);
    const sleep = () => new Promise<void>(() => {});
    const frozen = { ...held.context, clock: { ...held.context.clock, sleep } };
    const late = work(frozen, message, () => {}, never);
    await fixture.eventually('the segment is written', held.isWaiting);
    await fixture.clock.advance(leaseMs + 1);
    await sweep(fixture.context);
    await work(fixture.context, messages.pop()!, () => {}, never);
    await deleteFiles(fixture.context, await jobOf(jobId));
    held.release();
    const isRemoved = async () => held.isWritten() && (await filesOf(jobId)).length === 0;
    await Promise.race([late, fixture.eventually('the segment is removed', isRemoved)]);
  });

  test('is removed by the restore of a damaged file', async () => {
    const job = await endedJob();
    const { path } = job.file!;
    const held = withHeldWrites((written) => written === path);
    const restored = restoreFile(held.context, path);
    restored.catch(() => {});
    await fixture.eventually('the file is written again', held.isWaiting);
    await deleteFiles(fixture.context, job);
    held.release();
    await expect(restored).rejects.toMatchObject({ code: 'results_deleted' });
    expect(await filesOf(job.id)).toEqual([]);
  });

  test.each(['deleted files', 'deleted job'])(
    'is removed by the sweep if its writer died: %s',
    async (what) => {
      const job = await endedJob();
      const { blobs, store } = fixture.context;
      if (what === 'deleted job') await deleteJob(fixture.context, job);
      else await deleteFiles(fixture.context, job);
      for (const lateMs of [10_000, 100_000, 500_000]) {
        const { path, contentType } = job.file!;
        await blobs.write(path, contentType, (async function* () {})(), () => 0);
        await fixture.clock.advance(lateMs);
        await sweep(fixture.context);
        await fixture.clock.advance(lateMs);
        await sweep(fixture.context);
        await fixture.clock.advance(lateMs);
        await sweep(fixture.context);
        expect(await filesOf(job.id)).toEqual([]);
      }
      await fixture.clock.advance(1_000_000);
      await sweep(fixture.context);
      expect(await store.fileRemovals.get(job.id)).toBeNull();
    },
  );
});

test.each([86_400_000, 3_600_000, -3_600_000, -86_400_000])(
  'a step of the clock by %d ms neither delays nor advances the removals of late files',
  async (ms) => {
    const job = await endedJob();
    const { blobs } = fixture.context;
    const { clock } = fixture;
    const stopping = new AbortController();
    const sweeping = sweepForever(
      fixture.context,
      sweepMs,
      stopping.signal,
      async () => wholeShare,
    );
    await clock.advance(sweepMs);
    await deleteFiles(fixture.context, job);
    clock.step(ms);
    await clock.advance(20_000);
    const { path, contentType } = job.file!;
    await blobs.write(path, contentType, (async function* () {})(), () => 0);
    await clock.advance(2_000);
    expect(await filesOf(job.id)).toHaveLength(1);
    await clock.advance(30_000);
    expect(await filesOf(job.id)).toEqual([]);
    stopping.abort(new Error('stop'));
    await sweeping;
  },
);

test('files of a job that were not deleted are kept, whatever is stored', async () => {
  const job = await endedJob();
  const { store, clock } = fixture.context;
  const files = await filesOf(job.id);
  await store.fileRemovals.upsert([{ jobId: job.id, deletedAt: clock.now(), dueAt: clock.now() }]);
  await sweep(fixture.context);
  expect(await filesOf(job.id)).toEqual(files);
});
