import { fromJson } from '@bufbuild/protobuf';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import {
  type JobFixture,
  openJobFixture,
  variantSoldRequest,
} from '../../../test/support/jobs/jobs.ts';
import { aJob, aTime } from '../../store/conformance/samples.ts';
import type { Job, StoredFile } from '../../store/documents.ts';
import { wrapMethods } from '../../store/wrap.ts';
import { deleteFiles, deleteJob } from '../steps/delete.ts';
import { createReadView, list, snapshotOf } from './read.ts';

let fixture: JobFixture;
beforeEach(async () => {
  fixture = await openJobFixture({ approval: false });
});
afterEach(() => fixture.close());

test('lists the newest 10,000 tasks of a user', async () => {
  const userId = await fixture.createUser(0);
  const last = 10_002;
  for (let number = 1; number <= last; number += 1) {
    const fields = {
      userId,
      number,
      kind: 'get_pc_bulk',
      state: 'completed',
      createdAt: aTime + number,
    } as const;
    await fixture.context.store.jobs.create(
      aJob({ ...fields, totalUnits: 0, totalBatches: 0 }),
      [],
    );
  }
  const method = [...fixture.context.jobTypes.methods.values()].find(
    (each) => each.method.name === 'ListGetPcBulk',
  )!;
  const listed = (await list(fixture.context, method, { userId, role: 'user' })) as unknown as {
    tasks: unknown[];
  };
  expect(listed.tasks).toHaveLength(10_000);
});

test('links for the owner need their key, and links for operators none', async () => {
  const file = {
    path: 'a/b.json',
    contentType: 'application/json',
    items: 1,
    bytes: 2,
    sha256: '',
  };
  const asked: boolean[] = [];
  const links = {
    ...fixture.context.links,
    file: async (_job: unknown, _file: unknown, bearer: boolean) => `${asked.push(bearer)}`,
  };
  for (const role of ['user', 'operator'] as const) {
    const { link } = await snapshotOf({ ...fixture.context, links }, aJob(), [], undefined, role);
    await link(file, { bearer: true });
  }
  expect(asked).toEqual([true, false]);
});

test.each([
  ['settling', null, null],
  ['completed', aTime, 'a/b.json'],
] as const)(
  'snapshotOf() has the merged file once the job has ended: %s',
  async (state, finishedAt, path) => {
    const file = { path: 'a/b.json', contentType: 'text/csv', items: 1, bytes: 2, sha256: '' };
    const job = aJob({ state, finishedAt, file });
    const snapshot = await snapshotOf(fixture.context, job, [], undefined, 'user');
    expect(snapshot.job.file?.path ?? null).toBe(path);
  },
);

describe('createReadView()', () => {
  /**
   * Runs a job of three items. Returns a function that reads its view, and one that counts reads of
   * batches.
   */
  async function endedJob() {
    const userId = await fixture.createUser(1_000);
    const { jobId } = await fixture.submit(userId, 'SubmitVariantSold', variantSoldRequest(3));
    await fixture.startWorker();
    await fixture.waitForState(jobId, 'completed');
    let finds = 0;
    const store = wrapMethods(fixture.context.store, (name, method) => (...parameters) => {
      if (name === 'batches.find') finds += 1;
      return method(...parameters);
    });
    const file = async (_job: Job, { path }: StoredFile) => `${path}?at=${fixture.clock.now()}`;
    const links = { ...fixture.context.links, file };
    const readView = createReadView({ ...fixture.context, store, links });
    const method = fixture.context.jobTypes.methods.get(
      'gleaner.mkta.v1.MktaService.RetrieveVariantSold',
    )!;
    const { signal } = new AbortController();
    const options = { userId, role: 'user' as const, waitMs: 0, ifNoneMatch: undefined, signal };
    const request = fromJson(method.method.input, { jobId });
    return {
      jobId,
      finds: () => finds,
      async view() {
        const responseHeaders: Record<string, string> = {};
        const message = await readView(method, request, { ...options, responseHeaders });
        return {
          ...(message as unknown as { batches: { downloadUrl: string }[] }),
          tag: responseHeaders.etag,
        };
      },
    };
  }

  test('reuses the view of an ended job within a second, then signs new links', async () => {
    const { finds, view } = await endedJob();
    const first = await view();
    expect(await view()).toEqual(first);
    expect(finds()).toBe(1);
    await fixture.clock.advance(1_000);
    const later = await view();
    expect(later.tag).toBe(first.tag);
    expect(later.batches[0]!.downloadUrl).not.toBe(first.batches[0]!.downloadUrl);
    expect(finds()).toBe(2);
  });

  test('shows a deletion of the files and of the job immediately', async () => {
    const { jobId, finds, view } = await endedJob();
    const first = await view();
    // An equal document, read again after another change of the store.
    await fixture.createUser(0);
    expect((await view()).tag).toBe(first.tag);
    expect(finds()).toBe(1);
    const job = (await fixture.context.store.jobs.get(jobId))!;
    await deleteFiles(fixture.context, job);
    await view();
    expect(finds()).toBe(2);
    await deleteJob(fixture.context, job);
    await expect(view()).rejects.toMatchObject({ code: 'not_found' });
  });

  test('reads the views of a running job each time', async () => {
    const userId = await fixture.createUser(1_000);
    const { jobId } = await fixture.submit(userId, 'SubmitVariantSold', variantSoldRequest(3));
    const status = async () =>
      (await fixture.read(userId, 'DownloadVariantSold', { job_id: jobId })).status;
    expect(await status()).toBe('processing');
    await fixture.startWorker();
    await fixture.waitForState(jobId, 'completed');
    expect(await status()).toBe('completed');
  });
});
