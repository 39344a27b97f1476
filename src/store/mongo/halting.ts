import type { Collections } from './schema.ts';

/** A call that stops before one of its steps, for good unless it is resumed. */
export interface Halted<T> {
  reached: Promise<void>;
  resume(): void;
  result: Promise<T>;
}

/**
 * Runs a call that halts before its operation number `step`, from 1, on the collections. A `find` is
 * not counted. For tests: what happens when a process stops or dies between any two steps.
 */
export function until<T>(
  step: number,
  collections: Collections,
  call: (halting: Collections) => Promise<T>,
): Halted<T> {
  const reached = Promise.withResolvers<void>();
  const gate = Promise.withResolvers<void>();
  let operations = 0;
  const halting = <C extends object>(collection: C): C =>
    new Proxy(collection, {
      get: (target, name) => {
        const member = Reflect.get(target, name);
        if (typeof member !== 'function') return member;
        if (!/One|Many/.test(String(name))) return member.bind(target);
        return async (...values: unknown[]) => {
          operations += 1;
          if (operations === step) {
            reached.resolve();
            await gate.promise;
          }
          return member.apply(target, values);
        };
      },
    });
  const all = Object.entries(collections).map(([name, collection]) => [name, halting(collection)]);
  const result = call(Object.fromEntries(all));
  // A call that ends before the step must fail the test, not hang it.
  result.then(
    () => reached.reject(new Error(`ended before step ${step}`)),
    (thrown) => reached.reject(thrown),
  );
  reached.promise.catch(() => {});
  return { reached: reached.promise, resume: () => gate.resolve(), result };
}
