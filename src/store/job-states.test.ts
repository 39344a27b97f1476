import { describe, expect, test } from 'vitest';
import { aJob, aTime, storeJob } from './conformance/samples.ts';
import type { JobState } from './documents.ts';
import {
  endingStates,
  jobStatus,
  openStates,
  statesBefore,
  statesOf,
  submittingStates,
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
