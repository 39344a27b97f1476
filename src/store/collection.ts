import { type Page, type PageOptions, readCursor, rowsToRead, toPage } from './cursor.ts';
import type { Declaration, FieldOf } from './declaration.ts';

/**
 * Condition on a field. Several conditions are combined. Text and numbers are ordered; null is
 * outside of the order.
 */
export type Condition<V> =
  | V
  | {
      readonly is?: V;
      readonly in?: readonly V[];
      readonly not?: V;
      readonly above?: V;
      readonly atLeast?: V;
      readonly below?: V;
      readonly atMost?: V;
    };

/**
 * Conditions on the fields of a document. Absent and undefined ones match every document. A member
 * of an object is compared with a value: `'hold.state': 'held'`.
 */
export type Where<T> = { readonly [K in keyof T]?: Condition<T[K]> | undefined } & {
  readonly [K in MemberOf<T>]?: unknown;
};

/** Paths of the members of a document's objects. */
type MemberOf<T> = {
  [K in FieldOf<T>]: NonNullable<T[K]> extends readonly unknown[]
    ? never
    : PathOf<K, NonNullable<T[K]>>;
}[FieldOf<T>];
type PathOf<K extends string, V> = V extends object
  ? string extends keyof V
    ? never
    : `${K}.${keyof V & string}`
  : never;

/** Options for find(). */
export interface FindOptions<T> {
  /**
   * Fields that order the result. Default: the declaration's fields. Without any, the order is
   * undefined.
   */
  order?: readonly (FieldOf<T> | MemberOf<T>)[];
  /** True if the order is descending. */
  newestFirst?: boolean;
  /** Values of the order's fields: only documents that follow them. */
  after?: readonly (string | number)[] | null;
  limit?: number;
  search?: Search;
}

/**
 * Text that one of the fields contains, ignoring case. A field may be a member of an object:
 * `values.title`.
 */
export interface Search {
  readonly fields: readonly string[];
  readonly text: string;
}

/** Options for update(). */
export interface UpdateOptions<S> {
  /** Numbers added to fields. */
  add?: Partial<Record<FieldOf<S>, number>>;
  /** True if a power failure may undo the write, because it is repeated. */
  relaxed?: boolean;
}

/**
 * A collection of documents. Each method is one atomic step, except for those that say otherwise.
 * `T` has the fields that reads return, and `S` also the lazy ones.
 */
export interface Collection<T, S extends T = T> {
  /** Inserts a document. Returns false, and changes nothing, if its id or a unique value exists. */
  insert(document: S): Promise<boolean>;
  /**
   * Inserts the documents that do not exist, then changes those that conditions identify. Not one
   * step: on SQLite some hundred documents are, on MongoDB each.
   */
  writeAll(
    inserts: readonly S[],
    updates?: readonly (readonly [where: Where<S>, change: Partial<S>])[],
  ): Promise<void>;
  /** Returns the document with these values of the id's fields, or null. */
  get(...id: readonly (string | number)[]): Promise<T | null>;
  /**
   * Returns some fields of the first document that matches, or null. `skip`: number of documents
   * before it.
   */
  pick<K extends FieldOf<S>>(
    where: Where<S>,
    fields: readonly K[],
    options?: Pick<FindOptions<S>, 'order' | 'newestFirst'> & { skip?: number },
  ): Promise<Pick<S, K> | null>;
  /** Returns the documents that match. */
  find(where: Where<T>, options?: FindOptions<T>): Promise<T[]>;
  /**
   * Returns a page of the documents that match, newest first by the declared order. Throws an
   * `invalid` fault for a token that is not a cursor.
   */
  list(where: Where<T>, page: PageOptions, search?: Search): Promise<Page<T>>;
  /** Counts the documents that match, and returns at most `max`. */
  count(where: Where<T>, max: number): Promise<number>;
  /** Counts the documents that match by the values of fields, in their order. */
  countBy<K extends FieldOf<T>>(
    where: Where<T>,
    fields: readonly K[],
  ): Promise<(Pick<T, K> & { count: number })[]>;
  /**
   * Changes the document that the conditions identify and returns it. Returns null, and changes
   * nothing, if there is none or a unique value exists.
   */
  update(where: Where<S>, change: Partial<S>, options?: UpdateOptions<S>): Promise<T | null>;
  /**
   * Stores a document whose `revision` follows the stored one, 1 for the first. Returns false, and
   * changes nothing, if another writer was faster or a unique value exists.
   */
  put(document: S & { revision: number }): Promise<boolean>;
  /** Stores documents in place of those that the declared rule replaces; one by one on MongoDB. */
  upsert(documents: readonly S[]): Promise<void>;
  /**
   * Inserts documents, or adds their declared counters to the stored ones; one by one on MongoDB.
   */
  accumulate(documents: readonly S[]): Promise<void>;
  /**
   * Claims up to `limit` documents that are due at `now` and match, the longest due first:
   * increments the declared `claimCounter`, and makes them due again at `leaseUntil`, which is
   * after `now`. Each goes to one caller. Returns them in the declared order. A power failure may
   * undo a claim.
   */
  claimDue(now: number, leaseUntil: number, limit: number, where?: Where<T>): Promise<T[]>;
  /**
   * Deletes the documents that match, or up to `limit` of them without waiting for the disk.
   * Returns their number.
   */
  remove(where: Where<T>, limit?: number): Promise<number>;
}

