import type { JobContext } from '../../../src/jobs/context.ts';
import { isStream, wrapMethods } from '../../../src/store/wrap.ts';

/** A call to the store. */
export interface StoreCall {
  /** Sequence number, from 1. */
  number: number;
  name: string;
}

/**
 * Returns a context whose store calls go through `onCall`, except those that return async
 * iterables.
 */
export function intercept(
  context: JobContext,
  onCall: (call: StoreCall, run: () => Promise<unknown>) => Promise<unknown>,
): JobContext {
  let calls = 0;
  const store = wrapMethods(context.store, (name, method) =>
    isStream(name)
      ? method
      : async (...parameters) => {
          calls += 1;
          return onCall({ number: calls, name }, async () => method(...parameters));
        },
  );
  return { ...context, store };
}
