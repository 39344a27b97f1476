import { LRUCache } from 'lru-cache';

export interface BoundedMapOptions<Value extends NonNullable<unknown>> {
  /** Maximum size of all entries together, in bytes. */
  maxBytes: number;
  /** Maximum number of entries. Default: unlimited. */
  maxEntries?: number;
  /** Estimates the size of a value in bytes. The map adds the size of the key and the entry. */
  sizeOf: (value: Value) => number;
}

/** A map for keys chosen by clients or sites. Does not keep an entry larger than `maxBytes`. */
export interface BoundedMap<Value extends NonNullable<unknown>> {
  /** Returns the value and marks it as recently used. */
  get(key: string): Value | undefined;
  /** Returns the value without marking it as recently used. */
  peek(key: string): Value | undefined;
  /**
   * Stores a value, or measures a stored value again after it has grown. Evicts the least recently
   * used entries.
   */
  set(key: string, value: Value): void;
  delete(key: string): void;
  clear(): void;
  keys(): Iterable<string>;
  readonly size: number;
  /** Estimated size of all entries, in bytes. */
  readonly bytes: number;
}

/** Memory of an entry without its key and value, in bytes. */
const entryBytes = 128;

/** Creates a map that evicts the least recently used entries above `maxBytes`. */
export function createBoundedMap<Value extends NonNullable<unknown>>({
  maxBytes,
  maxEntries = Number.POSITIVE_INFINITY,
  sizeOf,
}: BoundedMapOptions<Value>): BoundedMap<Value> {
  const entries = new LRUCache<string, Value>({
    maxSize: maxBytes,
    sizeCalculation: (value, key) => entryBytes + 2 * key.length + Math.ceil(sizeOf(value)),
  });
  return {
    get: (key) => entries.get(key),
    peek: (key) => entries.peek(key),
    set: (key, value) => {
      // The cache does not measure a value that it already holds.
      if (entries.peek(key) === value) entries.delete(key);
      entries.set(key, value);
      if (entries.size > maxEntries) entries.pop();
    },
    delete: (key) => {
      entries.delete(key);
    },
    clear: () => entries.clear(),
    keys: () => entries.keys(),
    get size() {
      return entries.size;
    },
    get bytes() {
      return entries.calculatedSize;
    },
  };
}
