import { afterEach, beforeEach, expect, test } from 'vitest';
import { type JobFixture, openJobFixture, variantSoldRequest } from '../../test/support/jobs.ts';
import { newId } from '../base/id.ts';
import { approve } from '../jobs/steps/decide.ts';
import { hasUnfinished } from './has-unfinished-jobs.ts';

let fixture: JobFixture;
beforeEach(async () => {
  fixture = await openJobFixture({ jobWindow: 2 });
});
afterEach(() => fixture.close());

test('hasUnfinished() finds an approved job, and not one that waits for a decision', async () => {
  expect(await hasUnfinished(fixture.context)).toBe(false);
  const userId = await fixture.createUser(10_000);
  const { jobId } = await fixture.submit(userId, 'SubmitVariantSold', variantSoldRequest(3));
  expect(await hasUnfinished(fixture.context)).toBe(false);
  await approve(fixture.context, jobId, newId());
  expect(await hasUnfinished(fixture.context)).toBe(true);
});
