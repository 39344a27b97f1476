import { describe, expect, test } from 'vitest';
import { aFailure, aJob, aSuccess, aTime, storeJob } from './conformance/samples.ts';
import type { JobState } from './documents.ts';
import {
  aggregate,
  approvalStatus,
  batchStatus,
  endingStates,
  isAccepted,
  jobStatus,
  openStates,
  settledStatus,
  statesBefore,
  statesOf,
  submittingStates,
  unitStatus,
  workingStates,
} from './job-states.ts';
import { rejectInvalidTransitions } from './jobs.ts';
import { openSqliteStore } from './sqlite/open.ts';

test('rejectInvalidTransitions() rejects transitions that the state table does not list', async () => {
  const store = rejectInvalidTransitions(openSqliteStore({ path: ':memory:' }));
  const { job } = await storeJob(store, 1, { state: 'processing' });
  expect(await store.jobs.move(job.id, ['processing'], 'processing', aTime)).toMatchObject({
    id: job.id,
  });
  await expect(store.jobs.move(job.id, ['processing'], 'completed', aTime)).rejects.toThrow(
    'a job cannot move from processing to completed',
  );
  await expect(
    store.jobs.move(job.id, ['processing', 'rejecting'], 'settling', aTime),
  ).rejects.toThrow('from rejecting');
  expect(await store.jobs.move(job.id, ['processing'], 'settling', aTime)).toMatchObject({
    state: 'settling',
  });
});

test('the sets of states follow from the phases', () => {
  expect(submittingStates).toEqual(['submitted', 'discarding']);
  expect(endingStates).toEqual(['settling', 'rejecting', 'terminating']);
  expect(openStates).toHaveLength(9);
  expect(workingStates).toEqual(openStates.filter((state) => state !== 'awaiting_approval'));
  expect(statesBefore('discarding')).toEqual(['submitted', 'awaiting_approval', 'approved']);
  expect(statesOf('processing')).toEqual(['approved', 'processing', 'settling', 'terminating']);
  expect(statesOf('awaiting_approval')).toEqual([
    'submitted',
    'discarding',
    'awaiting_approval',
    'approving',
  ]);
});

describe('jobStatus()', () => {
  test.each<[JobState, string]>([
    ['submitted', 'awaiting_approval'],
    ['discarding', 'awaiting_approval'],
    ['awaiting_approval', 'awaiting_approval'],
    ['approving', 'awaiting_approval'],
    ['approved', 'initializing'],
    ['processing', 'processing'],
    ['settling', 'processing'],
    ['terminating', 'processing'],
    ['rejecting', 'rejected'],
    ['rejected', 'rejected'],
    ['terminated', 'terminated'],
    ['completed', 'completed'],
    ['partial_complete', 'partial_complete'],
    ['failed', 'failed'],
  ])('returns for %s: %s', (state, status) => {
    expect(jobStatus(aJob({ state }))).toBe(status);
  });

  test('returns processing for an approved job that an operator decided on', () => {
    expect(jobStatus(aJob({ state: 'approved', decidedBy: 'someone' }))).toBe('processing');
  });
});

const counts = (total: number, success: number, failed: number) => ({ total, success, failed });

test.each([
  [3, 0, 'completed'],
  [2, 1, 'partial_complete'],
  [0, 3, 'failed'],
])('aggregate() of %i succeeded and %i failed is %s', (success, failed, status) => {
  expect(aggregate(success, failed)).toBe(status);
});

describe('approvalStatus()', () => {
  test.each<[JobState, [number, number, number], string]>([
    ['submitted', [2, 0, 0], 'awaiting_approval'],
    ['awaiting_approval', [2, 0, 0], 'awaiting_approval'],
    ['approving', [2, 0, 0], 'awaiting_approval'],
    ['approved', [2, 0, 0], 'initializing'],
    ['processing', [2, 0, 0], 'processing'],
    ['processing', [2, 1, 0], 'processing'],
    ['processing', [2, 1, 1], 'partial_complete'],
    ['settling', [2, 2, 0], 'completed'],
    ['settling', [2, 0, 2], 'failed'],
    ['rejecting', [2, 0, 0], 'rejected'],
    ['rejected', [2, 0, 2], 'rejected'],
    ['completed', [2, 2, 0], 'completed'],
    ['partial_complete', [2, 1, 1], 'partial_complete'],
    ['failed', [2, 0, 2], 'failed'],
    ['terminating', [2, 1, 0], 'processing'],
    ['terminated', [2, 1, 1], 'partial_complete'],
    ['terminated', [2, 0, 2], 'failed'],
  ])('%s with %j is %s', (state, [total, success, failed], status) => {
    expect(approvalStatus(aJob({ state }), counts(total, success, failed))).toBe(status);
  });

  test('returns processing once an operator approved the job', () => {
    expect(approvalStatus(aJob({ state: 'approved', decidedBy: 'someone' }), counts(2, 0, 0))).toBe(
      'processing',
    );
  });
});

describe('batchStatus()', () => {
  const running = aJob({ state: 'processing' });
  test.each([
    ['waiting', 0, 'PENDING'],
    ['queued', 0, 'PENDING'],
    ['claimed', 1, 'PENDING'],
    ['done', 1, 'SUCCESS'],
    ['done', 0, 'FAILED'],
  ] as const)('maps %s with %i results to %s', (state, success, status) => {
    expect(batchStatus({ state, success }, running)).toBe(status);
  });

  test.each(['rejecting', 'rejected'] as const)('returns FAILED for a job that is %s', (state) => {
    expect(batchStatus({ state: 'waiting', success: 0 }, aJob({ state }))).toBe('FAILED');
  });
});

test('unitStatus() is the outcome, PENDING without one, and FAILED for a rejected job', () => {
  const running = aJob({ state: 'processing' });
  expect(unitStatus(aSuccess(), running)).toBe('SUCCESS');
  expect(unitStatus(aFailure, running)).toBe('FAILED');
  expect(unitStatus(undefined, running)).toBe('PENDING');
  expect(unitStatus(undefined, aJob({ state: 'rejecting' }))).toBe('FAILED');
});

describe('settledStatus()', () => {
  test.each<[JobState, number | null, string]>([
    ['approved', null, 'initializing'],
    ['processing', null, 'processing'],
    ['settling', null, 'processing'],
    ['terminating', null, 'partial_complete'],
    ['settling', 1, 'partial_complete'],
    ['partial_complete', 1, 'partial_complete'],
  ])('returns for %s, finished at %s: %s', (state, finishedAt, status) => {
    expect(settledStatus(aJob({ state, finishedAt }), counts(2, 1, 1))).toBe(status);
  });
});

test.each<[JobState, boolean]>([
  ['submitted', false],
  ['discarding', false],
  ['awaiting_approval', true],
  ['processing', true],
])('isAccepted() of a job that is %s is %s', (state, accepted) => {
  expect(isAccepted({ state })).toBe(accepted);
});
