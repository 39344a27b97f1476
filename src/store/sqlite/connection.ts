import type { SQLInputValue } from 'node:sqlite';

/** A parameter of a statement or a value of a row. */
export type Value = SQLInputValue;

/** Conversion of rows to documents. */
export interface RowReader<T> {
  /** Converts a row with the columns of the statement to a document. */
  read(row: readonly Value[]): T;
}

/** Statements and transactions. */
export interface SqliteConnection {
  /** Returns all rows of a statement, which may also write (RETURNING). */
  all<T>(sql: string, ...values: Value[]): T[];
  /** Returns the first row, or null. */
  get<T>(sql: string, ...values: Value[]): T | null;
  /** Returns all documents of a statement that selects the mapping's `select`. */
  documents<T>(shape: RowReader<T>, sql: string, ...values: Value[]): T[];
  /** Returns the first document, or null. */
  document<T>(shape: RowReader<T>, sql: string, ...values: Value[]): T | null;
  /** Runs a statement and returns the number of changed rows. */
  run(sql: string, ...values: Value[]): number;
  /** Runs a function as one transaction, which is rolled back if the function throws. */
  write<T>(step: () => T): T;
}
