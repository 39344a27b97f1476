import { describe, expect, test } from 'vitest';
import type { BatchSummary, Outcome } from '../../store/batches.ts';
import { aBatch, aFailure, aJob, aSuccess } from '../../store/conformance/samples.ts';
import type { Job, StoredFile } from '../../store/documents.ts';
import { download, item, retrieve, submitted } from './index.ts';

const file: StoredFile = { path: 'f', contentType: '', items: 1, bytes: 1, sha256: '' };
const tools = { link: async ({ path }: StoredFile) => `link to ${path}`, itemToken: () => '' };

const summary = (job: Job, seq: number, fields: Partial<BatchSummary>): BatchSummary => {
  const { units: _, outcomes: __, ...batch } = aBatch(job, seq);
  return { ...batch, total: 2, ...fields };
};
const done = { state: 'done', success: 1, failed: 1, file } as const;
const failed = { state: 'done', failed: 2 } as const;

test('submitted() waits for approval or initializes', () => {
  const job = aJob({ state: 'awaiting_approval', cost: 20, totalUnits: 2, totalBatches: 1 });
  const response = { jobId: job.id, cost: 20, refunded: 0, totalItems: 2, totalBatches: 1 };
  expect(submitted({ job, ...tools })).toEqual({ ...response, status: 'awaiting_approval' });
  expect(submitted({ job: { ...job, state: 'approved' }, ...tools })).toEqual({
    ...response,
    status: 'initializing',
  });
});

describe('retrieve', () => {
  test.each<[string, Partial<BatchSummary>[], string, string, string]>([
    ['processing', [{}, {}], 'processing', 'pending', '0/2'],
    ['processing', [done, {}], 'processing', 'processing', '1/2'],
    ['processing', [done, { state: 'claimed', success: 1 }], 'processing', 'processing', '1/2'],
    ['settling', [done, done], 'completed', 'completed', '2/2'],
    ['partial_complete', [done, failed], 'partial_complete', 'partial_complete', '2/2'],
    ['failed', [failed, failed], 'failed', 'failed', '2/2'],
    ['rejecting', [{}, {}], 'rejected', 'failed', '2/2'],
  ])('shows a job that is %s with %j', async (state, batches, status, jobStatus, progress) => {
    const job = aJob({ state: state as Job['state'] });
    const shown = await retrieve.show({
      job,
      batches: batches.map((its, seq) => summary(job, seq, its)),
      ...tools,
    });
    expect(shown).toMatchObject({ status, jobStatus, progress: `${progress} batches complete` });
  });

  test('links only batches with results', async () => {
    const job = aJob({ state: 'processing' });
    const batches = [done, failed, {}].map((its, seq) => summary(job, seq, its));
    const [first, ...others] = (await retrieve.show({ job, batches, ...tools }))
      .batches as object[];
    expect(first).toEqual({
      batchId: batches[0]!.id,
      country: 'id',
      status: 'SUCCESS',
      downloadUrl: 'link to f',
    });
    for (const other of others) expect(other).not.toHaveProperty('downloadUrl');
    const fileOfFailures = await retrieve.show({
      job,
      batches: [summary(job, 0, { ...failed, success: 0, file })],
      ...tools,
    });
    expect((fileOfFailures.batches as object[])[0]).not.toHaveProperty('downloadUrl');
  });
});

describe('download', () => {
  const counts = (success: number, failures: number) => ({
    units: { total: 4, success, failed: failures },
    batches: { total: 2, success: success > 0 ? 1 : 0, failed: failures > 1 ? 1 : 0 },
  });

  test('counts finished items of a running job, without a link', async () => {
    const job = aJob({ state: 'processing', totalUnits: 4 });
    expect(await download.show({ job, counts: counts(1, 0), ...tools })).toEqual({
      jobId: job.id,
      status: 'processing',
      totalItems: 4,
      successCount: 1,
      failedCount: 0,
    });
  });

  test('links the written file, and none for a failed job', async () => {
    const whole = aJob({ state: 'completed', totalUnits: 4, file });
    expect(await download.show({ job: whole, counts: counts(4, 0), ...tools })).toMatchObject({
      downloadUrl: 'link to f',
    });
    const fileOfFailures = aJob({ state: 'failed', totalUnits: 4, file });
    expect(
      await download.show({ job: fileOfFailures, counts: counts(0, 4), ...tools }),
    ).not.toHaveProperty('downloadUrl');
    const gone = aJob({ state: 'failed', totalUnits: 4 });
    expect(await download.show({ job: gone, counts: counts(0, 4), ...tools })).not.toHaveProperty(
      'downloadUrl',
    );
  });

  test('counts every item of a rejected job as failed', async () => {
    const job = aJob({ state: 'rejecting', totalUnits: 4 });
    expect(await download.show({ job, counts: counts(0, 0), ...tools })).toMatchObject({
      failedCount: 4,
    });
  });
});

describe('item', () => {
  const show = (fields: Partial<Job>, outcome: Outcome | undefined, payload: string | null) => {
    const job = aJob(fields);
    const unit = { key: '1', input: { item_id: '1', shop_id: '7' } };
    return item.show({
      job,
      unit: { unit, outcome, batch: aBatch(job, 0, [unit]), payload },
      ...tools,
    });
  };

  test('has its record or its error', () => {
    const known = { itemId: '1', shopId: '7', country: 'id' };
    expect(show({ state: 'processing' }, aSuccess(), '{}')).toMatchObject({
      ...known,
      status: 'SUCCESS',
      data: '{}',
    });
    const failure = show({ state: 'processing' }, aFailure, null);
    expect(failure).toMatchObject({
      ...known,
      status: 'FAILED',
      errorLog: 'the item is gone: “$x.y” ☃',
    });
    expect(failure).not.toHaveProperty('data');
    const pending = show({ state: 'processing' }, undefined, null);
    expect(pending).toMatchObject({ ...known, status: 'PENDING' });
    expect(pending).not.toHaveProperty('errorLog');
  });

  test('has the reason of a rejected job', () => {
    expect(show({ state: 'rejecting', reason: 'Too dear.' }, undefined, null)).toMatchObject({
      status: 'FAILED',
      errorLog: 'The job was rejected. Too dear.',
    });
    expect(show({ state: 'rejecting', reason: '' }, undefined, null)).toMatchObject({
      errorLog: 'The job was rejected.',
    });
  });
});
