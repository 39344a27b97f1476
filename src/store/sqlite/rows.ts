import { storedJson } from '../collection.ts';
import { type Declaration, readFields, typeOf } from '../declaration.ts';
import type { RowReader, Value } from './connection.ts';

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

const quotedColumns = new Map<string, string>();

/** Returns the column of a field, or the expression of a member of an object: `values.title`. */
export function quoted(field: string): string {
  const cached = quotedColumns.get(field);
  if (cached !== undefined) return cached;
  const [name = '', member] = field.split('.');
  const column = `"${columnOf(name)}"`;
  const expression = member === undefined ? column : `${column} ->> '${member}'`;
  quotedColumns.set(field, expression);
  return expression;
}

/** Returns the columns of fields, separated by commas. */
export const columnList = (fields: readonly string[]): string => fields.map(quoted).join(', ');

/** Returns as many placeholders as there are values, separated by commas. */
export const marksFor = (values: readonly unknown[]): string => values.map(() => '?').join(', ');

/** Converts a field's value to a column value. */
export function toColumn(value: unknown): Value {
  if (typeof value === 'boolean') return value ? 1 : 0;
  if (typeof value !== 'object' || value === null) return (value ?? null) as Value;
  return value instanceof Uint8Array ? value : storedJson(value);
}

type ReadColumn = (value: Value) => unknown;

/** Returns the conversion of a field's column. Null if the column has the field's value. */
function columnReader(declaration: Declaration, field: string): ReadColumn | null {
  const { type } = typeOf(declaration, field);
  if (type === 'boolean') return (value) => value === 1;
  if (type !== 'json' && type !== 'object') return null;
  return (value) => (value === null ? null : JSON.parse(value as string));
}

/** Creates the mapping of some fields of a declaration; by default those that reads return. */
export function mapRows<T>(
  declaration: Declaration,
  fields = readFields(declaration),
): RowMapping<T> {
  const readers = fields.map((field) => columnReader(declaration, field));
  return {
    columns: columnList(fields),
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
