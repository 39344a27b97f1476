import type { MongoCollections } from '../../../src/store/mongo/schema.ts';

/** A call that is suspended before one of its steps until it is resumed. */
export interface HaltedCall<T> {
  reached: Promise<void>;
  resume(): void;
  result: Promise<T>;
}

/**
 * Runs a call that is suspended before its operation number `step` on the collections, from 1;
 * `find` is not counted. For tests of a process that stops between two steps.
 */
export function haltBefore<T>(
  step: number,
  collections: MongoCollections,
  call: (halting: MongoCollections) => Promise<T>,
): HaltedCall<T> {
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
