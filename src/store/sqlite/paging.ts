import { type Page, type PageOptions, readCursor, rowsToRead, toPage } from '../cursor.ts';
import { columnOf } from './collection.ts';
import type { RowReader, SqliteConnection, Value } from './connection.ts';

/** A condition of a statement with the values of its parameters. */
export type SqlCondition = readonly [sql: string, ...values: Value[]];

/** A list of rows, newest first. */
export interface NewestRows<T> {
  table: string;
  shape: RowReader<T> & { select: string };
  /** Conditions that every row meets. */
  where: readonly SqlCondition[];
  /** Fields that order the rows and identify a position: a time, then an id. */
  order: readonly [at: keyof T & string, id: keyof T & string];
}

/**
 * Reads a page of a list that is newest first. Throws an `invalid` fault for a token that is not a cursor.
 */
export function readNewest<T>(
  engine: SqliteConnection,
  { table, shape, where, order: [at, id] }: NewestRows<T>,
  page: PageOptions,
): Page<T> {
  const after = readCursor(page);
  const [time, key] = [columnOf(at), columnOf(id)];
  const conditions: SqlCondition[] = [...where, [`(${time}, ${key}) < (?, ?)`, after.at, after.id]];
  const rows = engine.documents(
    shape,
    `SELECT ${shape.select} FROM ${table} WHERE ${conditions.map(([sql]) => sql).join(' AND ')}
     ORDER BY ${time} DESC, ${key} DESC LIMIT ?`,
    ...conditions.flatMap(([, ...values]) => values),
    rowsToRead(page),
  );
  return toPage(rows, page, (row) => ({ at: Number(row[at]), id: String(row[id]) }));
}
