import { setImmediate as nextTurn } from 'node:timers/promises';
import {
  type Collection,
  hiddenFrom,
  inChunks,
  listBy,
  partsOf,
  type Search,
  storedJson,
  type UpdateOptions,
  type Where,
} from '../collection.ts';
import { type Collections, declarations } from '../collections.ts';
import { type Declaration, fixedFields, readFields, typeOf } from '../declaration.ts';
import type { RowReader, SqliteConnection, Value } from './connection.ts';
import type { ReadCache } from './read-cache.ts';

/** Rows written or deleted per transaction, which blocks the process for some milliseconds. */
const chunkSize = 500;

/** Mapping between documents and rows of a table with a column for each field. */
export interface RowMapping<T> extends RowReader<T> {
  /** Column list for INSERT: `"a", "b"`. */
  readonly columns: string;
  /** Placeholders for the columns: `?, ?`. */
  readonly marks: string;
  /** Column list for SELECT and RETURNING, with the fields' names: `"a_b" AS "aB"`. */
  readonly select: string;
  /** Returns the document's values in the order of `columns`. */
  values(document: T): Value[];
}

/** Returns the column or table of a name: `state_since` for `stateSince`. */
export const columnOf = (name: string): string =>
  name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);

const knownColumns = new Map<string, string>();

/** Returns the column of a field, or the expression of a member of an object: `values.title`. */
function quoted(field: string): string {
  const cachedColumn = knownColumns.get(field);
  if (cachedColumn !== undefined) return cachedColumn;
  const [name = '', member] = field.split('.');
  const column = `"${columnOf(name)}"${member === undefined ? '' : ` ->> '${member}'`}`;
  knownColumns.set(field, column);
  return column;
}
const list = (fields: readonly string[]): string => fields.map(quoted).join(', ');
const marksFor = (fields: readonly unknown[]): string => fields.map(() => '?').join(', ');

/** Converts a field's value to a column value. */
export function toColumn(value: unknown): Value {
  if (typeof value === 'boolean') return value ? 1 : 0;
  if (typeof value !== 'object' || value === null) return (value ?? null) as Value;
  return value instanceof Uint8Array ? value : storedJson(value);
}

/** Creates the mapping of some fields of a declaration; by default those that reads return. */
export function mapRows<T>(
  declaration: Declaration,
  fields = readFields(declaration),
): RowMapping<T> {
  const readers = fields.map((field): ((value: Value) => unknown) | null => {
    const { type } = typeOf(declaration, field);
    if (type === 'boolean') return (value) => value === 1;
    if (type !== 'json' && type !== 'object') return null;
    return (value) => (value === null ? null : JSON.parse(value as string));
  });
  return {
    columns: list(fields),
    marks: marksFor(fields),
    select: fields.map((field) => `${quoted(field)} AS "${field}"`).join(', '),
    values: (document) => fields.map((field) => toColumn(document[field as keyof T])),
    read: (row) => {
      const document: Record<string, unknown> = {};
      for (let index = 0; index < fields.length; index++) {
        const read = readers[index]!;
        document[fields[index]!] = read === null ? row[index] : read(row[index]!);
      }
      return document as T;
    },
  };
}

/** Returns the mapping of a declared table with its lazy columns. */
export const mapWhole = <T>(declaration: Declaration): RowMapping<T> =>
  mapRows<T>(declaration, Object.keys(declaration.fields));

const sqlTypes = {
  string: 'TEXT',
  integer: 'INTEGER',
  number: 'REAL',
  boolean: 'INTEGER',
  json: 'TEXT',
  object: 'TEXT',
  bytes: 'BLOB',
};

/**
 * Returns the statements that create a declared table and its indexes. Times are REAL to accept
 * fractions of a millisecond.
 */
export function createTable(declaration: Declaration): string {
  const { name, fields, id, clustered } = declaration;
  const columns = Object.keys(fields).map((field) => {
    const { type, isNullable } = typeOf(declaration, field);
    return `${quoted(field)} ${sqlTypes[type]}${isNullable ? '' : ' NOT NULL'}`;
  });
  return [
    `CREATE TABLE ${columnOf(name)} (${columns.join(', ')}, PRIMARY KEY (${list(id)})) STRICT${clustered ? ', WITHOUT ROWID' : ''};`,
    ...createIndexes(declaration),
  ].join('\n');
}

