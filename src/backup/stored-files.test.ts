import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { separateSegments } from '../../test/support/jobs/batch-files.ts';
import {
  type JobFixture,
  openJobFixture,
  variantSoldRequest,
} from '../../test/support/jobs/jobs.ts';
import { newId } from '../base/id.ts';
import { approve } from '../jobs/steps/decide.ts';
import { checkStoredFiles } from './stored-files.ts';

let fixture: JobFixture;
let merged: string;
let segment: string;
beforeEach(async () => {
  fixture = await openJobFixture();
  await fixture.startWorker();
  const userId = await fixture.createUser(5_000);
  const { jobId } = await fixture.submit(userId, 'SubmitVariantSold', variantSoldRequest(20));
  await approve(fixture.context, jobId, newId());
  const job = await fixture.waitForState(jobId, 'completed');
  await separateSegments(fixture.context, jobId);
  const [batch] = await Array.fromAsync(fixture.context.store.batches.read(jobId));
  merged = job.file!.path;
  segment = batch!.segments[0]!.path;
});
afterEach(() => fixture.close());

const check = () => checkStoredFiles(fixture.context.store, fixture.context.blobs);
const change = async (path: string, edit: (bytes: Buffer) => Buffer) => {
  const { blobs } = fixture.context;
  const bytes = edit(await buffer(await blobs.read(path)));
  await blobs.write(path, 'text/plain', Readable.from([bytes]), () => 0);
};

test('compares the merged file and the segments of every job by size and content', async () => {
  expect(await check()).toEqual({ files: 2, read: 2, damaged: [], damagedCount: 0 });
});

test.each([
  ['cut', (bytes: Buffer) => bytes.subarray(0, bytes.length / 2)],
  ['changed', (bytes: Buffer) => Buffer.concat([Buffer.from('x'), bytes.subarray(1)])],
])('finds files that were %s', async (_name, edit) => {
  await change(merged, edit);
  expect(await check()).toMatchObject({ damaged: [merged], damagedCount: 1 });
  await change(segment, edit);
  expect((await check()).damaged.toSorted()).toEqual([merged, segment].sort());
});

test('finds files that are missing', async () => {
  await fixture.context.blobs.removeJob(merged.split('/')[0]!);
  expect(await check()).toMatchObject({ files: 2, damagedCount: 2 });
});
