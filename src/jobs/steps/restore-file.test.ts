import { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { readBatchFile, separateSegments } from '../../../test/support/jobs/batch-files.ts';
import {
  type JobFixture,
  openJobFixture,
  variantSoldRequest,
} from '../../../test/support/jobs/jobs.ts';
import { newId, sha256 } from '../../base/id.ts';
import type { Job } from '../../store/documents.ts';
import { approve } from './decide.ts';
import { restoreFile } from './restore-file.ts';

let fixture: JobFixture;
let job: Job;
let original: string;
const contents = async () => text(await fixture.context.blobs.read(job.file!.path));

beforeEach(async () => {
  fixture = await openJobFixture();
  await fixture.startWorker();
  const userId = await fixture.createUser(5_000);
  const { jobId } = await fixture.submit(userId, 'SubmitVariantSold', variantSoldRequest(60));
  await approve(fixture.context, jobId, newId());
  job = await fixture.waitForState(jobId, 'completed');
  original = await contents();
});
afterEach(() => fixture.close());

const write = (path: string, bytes: string) =>
  fixture.context.blobs.write(path, 'text/plain', Readable.from([Buffer.from(bytes)]), () => 0);

test('writes a merged file that is missing, cut or changed again from the segments', async () => {
  const { context } = fixture;
  const { path } = job.file!;
  await separateSegments(context, job.id);
  for (const damage of [null, original.slice(0, 40), original.replace('1', '2')]) {
    if (damage === null) await context.blobs.remove([path]);
    else await write(path, damage);
    await Promise.all([restoreFile(context, path), restoreFile(context, path)]);
    expect(await contents()).toBe(original);
  }
  expect(await context.store.jobs.get(job.id)).toEqual(job);
});

test('leaves the file as it is if a segment was changed, too', async () => {
  const { context } = fixture;
  await separateSegments(context, job.id);
  const [batch] = await Array.fromAsync(context.store.batches.read(job.id));
  const [segment] = batch!.segments;
  const rows = await text(await context.blobs.read(segment!.path));
  await write(segment!.path, rows.replace('1', '2'));
  await write(job.file!.path, 'x');
  await expect(restoreFile(context, job.file!.path)).rejects.toMatchObject({
    code: 'storage_damaged',
  });
  expect(await contents()).toBe('x');
});

test('rejects for a segment and for the files of a deleted job, which have no other copy', async () => {
  const { context } = fixture;
  await separateSegments(context, job.id);
  const [batch] = await Array.fromAsync(context.store.batches.read(job.id));
  const { path } = batch!.segments[0]!;
  await expect(restoreFile(context, path)).rejects.toMatchObject({ code: 'storage_damaged' });
  await context.blobs.removeJob(job.id);
  await expect(restoreFile(context, job.file!.path)).rejects.toMatchObject({
    code: 'results_deleted',
    message: 'The result files of this job were removed from the result storage.',
  });
  await expect(restoreFile(context, `${newId()}/full.json`)).rejects.toMatchObject({
    code: 'results_deleted',
  });
});

test('finds the file of a batch in the merged file', async () => {
  const { context } = fixture;
  const batches = await Array.fromAsync(context.store.batches.read(job.id));
  for (const { file } of batches) {
    expect(await context.blobs.size(file!.path)).toBeNull();
    const found = await readBatchFile(context, file!);
    expect([found.length, sha256(found.toString())]).toEqual([file!.bytes, file!.sha256]);
  }
  expect(batches.map(({ file }) => file!.items)).toEqual([50, 10]);
});

test('a merged file that replaced its segments has no second copy', async () => {
  const { context } = fixture;
  const { path } = job.file!;
  const damaged = original.replace('1', '2');
  await write(path, damaged);
  await expect(restoreFile(context, path)).rejects.toMatchObject({ code: 'storage_damaged' });
  expect(await contents()).toBe(damaged);
  await context.blobs.remove([path]);
  await expect(restoreFile(context, path)).rejects.toMatchObject({ code: 'results_deleted' });
});
