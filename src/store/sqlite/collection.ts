import { setImmediate as nextTurn } from 'node:timers/promises';
import {
  type Collection,
  inChunks,
  listBy,
  type UpdateOptions,
  type Where,
} from '../collection.ts';
import { type Collections, declarations } from '../collections.ts';
import { type Declaration, fixedFields } from '../declaration.ts';
import type { RowReader, SqliteConnection, Value } from './connection.ts';
import type { ReadCache } from './read-cache.ts';
import {
  addOnConflict,
  afterCondition,
  allOf,
  type BoundSql,
  columnList,
  columnOf,
  conditionsOf,
  idCondition,
  mapRows,
  mapWhole,
  orderBy,
  quoted,
  type RowMapping,
  replaceOnConflict,
  searchCondition,
  updateOf,
  whereOf,
} from './sql.ts';

/** Rows written or deleted per transaction, which blocks the process for some milliseconds. */
const chunkSize = 500;

/** A data file with its connection for writes that a power failure may undo. */
type DataFile = SqliteConnection & {
  readonly relaxed: SqliteConnection;
  readonly cache: ReadCache;
  sync(): Promise<void>;
};

export function createCollections(engine: DataFile): Collections {
  const collections: Record<string, Collection<object>> = {};
  for (const [name, declaration] of Object.entries(declarations))
    collections[name] = createCollection<object>(engine, declaration);
  return collections as unknown as Collections;
}

export function createCollection<T extends object>(
  engine: DataFile,
  declaration: Declaration,
): Collection<T> {
  const table = tableOf<T>(engine, declaration);
  const find = createFind(table);
  return {
    find,
    list: listBy(declaration, find),
    ...createReads(table),
    ...createWrites(table),
    claimDue: createClaim(table),
    remove: createRemove(table),
  };
}

/** A declared table of a data file. */
interface Table<T> {
  engine: DataFile;
  declaration: Declaration;
  name: string;
  /** Rows without the lazy columns. */
  rows: RowMapping<T>;
  /** Rows with all columns. */
  wholeRows: RowMapping<T>;
  /** Connection whose writes are as durable as the table is declared. */
  writer: SqliteConnection;
}

function tableOf<T>(engine: DataFile, declaration: Declaration): Table<T> {
  return {
    engine,
    declaration,
    name: columnOf(declaration.name),
    rows: mapRows<T>(declaration),
    wholeRows: mapWhole<T>(declaration),
    writer: declaration.durability === 'relaxed' ? engine.relaxed : engine,
  };
}

function createFind<T>({ engine, declaration, name, rows }: Table<T>): Collection<T>['find'] {
  return async (where, options = {}) => {
    const { newestFirst = false, after = null, limit, search } = options;
    const order: readonly string[] = options.order ?? declaration.order;
    const conditions = conditionsOf(declaration, where);
    if (after !== null) conditions.push(afterCondition(order, newestFirst, after));
    if (search !== undefined) conditions.push(searchCondition(search));
    const filter = allOf(conditions);
    const { values } = filter;
    const sorting = orderBy(order, newestFirst);
    const sql = `SELECT ${rows.select} FROM ${name} WHERE ${filter.sql} ${sorting}`;
    if (limit !== undefined)
      return engine.documents(rows, `${sql} LIMIT ?`, ...values, Math.max(0, limit));
    if (!declaration.cached || values.length !== 1) return engine.documents(rows, sql, ...values);
    return [...engine.cache.documents(rows, sql, String(values[0]))];
  };
}

type Reads = 'get' | 'pick' | 'count' | 'countBy';

function createReads<T>({ engine, declaration, name, rows }: Table<T>): Pick<Collection<T>, Reads> {
  const byId = `SELECT ${rows.select} FROM ${name} WHERE ${idCondition(declaration)}`;
  return {
    get: async (...id) => {
      if (declaration.cached) return engine.cache.document(rows, byId, String(id[0]));
      return engine.document(rows, byId, ...id);
    },

    pick: async (where, fields, { order, newestFirst = false, skip = 0 } = {}) => {
      const { sql, values } = whereOf(declaration, where);
      const picked = mapRows<never>(declaration, [...fields]);
      const sorting = orderBy(order ?? declaration.id, newestFirst);
      const matches = `SELECT ${picked.select} FROM ${name} WHERE ${sql} ${sorting}`;
      return engine.document(picked, `${matches} LIMIT 1 OFFSET ?`, ...values, skip);
    },

    count: async (where, max) => {
      const { sql, values } = whereOf(declaration, where);
      const matches = `SELECT 1 FROM ${name} WHERE ${sql} LIMIT ?`;
      const counting = `SELECT count(*) AS count FROM (${matches})`;
      return engine.get<{ count: number }>(counting, ...values, max)!.count;
    },

    countBy: async (where, fields) => {
      const { sql, values } = whereOf(declaration, where);
      const grouped = mapRows<object>(declaration, [...fields]);
      const counted = {
        read: (row: readonly Value[]) => ({ ...grouped.read(row), count: row.at(-1) }),
      } as RowReader<never>;
      return engine.documents(
        counted,
        `SELECT ${grouped.select}, count(*) FROM ${name} WHERE ${sql}
         GROUP BY ${grouped.columns} ORDER BY ${grouped.columns}`,
        ...values,
      );
    },
  };
}

