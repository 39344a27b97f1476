import { beforeEach, expect, test } from 'vitest';
import { type JobFixture, noon, openJobFixture } from '../../../test/support/jobs/jobs.ts';
import type { Batch } from '../../store/batches.ts';
import { aBatch, aJob, units } from '../../store/conformance/samples.ts';
import type { Job } from '../../store/documents.ts';
import { listProgress, type ProgressPoint } from './progress.ts';

let fixture: JobFixture;
beforeEach(async () => {
  fixture = await openJobFixture();
  return () => fixture.close();
});

/** Progress of a job with batches of two units each, as their fields say. */
async function progress(
  batches: readonly Partial<Batch>[],
  fields: Partial<Job> = {},
): Promise<ProgressPoint[]> {
  const { store } = fixture.context;
  const totals = { totalBatches: batches.length, totalUnits: batches.length * 2 };
  const job = aJob({
    state: 'processing',
    createdAt: noon - 500,
    startedAt: noon - 100,
    ...totals,
    ...fields,
  });
  await store.jobs.create(
    job,
    batches.map((its, seq) => aBatch(job, seq, units(2), its)),
  );
  return listProgress(fixture.context, job);
}

const done = (endedAt: number, success = 2): Partial<Batch> => ({
  state: 'done',
  success,
  failed: 2 - success,
  endedAt,
});

test('counts grow with each batch, in any order of ends, and the last point is now', async () => {
  const points = await progress([
    done(noon - 10, 1),
    done(noon - 50),
    { state: 'claimed', success: 1 },
    {},
    done(noon - 50, 0),
  ]);
  expect(points).toEqual([
    { at: noon - 100, success: 0, failed: 0 },
    { at: noon - 50, success: 2, failed: 2 },
    { at: noon - 10, success: 3, failed: 3 },
    { at: noon, success: 4, failed: 3 },
  ]);
});

test('a batch that ended at the start of its job counts at the start', async () => {
  expect(await progress([done(noon - 100), {}])).toEqual([
    { at: noon - 100, success: 0, failed: 0 },
    { at: noon - 100, success: 2, failed: 0 },
    { at: noon, success: 2, failed: 0 },
  ]);
});

test('a waiting job has no points yet, and an ended job no further ones', async () => {
  expect(await progress([{}], { state: 'awaiting_approval', startedAt: null })).toEqual([
    { at: noon - 500, success: 0, failed: 0 },
    { at: noon, success: 0, failed: 0 },
  ]);
  const ended = await progress([done(noon - 50)], { state: 'completed', finishedAt: noon - 40 });
  expect(ended.at(-1)).toEqual({ at: noon - 40, success: 2, failed: 0 });
  const rejected = await progress([{}], { state: 'rejecting', startedAt: null });
  expect(rejected.at(-1)).toEqual({ at: noon, success: 0, failed: 2 });
});

test('many batches are reduced to 200 points, including the first and the last', async () => {
  const points = await progress(Array.from({ length: 1_000 }, (_, at) => done(noon + at)));
  expect(points).toHaveLength(200);
  expect(points[0]).toEqual({ at: noon - 100, success: 0, failed: 0 });
  expect(points.at(-1)).toEqual({ at: noon + 999, success: 2_000, failed: 0 });
  const steps = points.slice(1).map((point, at) => point.success - points[at]!.success);
  expect(Math.min(...steps.slice(0, -1))).toBeGreaterThan(0);
  expect(Math.max(...steps)).toBeLessThan(20);
});