/** Returns the method list() of a collection that has find(). */
export function listBy<T>(
  { order }: Declaration,
  find: Collection<T>['find'],
): Collection<T>['list'] {
  const [time, id] = order as [FieldOf<T>, FieldOf<T>];
  return async (where, page, search) => {
    const cursor = readCursor(page);
    const found = await find(where, {
      newestFirst: true,
      after: page.after ? [cursor.at, cursor.id] : null,
      limit: rowsToRead(page),
      ...(search === undefined ? {} : { search }),
    });
    return toPage(found, page, (item) => ({ at: Number(item[time]), id: String(item[id]) }));
  };
}

/** Documents deleted per step. */
const chunkSize = 500;

/**
 * Deletes all documents that match, a chunk at a time. A repeated call completes one that failed.
 */
export async function removeAll<T>(
  collection: Pick<Collection<T>, 'remove'>,
  where: Where<T>,
): Promise<void> {
  while ((await collection.remove(where, chunkSize)) === chunkSize);
}

/** Returns what conditions exclude as hidden; nothing if they name the values that they match. */
export function hiddenFrom({ hidden }: Declaration, where: object): Declaration['hidden'] {
  if (hidden === undefined) return undefined;
  const parts = partsOf((where as Record<string, unknown>)[hidden.field]);
  const namesValues = parts.some(
    ([operator, value]) => (operator === 'is' || operator === 'in') && value !== undefined,
  );
  return namesValues ? undefined : hidden;
}

/** Returns the parts of a condition by operator. A plain value is `is`. */
export function partsOf(
  condition: unknown,
): readonly (readonly [operator: string, value: unknown])[] {
  return typeof condition === 'object' && condition !== null && !(condition instanceof Uint8Array)
    ? Object.entries(condition)
    : [['is', condition]];
}

/**
 * Returns the JSON text of a value for storage. Halves of surrogate pairs become U+FFFD, as in the
 * text fields of both engines.
 */
export function storedJson(value: unknown): string {
  const text = JSON.stringify(value);
  if (!/\\ud[89a-f]/.test(text)) return text;
  return JSON.stringify(value, (_, member) =>
    typeof member === 'string' ? member.toWellFormed() : member,
  );
}

/**
 * Splits a sequence into arrays of `size` elements; the last one may be shorter. Reads one array
 * ahead at most.
 */
export function* inChunks<T>(source: Iterable<T>, size: number): Iterable<T[]> {
  let chunk: T[] = [];
  for (const element of source) {
    chunk.push(element);
    if (chunk.length < size) continue;
    yield chunk;
    chunk = [];
  }
  if (chunk.length > 0) yield chunk;
}

/**
 * Yields documents in the order of their positions. `readAfter` returns up to `limit` of those that
 * follow a position.
 */
export async function* readInOrder<T extends { readonly seq: number }>(
  limit: number,
  readAfter: (seq: number) => T[] | Promise<T[]>,
): AsyncGenerator<T> {
  for (let seq = -1; ; ) {
    const documents = await readAfter(seq);
    yield* documents;
    if (documents.length < limit) return;
    seq = documents.at(-1)!.seq;
  }
}
