import type { JobContext, StoreUse } from '../jobs/context.ts';
import { openStates } from '../store/job-states.ts';

/** States of jobs that the sweep may have to work on: neither ended nor waiting for a decision. */
const states = openStates.filter((state) => state !== 'awaiting_approval');

/** Returns true if the store holds unfinished jobs. */
export async function hasUnfinished({
  store,
  clock,
}: Pick<JobContext, 'clock'> & StoreUse<'jobs'>): Promise<boolean> {
  // Includes jobs whose state changed at this very millisecond.
  return (await store.jobs.find(states, clock.now() + 1, 1)).length > 0;
}
