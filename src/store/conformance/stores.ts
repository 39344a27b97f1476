import { afterAll, beforeAll } from 'vitest';
import type { Store } from '../store.ts';

/** Two stores on the same, initially empty data, as in two processes. */
export interface Stores {
  store: Store;
  other: Store;
  /** Closes both and deletes the data. */
  remove(): Promise<void>;
}

/** Opens stores on separate data. */
export type OpenStores = () => Promise<Stores>;

/** Opens stores before the tests of the current group, and deletes them afterwards. */
export function setUpStores(open: OpenStores): { readonly store: Store; readonly other: Store } {
  let stores: Stores;
  beforeAll(async () => {
    stores = await open();
  });
  afterAll(() => stores?.remove());
  return {
    get store() {
      return stores.store;
    },
    get other() {
      return stores.other;
    },
  };
}

/** Makes many concurrent calls, alternating between the two stores. */
export function runConcurrently<T>(
  times: number,
  stores: { store: Store; other: Store },
  call: (store: Store, turn: number) => Promise<T>,
): Promise<T[]> {
  return Promise.all(
    Array.from({ length: times }, (_, turn) =>
      call(turn % 2 === 0 ? stores.store : stores.other, turn),
    ),
  );
}

/** Collects an async iterable. */
export async function collect<T>(source: AsyncIterable<T>): Promise<T[]> {
  const items: T[] = [];
  for await (const item of source) items.push(item);
  return items;
}

/** Collects a list that is returned in pages of `limit`. */
export async function allPages<T>(
  limit: number,
  read: (page: {
    limit: number;
    after: string | null;
  }) => Promise<{ items: T[]; next: string | null }>,
): Promise<T[]> {
  const items: T[] = [];
  let after: string | null = null;
  do {
    const page = await read({ limit, after });
    items.push(...page.items);
    after = page.next;
  } while (after !== null);
  return items;
}
