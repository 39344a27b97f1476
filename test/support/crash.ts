import type { JobContext } from '../../src/jobs/context.ts';
import { isStream, wrapMethods } from '../../src/store/wrap.ts';

/** A simulated process that crashes: afterwards none of its calls reaches an engine. */
export interface CrashingProcess {
  context: JobContext;
  /** Resolves when it has crashed. */
  crashed: Promise<void>;
  isCrashed(): boolean;
  /** Returns the name of the call that crashed. */
  crashedAt(): string;
  /** Crashes it now, between two calls. */
  kill(): void;
}

/** Thrown by every call of a crashed process, so that its code does not continue. */
class ProcessCrash extends Error {}

/**
 * Creates a process with the context that crashes at its `last`-th call to store, queue, or files: `before`
 * the call reaches the engine, or `after` it took effect but before it returns.
 */
export function createCrashingProcess(
  context: JobContext,
  last: number,
  when: 'before' | 'after',
): CrashingProcess {
  let calls = 0;
  let crashedIn: string | null = null;
  const { promise: crashed, resolve: markCrashed } = Promise.withResolvers<void>();
  const wrap = <T extends object>(engine: T): T =>
    wrapMethods(engine, (name, method) => {
      /** Counts a call. Returns true if the process crashes at this call. */
      const isLast = () => {
        if (crashedIn !== null) throw new ProcessCrash(`crashed at ${crashedIn}`);
        calls += 1;
        return calls === last;
      };
      const crash = (): never => {
        crashedIn = name;
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
        if (crashes && when === 'before') crash();
        const result = await method(...parameters);
        if (crashes) crash();
        return result;
      };
    });
  return {
    context: {
      ...context,
      store: wrap(context.store),
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
