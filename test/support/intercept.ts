import type { JobContext } from '../../src/jobs/context.ts';

/** A call to the store. */
export interface StoreCall {
  /** Sequence number, from 1. */
  number: number;
  name: string;
}

/** Returns a context whose store calls go through `onCall`, except those that return async iterables. */
export function intercept(
  context: JobContext,
  onCall: (call: StoreCall, run: () => Promise<unknown>) => Promise<unknown>,
): JobContext {
  let calls = 0;
  const store = new Proxy(context.store, {
    get(target, name) {
      const value = Reflect.get(target, name) as unknown;
      if (typeof value !== 'function' || name === 'readBatches' || name === 'auditAccounts') return value;
      return async (...parameters: unknown[]) => {
        calls += 1;
        return onCall({ number: calls, name: String(name) }, async () => value.apply(target, parameters));
      };
    },
  });
  return { ...context, store };
}