type Writes = 'insert' | 'writeAll' | 'update' | 'put' | 'upsert' | 'accumulate';

function createWrites<T extends object>(table: Table<T>): Pick<Collection<T>, Writes> {
  const { engine, declaration, name, rows, wholeRows, writer } = table;
  const isReadableBeforeSync = declaration.durability === 'readable_before_sync';
  const fixed = fixedFields(declaration);
  const insertRow = `INSERT INTO ${name} (${wholeRows.columns}) VALUES (${wholeRows.marks})`;

  const insertOf = (document: T, onConflict: string): BoundSql => ({
    sql: `${insertRow} ON CONFLICT ${onConflict}`,
    values: wholeRows.values(document),
  });
  const insertsOf = (documents: readonly T[], onConflict: string): BoundSql[] =>
    documents.map((document) => insertOf(document, onConflict));
  const insert = async (document: T) => {
    const { sql, values } = insertOf(document, 'DO NOTHING');
    const inserter = isReadableBeforeSync ? engine.relaxed : writer;
    const inserted = inserter.run(sql, ...values);
    if (isReadableBeforeSync) await engine.sync();
    return inserted === 1;
  };
  const update = (where: object, change: object, { add, relaxed }: UpdateOptions<T> = {}) => {
    const { sql, values } = updateOf(declaration, where, change, add);
    const updater = relaxed ? engine.relaxed : writer;
    return updater.document(rows, `${sql} RETURNING ${rows.select}`, ...values);
  };

  return {
    insert,

    writeAll: async (inserts, updates = []) => {
      const statements = insertsOf(inserts, 'DO NOTHING');
      for (const [where, change] of updates) statements.push(updateOf(declaration, where, change));
      runAll(writer, statements);
    },

    update: async (where, change, options) => update(where, change, options as UpdateOptions<T>),

    put: async (document) => {
      if (document.revision === 1) return insert(document);
      const which: Record<string, unknown> = { revision: document.revision - 1 };
      for (const field of fixed) which[field] = document[field as keyof T];
      return update(which, document) !== null;
    },

    upsert: async (documents) =>
      runAll(writer, insertsOf(documents, replaceOnConflict(declaration))),

    accumulate: async (documents) =>
      runAll(writer, insertsOf(documents, addOnConflict(declaration))),
  };
}

/** Runs statements, each chunk of them in a transaction. */
function runAll(connection: SqliteConnection, statements: readonly BoundSql[]): void {
  for (const chunk of inChunks(statements, chunkSize))
    connection.write(() => {
      for (const { sql, values } of chunk) connection.run(sql, ...values);
    });
}

function createClaim<T>({ engine, declaration, name, rows }: Table<T>): Collection<T>['claimDue'] {
  const { dueTime, claimCounter, id, order } = declaration;
  return async (now, leaseUntil, limit, where: Where<T> = {} as Where<T>) => {
    if (dueTime === undefined) throw new Error(`${name} has no due documents`);
    const column = quoted(dueTime);
    const conditions: BoundSql[] = [{ sql: `${column} <= ?`, values: [now] }];
    // The sign excludes the other conditions from the choice of the index.
    for (const { sql, values } of conditionsOf(declaration, where))
      conditions.push({ sql: `+${sql}`, values });
    const { sql: isDue, values } = allOf(conditions);
    const ids = columnList(id);
    const due = `SELECT ${ids} FROM ${name} WHERE ${isDue} ORDER BY ${column}, ${ids} LIMIT ?`;
    // A read before the write, because a process polls often and seldom finds a document.
    if (limit <= 0 || engine.get(due, ...values, 1) === null) return [];
    const sets = [`${column} = ?`];
    if (claimCounter !== undefined) {
      const counter = quoted(claimCounter);
      sets.push(`${counter} = ${counter} + 1`);
    }
    const update = `UPDATE ${name} SET ${sets.join(', ')} WHERE (${ids}) IN (${due})`;
    const claim = `${update} RETURNING ${rows.select}`;
    const claimed = engine.relaxed.documents(rows, claim, leaseUntil, ...values, limit);
    // The order of RETURNING is undefined.
    const by = order[0] as keyof T;
    return claimed.sort((one, other) => Number(one[by]) - Number(other[by]));
  };
}

function createRemove<T>({ engine, declaration, name, writer }: Table<T>): Collection<T>['remove'] {
  const ids = columnList(declaration.id);
  return async (where, limit) => {
    const { sql, values } = whereOf(declaration, where);
    if (limit === undefined) return writer.run(`DELETE FROM ${name} WHERE ${sql}`, ...values);
    const matches = `SELECT ${ids} FROM ${name} WHERE ${sql} LIMIT ?`;
    const removal = `DELETE FROM ${name} WHERE (${ids}) IN (${matches})`;
    let removed = 0;
    while (removed < limit) {
      const size = Math.min(chunkSize, limit - removed);
      const count = engine.relaxed.run(removal, ...values, size);
      removed += count;
      if (count < size) break;
      await nextTurn();
    }
    return removed;
  };
}