/** Returns the statements that create the indexes of a declared table. */
function createIndexes(declaration: Declaration): string[] {
  const table = columnOf(declaration.name);
  return (declaration.indexes ?? []).map(({ fields, unique, whereSet }) => {
    const index = [
      table,
      'by',
      ...fields.map(columnOf),
      ...(whereSet === undefined ? [] : ['set']),
    ].join('_');
    const where = whereSet === undefined ? '' : ` WHERE ${setCondition(declaration, whereSet)}`;
    return `CREATE ${unique ? 'UNIQUE ' : ''}INDEX ${index} ON ${table} (${list(fields)})${where};`;
  });
}

function setCondition(declaration: Declaration, field: string): string {
  const { type, isNullable } = typeOf(declaration, field);
  const column = quoted(field);
  if (isNullable) return `${column} IS NOT NULL`;
  return type === 'boolean' ? `${column} = 1` : `${column} > ''`;
}

/** A condition of a statement with the values of its parameters. */
type Term = readonly [sql: string, ...values: Value[]];

const operators: Readonly<Record<string, string>> = {
  is: 'IS',
  not: 'IS NOT',
  above: '>',
  atLeast: '>=',
  below: '<',
  atMost: '<=',
};

/** Returns the condition of documents that are not hidden. */
export const visibleIn = ({ field, values }: NonNullable<Declaration['hidden']>): string =>
  `${quoted(field)} NOT IN (${values.map((value) => `'${value}'`).join(', ')})`;

/**
 * Returns the condition of the visible document whose id's fields have the values of the
 * parameters.
 */
const idCondition = ({ id, hidden }: Declaration): string =>
  [...id.map((field) => `${quoted(field)} = ?`), ...(hidden ? [visibleIn(hidden)] : [])].join(
    ' AND ',
  );

function termsOf(declaration: Declaration, where: object): Term[] {
  const terms = Object.entries(where).flatMap(([field, condition]) =>
    condition === undefined
      ? []
      : partsOf(condition).map(([operator, value]) =>
          field === declaration.literalField
            ? literalTerm(field, operator, value)
            : termOf(field, operator, value),
        ),
  );
  const hidden = hiddenFrom(declaration, where);
  return hidden === undefined ? terms : [...terms, [visibleIn(hidden)]];
}

/** Returns the condition that compares a field, which is never null, with literals. */
function literalTerm(field: string, operator: string, value: unknown): Term {
  const values = (operator === 'in' ? (value as unknown[]) : [value]).map((each) => {
    if (typeof each !== 'string' || !/^\w+$/.test(each))
      throw new Error(`${each} is not a value of ${field}`);
    return `'${each}'`;
  });
  if (operator === 'in') return [`${quoted(field)} IN (${values.join(', ')})`];
  return [`${quoted(field)} ${operator === 'not' ? '<>' : '='} ${values[0]}`];
}

function termOf(field: string, operator: string, value: unknown): Term {
  const column = quoted(field);
  if (operator === 'in')
    return [`${column} IN (SELECT value FROM json_each(?))`, storedJson(value)];
  // Constants, since partial indexes are chosen before parameters are known.
  if (value === null || value === '')
    return [`${column} ${operators[operator]} ${value === null ? 'NULL' : "''"}`];
  const compared = `${column} ${operator === 'is' ? '=' : operators[operator]}`;
  return typeof value === 'boolean'
    ? [`${compared} ${Number(value)}`]
    : [`${compared} ?`, toColumn(value)];
}

function searchTerm({ fields, text }: Search): Term {
  const sought = text.toLowerCase();
  const holds = fields.map((field) => `instr(fold(coalesce(${quoted(field)}, '')), ?)`);
  return [`(${holds.join(' OR ')})`, ...fields.map(() => sought)];
}

const conjunction = (terms: readonly Term[]): string =>
  terms.length === 0 ? 'TRUE' : terms.map(([sql]) => sql).join(' AND ');
const valuesOf = (terms: readonly Term[]): Value[] => terms.flatMap(([, ...values]) => values);

const sorted = (order: readonly string[], newestFirst: boolean): string =>
  order.length === 0
    ? ''
    : `ORDER BY ${order.map((field) => `${quoted(field)}${newestFirst ? ' DESC' : ''}`).join(', ')}`;

/** Returns the statement that changes fields, and adds numbers to others, with its parameters. */
function updateOf(
  declaration: Declaration,
  where: object,
  change: object,
  add: object = {},
): [sql: string, values: Value[]] {
  const terms = termsOf(declaration, where);
  const changed = Object.entries(change).filter(([, value]) => value !== undefined);
  const added = Object.entries(add);
  const sets = [
    ...changed.map(([field]) => `${quoted(field)} = ?`),
    ...added.map(([field]) => `${quoted(field)} = ${quoted(field)} + ?`),
  ];
  const setValues = [...changed, ...added].map(([, value]) => toColumn(value));
  return [
    `UPDATE OR IGNORE ${columnOf(declaration.name)} SET ${sets.join(', ')} WHERE ${conjunction(terms)}`,
    [...setValues, ...valuesOf(terms)],
  ];
}

