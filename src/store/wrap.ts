import type { Store } from './store.ts';

type Method = (...parameters: never[]) => unknown;

/** Names of a store's methods that return streams: `batches.read`, `ledger.audit`. */
type StreamName = {
  [N in keyof Store]: Store[N] extends Method ? StreamOf<Store[N], N> : StreamMembers<Store[N], N>;
}[keyof Store];
type StreamMembers<T, N extends string> = {
  [M in keyof T & string]: StreamOf<T[M], `${N}.${M}`>;
}[keyof T & string];
type StreamOf<T, N> = T extends (...parameters: never[]) => AsyncIterable<unknown> ? N : never;

const streams: Readonly<Record<StreamName, true>> = { 'ledger.audit': true, 'batches.read': true };

/** Returns true if a method returns a stream of documents, which is no single step. */
export const isStream = (name: string): boolean => Object.hasOwn(streams, name);

/**
 * Wraps every method of a store or another port, also those of its collections and other members.
 * The name of a method is its path: `ping`, `schedules.get`.
 */
export function wrapMethods<S extends object>(
  port: S,
  wrap: (
    name: string,
    method: (...parameters: unknown[]) => unknown,
  ) => (...parameters: unknown[]) => unknown,
): S {
  const wrapMembers = (members: object, path: string): object =>
    Object.fromEntries(
      Object.entries(members).map(([member, value]) => {
        const name = `${path}${member}`;
        if (typeof value === 'function') return [member, wrap(name, value)];
        const hasMembers = typeof value === 'object' && value !== null;
        return [member, hasMembers ? wrapMembers(value, `${name}.`) : value];
      }),
    );
  return wrapMembers(port, '') as S;
}

/** Some methods of a store, by its member: `{ schedules: { get } }`. */
export type StoreMethods<S = Store> = {
  readonly [N in keyof S]?: S[N] extends Method ? S[N] : Partial<S[N]>;
};

/** Returns the store with some of its methods replaced. */
export function replaceMethods<S extends object>(store: S, methods: StoreMethods<S>): S {
  const replaced = Object.entries(methods).map(([name, replacement]) => [
    name,
    typeof replacement === 'function'
      ? replacement
      : { ...store[name as keyof S], ...(replacement as object) },
  ]);
  return { ...store, ...Object.fromEntries(replaced) };
}
