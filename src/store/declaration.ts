/** Type of a field's values. `number` is for times and other numbers that may have fractions. */
type BaseType = 'string' | 'integer' | 'number' | 'boolean' | 'json' | 'object' | 'bytes';

/**
 * Type of a field. Times are positive numbers. `json` is JSON text on both engines, for values
 * whose member names come from callers; `object` is a nested document in MongoDB. `?`: may be null.
 */
export type FieldType = BaseType | `${BaseType}?`;

/** Types that a field with values `V` can have. */
type BaseTypeOf<V> = V extends string
  ? 'string'
  : V extends number
    ? 'integer' | 'number'
    : V extends boolean
      ? 'boolean'
      : V extends Uint8Array
        ? 'bytes'
        : 'json' | 'object';
type FieldTypeOf<V> = null extends V ? `${BaseTypeOf<NonNullable<V>>}?` : BaseTypeOf<V>;

/** Name of a field of a document. */
export type FieldOf<T> = keyof T & string;

/** Index in ascending order, which is read in both directions. */
export interface Index<F extends string = string> {
  readonly fields: readonly F[];
  /**
   * No two documents have the same values. With one field that may be null, any number of documents
   * may have null.
   */
  readonly unique?: true;
  /**
   * Only documents in which this field is set: not null, or if it cannot be null, neither '' nor
   * false.
   */
  readonly whereSet?: F;
}

/** Which stored document upsert() replaces. */
export interface UpsertRule<F extends string = string> {
  /**
   * Fields whose values order the versions of a document: a stored one stays if its values are
   * later.
   */
  readonly versionedBy: readonly F[];
  /** True if a stored document with equal values stays, too. */
  readonly keepsEqual?: true;
  /** Fields that only the first write stores. */
  readonly insertOnly?: readonly F[];
}

/**
 * Declaration of a collection, from which both engines derive its schema, its queries, and its
 * copies.
 */
export interface Declaration<F extends string = string> {
  /** Name in MongoDB. The table in SQLite has the same name in snake case. */
  readonly name: string;
  /**
   * Types of the fields, in the order of SQLite's columns. Large values are last, because SQLite
   * reads a row only up to the last column that it needs.
   */
  readonly fields: Readonly<Record<F, FieldType>>;
  /** Fields that identify a document. */
  readonly id: readonly F[];
  /** Fields that order lists: a time, and what identifies documents with the same one. */
  readonly order: readonly [F, F, ...F[]];
  /** Indexes of both engines. */
  readonly indexes?: readonly Index<F>[];
  /**
   * Field with few values. Conditions on it are literals of the statement, so that the partial
   * indexes of SQLite for these values apply.
   */
  readonly literalField?: F;
  /** Fields that only `pick()` and copies of the data read. */
  readonly lazyFields?: readonly F[];
  /** Time at which a document has to be processed: null if it waits for nothing. */
  readonly dueTime?: F;
  /** Incremented by each claim of a due document, for writes that name it. */
  readonly claimCounter?: F;
  /**
   * Documents that no operation finds, because a field has one of the values, which its type lacks.
   */
  readonly hidden?: { readonly field: F; readonly values: readonly string[] };
  /** Time whose cutoff decides whether a document is deleted (expire() in expiry.ts). */
  readonly expiresBy?: F;
  /** Which stored document upsert() replaces. By default each. */
  readonly upsert?: UpsertRule<F>;
  /** Fields that accumulate() adds to. */
  readonly counters?: readonly F[];
  /** Field with the id of the user whose documents are deleted with the user. */
  readonly owner?: F;
  /**
   * When a write is on disk. Default: before the call returns, and before others read it.
   * - `relaxed`: later. A power failure may undo writes, because they are repeated or replaced.
   * - `readable_before_sync`: before insert() returns, but others may read the document a moment
   *   earlier. On SQLite, the insert locks the data file for the write, but not for the wait for
   *   the disk.
   */
  readonly durability?: 'relaxed' | 'readable_before_sync';
  /** True for small documents that are found by their ids: SQLite stores them in the id's index. */
  readonly clustered?: true;
  /**
   * True for documents that are often read by their ids, or by another value. SQLite caches them.
   */
  readonly cached?: true;
}

/** Declaration of documents `T`, which names the type of each field. */
export type DeclarationOf<T> = Declaration<FieldOf<T>> & {
  readonly fields: { readonly [K in FieldOf<T>]-?: FieldTypeOf<T[K]> };
};

/**
 * Returns the type of a field, or of the object that has the member, and whether it may be null.
 */
export function typeOf(
  { fields }: Declaration,
  field: string,
): { type: BaseType; isNullable: boolean } {
  const [name = ''] = field.split('.');
  const type = fields[name]!;
  return { type: type.replace('?', '') as BaseType, isNullable: type.endsWith('?') };
}

/** Returns the names of the fields that reads return. */
export function readFields({ fields, lazyFields = [] }: Declaration): string[] {
  return Object.keys(fields).filter((field) => !lazyFields.includes(field));
}

/** Returns the fields that never change: the id's, and the owner. */
export function fixedFields({ id, owner }: Declaration): string[] {
  return owner === undefined ? [...id] : [...new Set([...id, owner])];
}
