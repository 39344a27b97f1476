import type { Clock } from '../base/clock.ts';
import type { Store } from '../store/store.ts';
import { replaceMethods } from '../store/wrap.ts';

/** Observer of the calls to the store that the work on batches repeats. */
export interface BatchCallObserver {
  /** Called with the time that the store took to respond, in milliseconds. */
  responded(durationMs: number): void;
  /** Called with the attempt of each claim. */
  claimed(claim: { batchId: string; attempt: number }): void;
  /** Called with the number of units whose outcomes were written. */
  recorded(units: number): void;
}

/** Wraps a store to observe its responses. Failed calls, and rejected writes, are not observed. */
export function observeBatches(store: Store, clock: Clock, observer: BatchCallObserver): Store {
  const { batches } = store;
  const timed = async <T>(call: Promise<T>): Promise<T> => {
    const startedAt = clock.steady();
    const response = await call;
    observer.responded(clock.steady() - startedAt);
    return response;
  };
  return replaceMethods(store, {
    batches: {
      claim: async (...claim) => {
        const batch = await timed(batches.claim(...claim));
        if (batch !== null) observer.claimed({ batchId: batch.id, attempt: batch.attempt });
        return batch;
      },
      update: (...update) => timed(batches.update(...update)),
      recordOutcomes: async (batch, attempt, write) => {
        const isWritten = await timed(batches.recordOutcomes(batch, attempt, write));
        if (isWritten) observer.recorded(Object.keys(write.outcomes).length);
        return isWritten;
      },
    },
  });
}
