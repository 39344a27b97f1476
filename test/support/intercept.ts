import type { JobContext } from '../../src/jobs/context.ts';

/** A call to the store. */
export interface StoreCall {
  /** Place among the calls, from 1. */
  number: number;
  name: string;
}

/** The same context, with `meet` in charge of every call to the store. Lists read piece by piece pass. */
export function intercept(
  context: JobContext,
  meet: (call: StoreCall, run: () => Promise<unknown>) => Promise<unknown>,
): JobContext {
  let calls = 0;
  const store = new Proxy(context.store, {
    get(target, name) {
      const value = Reflect.get(target, name) as unknown;
      if (typeof value !== 'function' || name === 'readBatches' || name === 'auditAccounts') return value;
      return async (...parameters: unknown[]) => {
        calls += 1;
        return meet({ number: calls, name: String(name) }, async () => value.apply(target, parameters));
      };
    },
  });
  return { ...context, store };
}
