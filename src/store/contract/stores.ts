import { afterAll, beforeAll } from 'vitest';
import type { Store } from '../store.ts';

/** Two stores on the same, at first empty data: what two processes would have. */
export interface Stores {
  store: Store;
  other: Store;
  /** Closes both and removes the data. */
  remove(): Promise<void>;
}

/** Opens stores on data of their own. */
export type OpenStores = () => Promise<Stores>;

/** Opens stores before the tests of the part it is called in, removes them after. */
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

/** Runs a call many times at once, every second time on the other store. */
export function runConcurrently<T>(
  times: number,
  stores: { store: Store; other: Store },
  call: (store: Store, turn: number) => Promise<T>,
): Promise<T[]> {
  return Promise.all(
    Array.from({ length: times }, (_, turn) => call(turn % 2 === 0 ? stores.store : stores.other, turn)),
  );
}

/** All items of an async iterable. */
export async function collect<T>(source: AsyncIterable<T>): Promise<T[]> {
  const items: T[] = [];
  for await (const item of source) items.push(item);
  return items;
}

/** All items of a list that comes in pages of `limit`. */
export async function allPages<T>(
  limit: number,
  read: (page: { limit: number; after: string | null }) => Promise<{ items: T[]; next: string | null }>,
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
