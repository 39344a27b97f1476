import { afterEach, beforeEach, expect, test } from 'vitest';
import {
  type JobFixture,
  openJobFixture,
  variantSoldRequest,
} from '../../test/support/jobs/jobs.ts';
import { newId } from '../base/id.ts';
import { approve } from '../jobs/steps/decide.ts';
import { deleteFiles } from '../jobs/steps/delete.ts';
import type { Job } from '../store/documents.ts';
import { auditFiles } from './file-audit.ts';

let fixture: JobFixture;
beforeEach(async () => {
  fixture = await openJobFixture();
  await fixture.startWorker();
});
afterEach(() => fixture.close());

async function endedJob(): Promise<Job> {
  const userId = await fixture.createUser(1_000);
  const { jobId } = await fixture.submit(userId, 'SubmitVariantSold', variantSoldRequest(3));
  await approve(fixture.context, jobId, newId());
  return fixture.waitForState(jobId, 'completed');
}

test('auditFiles() finds files that no job refers to', async () => {
  const { store, blobs } = fixture.context;
  const [kept, deleted] = [await endedJob(), await endedJob()];
  await deleteFiles(fixture.context, deleted);
  const { jobId: waiting } = await fixture.submit(
    kept.userId,
    'SubmitVariantSold',
    variantSoldRequest(1),
  );
  expect((await auditFiles(store, blobs)).problems).toEqual([]);
  const gone = newId();
  const write = (path: string) =>
    blobs.write(path, 'text/plain', (async function* () {})(), () => 0);
  for (const folder of [kept.id, deleted.id, waiting, gone, 'notes']) await write(`${folder}/late`);
  const { files, problems } = await auditFiles(store, blobs);
  expect(files).toBe((await blobs.listJob(kept.id)).length + 4);
  expect(problems.toSorted()).toEqual(
    [
      `file ${kept.id}/late: its job does not refer to it`,
      `file ${deleted.id}/late: the files of its job were deleted`,
      `file ${gone}/late: its job does not exist`,
    ].toSorted(),
  );
});
