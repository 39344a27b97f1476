import { create } from '@bufbuild/protobuf';
import { describe, expect, test } from 'vitest';
import { JobSchema } from '../../gen/gleaner/job/v1/job_pb.ts';
import { creditsText, jobName, jobTitle, progressText, unitStatus, waitText } from './job.ts';

test('jobTitle() and jobName() are the name of a job, or say what it collects', () => {
  const fields = { kind: 'pdp_bulk', market: 'mktd', total: 2 };
  expect(jobTitle(create(JobSchema, fields))).toBe('Product page bulk on TikTok Shop, 2 units');
  expect(jobName(create(JobSchema, fields))).toBe('Product page bulk on TikTok Shop');
  const named = create(JobSchema, { ...fields, options: { name: 'Weekly' } });
  expect([jobTitle(named), jobName(named)]).toEqual(['Weekly', 'Weekly']);
});

test.each([
  ['mkta/id: blocked (page_blocked)', 'Shopee, Indonesia (id): blocked (page_blocked)'],
  ['mktf: paused 1', 'Shopify stores: paused 1'],
  ['sites/example: paused 1', 'Declared sites, example: paused 1'],
  ['working hours', 'working hours'],
  ['storage unavailable: try', 'storage unavailable: try'],
])('waitText() describes "%s" as "%s"', (reason, expected) => {
  expect(waitText(reason)).toBe(expected);
});

describe('progressText()', () => {
  test.each([
    [{ success: 0, failed: 60, notRun: 60, total: 60 }, 'Not run'],
    [
      { success: 120, failed: 280, notRun: 277, total: 400 },
      '120 of 400 collected, 3 failed, 277 not run',
    ],
    [{ success: 50, failed: 0, notRun: 0, total: 60 }, '50 of 60 collected'],
    [{ success: 0, failed: 2, notRun: 0, total: 2 }, '0 of 2 collected, 2 failed'],
  ])('describes %j as "%s"', (job, expected) => {
    expect(progressText(job)).toBe(expected);
  });
});

describe('creditsText()', () => {
  const job = { cost: 600, charged: 600, refunded: 0, ended: true };
  test.each([
    [{ charged: 0 }, 'Nothing charged'],
    [{ charged: 0, ended: false }, '600 credits on approval'],
    [{ cost: 0, charged: 0, ended: false }, 'Costs nothing'],
    [{}, '600 credits'],
    [{ charged: 1 }, '1 credit'],
    [{ refunded: 80 }, '600 credits, 80 refunded'],
  ])('describes %j as "%s"', (part, expected) => {
    expect(creditsText({ ...job, ...part })).toBe(expected);
  });
});

test.each([
  ['FAILED', 'rejected', 'NOT_RUN'],
  ['FAILED', 'terminated', 'NOT_RUN'],
  ['FAILED', 'page_not_found', 'FAILED'],
  ['SUCCESS', '', 'SUCCESS'],
])('unitStatus() of %s with code "%s" is %s', (status, code, expected) => {
  expect(unitStatus({ status, code })).toBe(expected);
});
