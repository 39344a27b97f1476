import type { BatchStore } from '../store/store.ts';

/** Counts of a worker's work. */
export interface WorkTally {
  /** Batches in progress. */
  batches: number;
  /** Units completed since the start. */
  unitsDone: number;
}

/** Wraps a store to count the units that it completes. Rejected writes do not count. */
export function withUnitCount<S extends BatchStore>(store: S, tally: WorkTally): S {
  const count = (taken: boolean, outcomes: object) => {
    if (taken) tally.unitsDone += Object.keys(outcomes).length;
    return taken;
  };
  return {
    ...store,
    recordOutcomes: async (batchId, attempt, outcomes, part) =>
      count(await store.recordOutcomes(batchId, attempt, outcomes, part), outcomes),
    finishBatch: async (batchId, attempt, outcomes, part, file, now) =>
      count(await store.finishBatch(batchId, attempt, outcomes, part, file, now), outcomes),
  };
}
