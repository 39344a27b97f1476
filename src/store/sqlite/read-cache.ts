import { createBoundedMap } from '../../base/bounded-map.ts';
import type { RowReader, SqliteConnection, Value } from './connection.ts';

/**
 * Cache of queries with one parameter, valid while the data file is unchanged. Documents are
 * frozen, since callers share them.
 */
export interface ReadCache {
  documents<T>(shape: RowReader<T>, sql: string, value: string): readonly T[];
  document<T>(shape: RowReader<T>, sql: string, value: string): T | null;
}

/** Options for createReadCache(). */
export interface ReadCacheOptions extends Pick<SqliteConnection, 'documents'> {
  /**
   * Returns a number that changes whenever any process commits a change to the file; undefined
   * within a transaction, where nothing is cached.
   */
  version(): number | undefined;
}

interface Kept {
  version: number;
  documents: readonly unknown[];
  bytes: number;
}

const maxBytes = 8 * 1024 ** 2;

/** Estimated memory of a row value without its text, in bytes. */
const valueBytes = 16;

/** Creates a cache of at most 8 MB. Each commit invalidates all entries. */
export function createReadCache({ documents, version }: ReadCacheOptions): ReadCache {
  const results = createBoundedMap<Kept>({ maxBytes, sizeOf: ({ bytes }) => bytes });
  const prefixes = new Map<string, string>();
  const prefixOf = (sql: string): string => {
    const entry = prefixes.get(sql);
    if (entry !== undefined) return entry;
    const prefix = `${prefixes.size}:`;
    prefixes.set(sql, prefix);
    return prefix;
  };
  const cache: ReadCache = {
    documents: <T>(shape: RowReader<T>, sql: string, value: string): readonly T[] => {
      const current = version();
      if (current === undefined) return documents(shape, sql, value);
      const key = prefixOf(sql) + value;
      const entry = results.get(key);
      if (entry?.version === current) return entry.documents as readonly T[];
      let bytes = 0;
      const measured = {
        read: (row: readonly Value[]): T => {
          for (const item of row)
            bytes += valueBytes + (typeof item === 'string' ? 2 * item.length : 0);
          return freeze(shape.read(row));
        },
      };
      const found = Object.freeze(documents(measured, sql, value));
      results.set(key, { version: current, documents: found, bytes });
      return found;
    },
    document: (shape, sql, value) => cache.documents(shape, sql, value)[0] ?? null,
  };
  return cache;
}

/** Deep-freezes a value. */
function freeze<T>(value: T): T {
  if (typeof value !== 'object' || value === null || Object.isFrozen(value)) return value;
  for (const member of Object.values(value)) freeze(member);
  return Object.freeze(value);
}
