import type { BatchStore } from '../store/store.ts';

/** What a worker has done and does. */
export interface WorkTally {
  /** Batches that it works on now. */
  batches: number;
  /** Units that it has ended since its start. */
  unitsDone: number;
}

/** A store that counts the units which are ended through it: those of writes that were taken. */
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
