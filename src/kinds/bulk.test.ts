import { describe, expect, test } from 'vitest';
import { aJob } from '../store/conformance/samples.ts';
import type { Job, StoredFile } from '../store/documents.ts';
import { bulkProgress, bulkStatus, bulkSubmitted } from './bulk.ts';
import type { JobSnapshot } from './kind.ts';

const file: StoredFile = { path: 'a/b', contentType: '', items: 1, bytes: 1, sha256: '' };
const counts = (total: number, success: number, failed: number) => ({ total, success, failed });

function snapshot(job: Partial<Job>, units: ReturnType<typeof counts>): JobSnapshot {
  return {
    job: aJob(job),
    counts: { units, batches: counts(1, 0, 0) },
    link: async ({ path }) => `link to ${path}`,
    itemToken: () => '',
  };
}

test('a bulk job is processing while a unit is outstanding', () => {
  expect(bulkStatus(counts(3, 1, 1))).toBe('processing');
  expect(bulkStatus(counts(3, 3, 0))).toBe('completed');
  expect(bulkStatus(counts(3, 2, 1))).toBe('partial_complete');
  expect(bulkStatus(counts(3, 0, 3))).toBe('failed');
});

describe('bulkProgress()', () => {
  test('returns neither link nor message while units are outstanding', async () => {
    expect(await bulkProgress(snapshot({ state: 'processing' }, counts(4, 1, 2)))).toEqual({
      status: 'processing',
      total: 4,
      success: 1,
      failed: 2,
      pending: 1,
      progress: 0.75,
    });
  });

  test('says that the file is being compiled when no unit is outstanding', async () => {
    const shown = await bulkProgress(snapshot({ state: 'settling' }, counts(2, 1, 1)));
    expect(shown).toMatchObject({
      status: 'partial_complete',
      progress: 1,
      message: expect.stringMatching(/compiled/),
    });
    expect(shown).not.toHaveProperty('downloadUrl');
  });

  test('returns the link and no message for an ended job', async () => {
    const shown = await bulkProgress(
      snapshot({ state: 'completed', finishedAt: 1, file }, counts(2, 2, 0)),
    );
    expect(shown).toMatchObject({ status: 'completed', downloadUrl: 'link to a/b' });
    expect(shown).not.toHaveProperty('message');
  });

  test('returns progress 0 and no message for a job without units', async () => {
    const shown = await bulkProgress(snapshot({ state: 'processing' }, counts(0, 0, 0)));
    expect(shown).toMatchObject({ total: 0, pending: 0, progress: 0 });
    expect(shown).not.toHaveProperty('message');
  });

  test('returns neither for a failed job without a file', async () => {
    const shown = await bulkProgress(snapshot({ state: 'failed', finishedAt: 1 }, counts(2, 0, 2)));
    expect(shown).toMatchObject({ status: 'failed', pending: 0, progress: 1 });
    expect(shown).not.toHaveProperty('downloadUrl');
    expect(shown).not.toHaveProperty('message');
  });
});

test('bulkSubmitted() mentions refunds only if there are any', () => {
  const job = aJob({ totalUnits: 2, cost: 10 });
  const response = { jobId: job.id, status: 'processing', total: 2, cost: 10 };
  expect(bulkSubmitted(snapshot(job, counts(2, 0, 0)))).toEqual(response);
  expect(bulkSubmitted(snapshot({ ...job, refunded: 10 }, counts(2, 0, 2)))).toEqual({
    ...response,
    refunded: 10,
    message: expect.stringMatching(/10 credits/),
  });
});
