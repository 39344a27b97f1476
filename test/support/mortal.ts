import type { JobContext } from '../../src/jobs/context.ts';

/** A process that dies at one moment: from then on none of its calls reaches an engine. */
export interface Mortal {
  context: JobContext;
  /** Resolves at its death. */
  death: Promise<void>;
  dead(): boolean;
  /** Name of the call it died at. */
  diedAt(): string;
  /** Ends it now, between two calls. */
  kill(): void;
}

/** What a dead process's code meets: it goes nowhere, as the process is not there any more. */
export class Death extends Error {}

/**
 * The same context in a process that dies at its `last`-th call to store, queue or files: `before`
 * the call reaches the engine, or `after` it took effect and before its answer is seen.
 */
export function mortal(context: JobContext, last: number, when: 'before' | 'after'): Mortal {
  let calls = 0;
  let died: string | null = null;
  const { promise: death, resolve: toll } = Promise.withResolvers<void>();
  const wrap = <T extends object>(engine: T): T =>
    new Proxy(engine, {
      get(target, name) {
        const value = Reflect.get(target, name) as unknown;
        if (typeof value !== 'function') return value;
        const run = (...parameters: unknown[]) => value.apply(target, parameters) as unknown;
        const meet = () => {
          if (died !== null) throw new Death(`dead since ${died}`);
          calls += 1;
          return calls === last;
        };
        const die = (): never => {
          died = String(name);
          toll();
          throw new Death(`died at ${died}`);
        };
        // Lists that are read piece by piece begin with their first piece.
        if (name === 'readBatches' || name === 'auditAccounts') {
          return (...parameters: unknown[]) => {
            if (meet()) die();
            return run(...parameters);
          };
        }
        return async (...parameters: unknown[]) => {
          const mortally = meet();
          if (mortally && when === 'before') die();
          const result = await run(...parameters);
          if (mortally) die();
          return result;
        };
      },
    });
  return {
    context: {
      ...context,
      store: wrap(context.store),
      queue: wrap(context.queue),
      blobs: wrap(context.blobs),
    },
    death,
    dead: () => died !== null,
    diedAt: () => died ?? '',
    kill: () => {
      died ??= 'kill';
      toll();
    },
  };
}
