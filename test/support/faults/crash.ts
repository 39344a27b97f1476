import { Fault } from '../../../src/contract/fault.ts';
import type { JobContext } from '../../../src/jobs/context.ts';
import { createSharedCounts } from '../../../src/jobs/shared-counts.ts';
import { isStream, wrapMethods } from '../../../src/store/wrap.ts';

/**
 * Faults of a call to an engine. The process crashes `before` the call reaches the engine, or
 * `after` it took effect. Or only the call fails as unavailable: it is `refused`, or took effect
 * and its response is `lost`.
 */
export const callFaults = ['before', 'after', 'refused', 'lost'] as const;

export type CallFault = (typeof callFaults)[number];

/**
 * Faults of a sweep over the calls of a process. A crash before a call leaves what one after the
 * call before it leaves, except among concurrent calls.
 */
export const sweptFaults: readonly CallFault[] = ['after', 'refused', 'lost'];

/**
 * Returns the faults of a sweep on an engine: those of sweptFaults on the first one. On the others,
 * the steps are the same, and only what a crash leaves can differ.
 */
export const sweptFaultsOn = (engine: string): readonly CallFault[] =>
  engine === 'SQLite' ? sweptFaults : ['after'];

/**
 * A simulated process with a fault at one call. After a crash none of its calls reaches an engine;
 * after another fault it continues.
 */
export interface CrashingProcess {
  context: JobContext;
  /** Resolves when it has crashed. */
  crashed: Promise<void>;
  /** Returns true once the fault has occurred. */
  isCrashed(): boolean;
  /** Returns the name of the call with the fault. */
  crashedAt(): string;
  /** Crashes it now, between two calls. */
  kill(): void;
}

/** Thrown by every call of a crashed process, so that its code does not continue. */
class ProcessCrash extends Error {}

/**
 * Creates a process with the context that has a fault at its `last`-th call to store, queue, or
 * files.
 */
export function createCrashingProcess(
  context: JobContext,
  last: number,
  when: CallFault,
): CrashingProcess {
  const continues = when === 'refused' || when === 'lost';
  let calls = 0;
  let crashedIn: string | null = null;
  const { promise: crashed, resolve: markCrashed } = Promise.withResolvers<void>();
  const wrap = <T extends object>(engine: T): T =>
    wrapMethods(engine, (name, method) => {
      /** Counts a call. Returns true if the process crashes at this call. */
      const isLast = () => {
        if (crashedIn !== null && !continues) throw new ProcessCrash(`crashed at ${crashedIn}`);
        calls += 1;
        return calls === last;
      };
      const crash = (): never => {
        crashedIn = name;
        if (continues) throw new Fault('unavailable', `${name} has no response`);
        markCrashed();
        throw new ProcessCrash(`crashed at ${crashedIn}`);
      };
      // These return async iterables, so the wrapper must not be async.
      if (isStream(name)) {
        return (...parameters) => {
          if (isLast()) crash();
          return method(...parameters);
        };
      }
      return async (...parameters) => {
        const crashes = isLast();
        if (crashes && (when === 'before' || when === 'refused')) crash();
        const result = await method(...parameters);
        if (crashes) crash();
        return result;
      };
    });
  const store = wrap(context.store);
  return {
    context: {
      ...context,
      store,
      sharedCounts: createSharedCounts(store, context.clock),
      queue: wrap(context.queue),
      blobs: wrap(context.blobs),
    },
    crashed,
    isCrashed: () => crashedIn !== null,
    crashedAt: () => crashedIn ?? '',
    kill: () => {
      crashedIn ??= 'kill';
      markCrashed();
    },
  };
}
