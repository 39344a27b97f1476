import { afterEach, beforeEach, expect, test } from 'vitest';
import { type JobsBench, openJobs, variantSoldRequest } from '../../test/support/jobs.ts';
import { newId } from '../base/id.ts';
import { approve } from '../jobs/decide.ts';
import { hasUnfinished } from './unfinished.ts';

let bench: JobsBench;
beforeEach(async () => {
  bench = await openJobs({ jobWindow: 2 });
});
afterEach(() => bench.close());

test('hasUnfinished() finds an approved job, and not one that waits for a decision', async () => {
  expect(await hasUnfinished(bench.context)).toBe(false);
  const userId = await bench.createUser(10_000);
  const { jobId } = await bench.submit(userId, 'SubmitVariantSold', variantSoldRequest(3));
  expect(await hasUnfinished(bench.context)).toBe(false);
  await approve(bench.context, jobId, newId());
  expect(await hasUnfinished(bench.context)).toBe(true);
});