/** Returns the conflict clause that replaces the documents of the declared rule. */
function replacementOf({ name, fields, id, upsert }: Declaration): string {
  const { versionedBy, keepsEqual = false, insertOnly = [] } = upsert ?? { versionedBy: [] };
  const sets = Object.keys(fields)
    .filter((field) => !id.includes(field) && !insertOnly.includes(field))
    .map((field) => `${quoted(field)} = excluded.${quoted(field)}`);
  const replacement = `(${list(id)}) DO UPDATE SET ${sets.join(', ')}`;
  if (versionedBy.length === 0) return replacement;
  const version = (table: string) =>
    versionedBy.map((field) => `${table}.${quoted(field)}`).join(', ');
  const operator = keepsEqual ? '<' : '<=';
  return `${replacement} WHERE (${version(columnOf(name))}) ${operator} (${version('excluded')})`;
}

/** Runs statements, each chunk of them in a transaction. */
function runAll(
  connection: SqliteConnection,
  runs: readonly [sql: string, values: Value[]][],
): void {
  for (const chunk of inChunks(runs, chunkSize))
    connection.write(() => {
      for (const [sql, values] of chunk) connection.run(sql, ...values);
    });
}

/** A data file with its connection for writes that a power failure may undo. */
type DataFile = SqliteConnection & {
  readonly relaxed: SqliteConnection;
  readonly cache: ReadCache;
  sync(): Promise<void>;
};

export function createCollections(engine: DataFile): Collections {
  return Object.fromEntries(
    Object.entries(declarations).map(([name, declaration]) => [
      name,
      createCollection(engine, declaration),
    ]),
  ) as unknown as Collections;
}

