import { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import {
  type JobFixture,
  openJobFixture,
  variantSoldRequest,
} from '../../../test/support/jobs/jobs.ts';
import { newId } from '../../base/id.ts';
import { Fault } from '../../contract/fault.ts';
import type { Job } from '../../store/documents.ts';
import { approve } from './decide.ts';
import { finishEnding } from './finalize-job.ts';
import { restorableMs } from './lost-records.ts';

let fixture: JobFixture;
beforeEach(async () => {
  fixture = await openJobFixture();
  await fixture.startWorker();
});
afterEach(() => fixture.close());

const failing = '30000000801';

type Request = Parameters<JobFixture['submit']>[2];
const csv = (count: number) =>
  [
    'region,shop_id,item_id',
    ...Array.from({ length: count }, (_, at) => `sg,77,${20_101 + at}`),
  ].join('\n');
const requests: [name: string, method: string, request: Request][] = [
  ['files of batches', 'SubmitVariantSold', variantSoldRequest(60, failing)],
  [
    'CSV',
    'SubmitGetPcBulk',
    { file: Buffer.from(`${csv(60)}\nsg,77,${failing}`).toString('base64') },
  ],
];

/** Returns a job of 61 units in two batches, one unit failed, that has no merged file yet. */
async function ending(method: string, request: Request): Promise<Job> {
  const { context } = fixture;
  const userId = await fixture.createUser(5_000);
  const { blobs } = context;
  const { write } = blobs;
  vi.spyOn(blobs, 'write').mockImplementation(async (path, contentType, chunks, count) => {
    const file = await write(path, contentType, chunks, count);
    if (!/segment|batch/.test(path)) throw new Fault('unavailable', 'The storage is away.');
    return file;
  });
  await fixture.submit(userId, method, request);
  const [submitted] = (await context.store.jobs.list({ userId }, { limit: 1 })).items;
  const { id, state } = submitted!;
  if (state === 'awaiting_approval') await approve(context, id, newId());
  const job = await fixture.waitForState(id, 'settling');
  vi.restoreAllMocks();
  return job;
}

const segmentOf = async (job: Job, at: number) => {
  const batches = await Array.fromAsync(fixture.context.store.batches.read(job.id));
  return batches[at]!.segments[0]!.path;
};

const balanceOf = async ({ userId }: Job) =>
  (await fixture.context.store.users.get(userId))!.balance;

const finish = async ({ id }: Job) => {
  const { context } = fixture;
  await finishEnding(context, (await context.store.jobs.get(id))!);
  return (await context.store.jobs.get(id))!;
};

describe.each(requests)(
  'a job that has lost the records of a batch: %s',
  (_name, method, request) => {
    test('ends an hour later without them, and refunds their units once', async () => {
      const { context, clock } = fixture;
      const job = await ending(method, request);
      const before = await balanceOf(job);
      await context.blobs.remove([await segmentOf(job, 0)]);
      await expect(finish(job)).rejects.toMatchObject({ code: 'storage_damaged' });
      expect(await balanceOf(job)).toBe(before);
      await clock.advance(restorableMs);
      const ended = await finish(job);
      expect(ended).toMatchObject({ state: 'partial_complete', refunded: 51 * job.unitPrice });
      expect(ended.counts!.units).toMatchObject({ success: 10, failed: 51 });
      expect(await balanceOf(job)).toBe(before + 51 * job.unitPrice);
      const [lost] = await Array.fromAsync(context.store.batches.read(job.id));
      expect(lost!.outcomes[0]).toMatchObject({ status: 'FAILED', code: 'storage_damaged' });
      const contents = await text(await context.blobs.read(ended.file!.path));
      expect(contents.match(/removed from the result storage/g)).toHaveLength(50);
      expect(await fixture.problems()).toEqual([]);
    });

    test('ends with all of them if the files are restored in time', async () => {
      const { context } = fixture;
      const job = await ending(method, request);
      const path = await segmentOf(job, 0);
      const original = await text(await context.blobs.read(path));
      const restore = async (contents: string) =>
        context.blobs.write(path, 'text/plain', Readable.from([contents]), () => 0);
      await restore(original.replace('1', '2'));
      await expect(finish(job)).rejects.toMatchObject({ code: 'storage_damaged' });
      await restore(original);
      expect(await finish(job)).toMatchObject({ refunded: job.unitPrice });
      expect(await fixture.problems()).toEqual([]);
    });
  },
);

test('a job that has lost all its files fails, and is refunded', async () => {
  const { context, clock } = fixture;
  const job = await ending('SubmitVariantSold', variantSoldRequest(3));
  await context.blobs.removeJob(job.id);
  await expect(finish(job)).rejects.toMatchObject({ code: 'results_deleted' });
  await clock.advance(restorableMs);
  expect(await finish(job)).toMatchObject({ state: 'failed', refunded: job.cost });
  expect(await fixture.problems()).toEqual([]);
});
