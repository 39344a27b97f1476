import { createBoundedMap } from '../../base/bounded-map.ts';
import type { Connection, Readable, Value } from './engine.ts';

/** Reads by one value, answered from memory while the data file is unchanged. Documents are frozen, since callers share them. */
export interface Recall {
  documents<T>(shape: Readable<T>, sql: string, value: string): readonly T[];
  document<T>(shape: Readable<T>, sql: string, value: string): T | null;
}

/** Options for createRecall(). */
export interface RecallOptions extends Pick<Connection, 'documents'> {
  /**
   * Returns a number that differs from every earlier one whenever a commit of this process or of another changed the
   * file in between; undefined within a transaction, where nothing is kept.
   */
  version(): number | undefined;
}

interface Kept {
  version: number;
  documents: readonly unknown[];
  bytes: number;
}

const maxBytes = 8 * 1024 ** 2;

/** Estimated memory of a value of a row beside its text, in bytes. */
const valueBytes = 16;

/** Creates a memory of at most 8 MB that forgets everything with the next commit. */
export function createRecall({ documents, version }: RecallOptions): Recall {
  const kept = createBoundedMap<Kept>({ maxBytes, sizeOf: ({ bytes }) => bytes });
  const prefixes = new Map<string, string>();
  const prefixOf = (sql: string): string => {
    const known = prefixes.get(sql);
    if (known !== undefined) return known;
    const prefix = `${prefixes.size}:`;
    prefixes.set(sql, prefix);
    return prefix;
  };
  const recall: Recall = {
    documents: <T>(shape: Readable<T>, sql: string, value: string): readonly T[] => {
      const current = version();
      if (current === undefined) return documents(shape, sql, value);
      const key = prefixOf(sql) + value;
      const known = kept.get(key);
      if (known?.version === current) return known.documents as readonly T[];
      let bytes = 0;
      const measured = {
        read: (row: readonly Value[]): T => {
          for (const item of row) bytes += valueBytes + (typeof item === 'string' ? 2 * item.length : 0);
          return freeze(shape.read(row));
        },
      };
      const found = Object.freeze(documents(measured, sql, value));
      kept.set(key, { version: current, documents: found, bytes });
      return found;
    },
    document: (shape, sql, value) => recall.documents(shape, sql, value)[0] ?? null,
  };
  return recall;
}

/** Freezes a document and everything in it. */
function freeze<T>(value: T): T {
  if (typeof value !== 'object' || value === null || Object.isFrozen(value)) return value;
  for (const member of Object.values(value)) freeze(member);
  return Object.freeze(value);
}