export function createCollection<T extends object>(
  engine: DataFile,
  declaration: Declaration,
): Collection<T> {
  const { id, order: declaredOrder, durability } = declaration;
  const table = columnOf(declaration.name);
  const rows = mapRows<T>(declaration);
  const mapping = mapWhole<T>(declaration);
  const fixed = fixedFields(declaration);
  const writer: SqliteConnection = durability === 'relaxed' ? engine.relaxed : engine;
  const insertSql = `INSERT INTO ${table} (${mapping.columns}) VALUES (${mapping.marks}) ON CONFLICT`;
  const byId = `SELECT ${rows.select} FROM ${table} WHERE ${idCondition(declaration)}`;
  const isReadableBeforeSync = durability === 'readable_before_sync';
  const insert = async (each: T) => {
    const added = (isReadableBeforeSync ? engine.relaxed : writer).run(
      `${insertSql} DO NOTHING`,
      ...mapping.values(each),
    );
    if (isReadableBeforeSync) await engine.sync();
    return added === 1;
  };
  const update = (
    where: Where<T>,
    change: Partial<T>,
    { add, relaxed }: UpdateOptions<T> = {},
  ): T | null => {
    const [sql, values] = updateOf(declaration, where, change, add);
    return (relaxed ? engine.relaxed : writer).document(
      rows,
      `${sql} RETURNING ${rows.select}`,
      ...values,
    );
  };
  const insertsOf = (documents: readonly T[], conflict: string) =>
    documents.map((each): [string, Value[]] => [`${insertSql} ${conflict}`, mapping.values(each)]);
  const find: Collection<T>['find'] = async (where, options = {}) => {
    const {
      order = declaredOrder,
      newestFirst = false,
      limit,
    }: { order?: readonly string[]; newestFirst?: boolean; limit?: number } = options;
    const { after = null, search } = options;
    const terms = termsOf(declaration, where);
    if (after !== null)
      terms.push([`(${list(order)}) ${newestFirst ? '<' : '>'} (${marksFor(after)})`, ...after]);
    if (search !== undefined) terms.push(searchTerm(search));
    const sql = `SELECT ${rows.select} FROM ${table} WHERE ${conjunction(terms)} ${sorted(order, newestFirst)}`;
    const values = valuesOf(terms);
    if (limit !== undefined)
      return engine.documents(rows, `${sql} LIMIT ?`, ...values, Math.max(0, limit));
    if (!declaration.cached || values.length !== 1) return engine.documents(rows, sql, ...values);
    return [...engine.cache.documents(rows, sql, String(values[0]))];
  };

  return {
    insert,

    writeAll: async (inserts, updates = []) =>
      runAll(writer, [
        ...insertsOf(inserts, 'DO NOTHING'),
        ...updates.map(([where, change]) => updateOf(declaration, where, change)),
      ]),

    get: async (...values) =>
      declaration.cached
        ? engine.cache.document(rows, byId, String(values[0]))
        : engine.document(rows, byId, ...values),

    pick: async (where, fields, { order = id as never[], newestFirst = false, skip = 0 } = {}) => {
      const terms = termsOf(declaration, where);
      const picked = mapRows<never>(declaration, [...fields]);
      const sql = `SELECT ${picked.select} FROM ${table} WHERE ${conjunction(terms)} ${sorted(order, newestFirst)} LIMIT 1 OFFSET ?`;
      return engine.document(picked, sql, ...valuesOf(terms), skip);
    },

    find,
    list: listBy(declaration, find),

    count: async (where, max) => {
      const terms = termsOf(declaration, where);
      const sql = `SELECT count(*) AS count FROM (SELECT 1 FROM ${table} WHERE ${conjunction(terms)} LIMIT ?)`;
      return engine.get<{ count: number }>(sql, ...valuesOf(terms), max)!.count;
    },

    countBy: async (where, fields) => {
      const terms = termsOf(declaration, where);
      const counted = mapRows<never>(declaration, [...fields]);
      const sql = `SELECT ${counted.select}, count(*) FROM ${table} WHERE ${conjunction(terms)}
        GROUP BY ${counted.columns} ORDER BY ${counted.columns}`;
      const read = (row: readonly Value[]) => ({
        ...(counted.read(row) as object),
        count: row.at(-1),
      });
      return engine.documents({ read: read as RowReader<never>['read'] }, sql, ...valuesOf(terms));
    },

    update: async (where, change, options) => update(where, change, options as UpdateOptions<T>),

    put: async (document) => {
      if (document.revision === 1) return insert(document);
      const which = Object.fromEntries(fixed.map((field) => [field, document[field as keyof T]]));
      return (
        update({ ...which, revision: document.revision - 1 } as unknown as Where<T>, document) !==
        null
      );
    },

    upsert: async (documents) => runAll(writer, insertsOf(documents, replacementOf(declaration))),

    accumulate: async (documents) => {
      const { counters = [] } = declaration;
      const sets = counters.map(
        (field) => `${quoted(field)} = ${quoted(field)} + excluded.${quoted(field)}`,
      );
      runAll(writer, insertsOf(documents, `(${list(id)}) DO UPDATE SET ${sets.join(', ')}`));
    },

    claimDue: async (now, leaseUntil, limit, where = {}) => {
      const { dueTime, claimCounter } = declaration;
      if (dueTime === undefined) throw new Error(`${table} has no due documents`);
      const column = quoted(dueTime);
      // The sign excludes the other conditions from the choice of the index.
      const terms = termsOf(declaration, where).map(
        ([sql, ...values]): Term => [`+${sql}`, ...values],
      );
      const isDue = conjunction([[`${column} <= ?`], ...terms]);
      const sought = `SELECT ${list(id)} FROM ${table} WHERE ${isDue} ORDER BY ${column}, ${list(id)} LIMIT ?`;
      const values = [now, ...valuesOf(terms)];
      // A read before the write, because a process polls often and seldom finds a document.
      if (limit <= 0 || engine.get(sought, ...values, 1) === null) return [];
      const claimed = engine.relaxed.documents(
        rows,
        `UPDATE ${table} SET ${claimCounter === undefined ? '' : `${quoted(claimCounter)} = ${quoted(claimCounter)} + 1, `}${column} = ?
         WHERE (${list(id)}) IN (${sought}) RETURNING ${rows.select}`,
        leaseUntil,
        ...values,
        limit,
      );
      // The order of RETURNING is undefined.
      const by = declaredOrder[0] as keyof T;
      return claimed.sort((a, b) => Number(a[by]) - Number(b[by]));
    },

    remove: async (where, limit) => {
      const terms = termsOf(declaration, where);
      if (limit === undefined)
        return writer.run(`DELETE FROM ${table} WHERE ${conjunction(terms)}`, ...valuesOf(terms));
      const sql = `DELETE FROM ${table} WHERE (${list(id)}) IN
        (SELECT ${list(id)} FROM ${table} WHERE ${conjunction(terms)} LIMIT ?)`;
      let removed = 0;
      while (removed < limit) {
        const size = Math.min(chunkSize, limit - removed);
        const count = engine.relaxed.run(sql, ...valuesOf(terms), size);
        removed += count;
        if (count < size) break;
        await nextTurn();
      }
      return removed;
    },
  };
}
