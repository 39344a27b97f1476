import { expect, test } from 'vitest';
import { aTime, storeJob } from './conformance/samples.ts';
import { endingStates, openStates, statesOf, submittingStates, workingStates } from './job-states.ts';
import { openSqliteStore } from './sqlite/open.ts';
import { refuseOtherMoves } from './wrap.ts';

test('refuseOtherMoves() lets a job move only along its life, or stay in its state', async () => {
  const store = refuseOtherMoves(openSqliteStore({ path: ':memory:' }));
  const { job } = await storeJob(store, 1, { state: 'processing' });
  expect(await store.jobs.move(job.id, ['processing'], 'processing', aTime)).toMatchObject({ id: job.id });
  await expect(store.jobs.move(job.id, ['processing'], 'completed', aTime)).rejects.toThrow(
    'a job cannot move from processing to completed',
  );
  await expect(store.jobs.move(job.id, ['processing', 'rejecting'], 'settling', aTime)).rejects.toThrow(
    'from rejecting',
  );
  expect(await store.jobs.move(job.id, ['processing'], 'settling', aTime)).toMatchObject({
    state: 'settling',
  });
});

test('the sets of states follow from the phases', () => {
  expect(submittingStates).toEqual(['submitted', 'discarding']);
  expect(endingStates).toEqual(['settling', 'rejecting', 'terminating']);
  expect(openStates).toHaveLength(9);
  expect(workingStates).toEqual(openStates.filter((state) => state !== 'awaiting_approval'));
  expect(statesOf('processing')).toEqual(['approved', 'processing', 'settling', 'terminating']);
  expect(statesOf('awaiting_approval')).toEqual([
    'submitted',
    'discarding',
    'awaiting_approval',
    'approving',
  ]);
});
