import { hiddenFrom, partsOf, type Search, storedJson } from '../collection.ts';
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
const marksFor = (values: readonly unknown[]): string => values.map(() => '?').join(', ');

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

/** A condition or a statement, and the values of its parameters. */
export interface BoundSql {
  sql: string;
  values: readonly Value[];
}

/** SQL without parameters. */
const constant = (sql: string): BoundSql => ({ sql, values: [] });

const operators: Readonly<Record<string, string>> = {
  is: 'IS',
  not: 'IS NOT',
  above: '>',
  atLeast: '>=',
  below: '<',
  atMost: '<=',
};

/** Returns the condition of documents that are not hidden. */
export function visibleIn({ field, values }: NonNullable<Declaration['hidden']>): string {
  const literals = values.map((value) => `'${value}'`);
  return `${quoted(field)} NOT IN (${literals.join(', ')})`;
}

/**
 * Returns the condition of the visible document whose id's fields have the values of the
 * parameters.
 */
export function idCondition({ id, hidden }: Declaration): string {
  const conditions = id.map((field) => `${quoted(field)} = ?`);
  if (hidden !== undefined) conditions.push(visibleIn(hidden));
  return conditions.join(' AND ');
}

/** Returns the conditions of the visible documents that match. All of them have to hold. */
export function conditionsOf(declaration: Declaration, where: object): BoundSql[] {
  const conditions: BoundSql[] = [];
  for (const [field, condition] of Object.entries(where)) {
    if (condition === undefined) continue;
    const compare = field === declaration.literalField ? compareLiteral : compareParameter;
    for (const [operator, value] of partsOf(condition))
      conditions.push(compare(field, operator, value));
  }
  const hidden = hiddenFrom(declaration, where);
  if (hidden !== undefined) conditions.push(constant(visibleIn(hidden)));
  return conditions;
}

/** Returns the condition that compares a field, which is never null, with literals. */
function compareLiteral(field: string, operator: string, value: unknown): BoundSql {
  const column = quoted(field);
  const literalOf = (each: unknown) => {
    if (typeof each !== 'string' || !/^\w+$/.test(each))
      throw new Error(`${each} is not a value of ${field}`);
    return `'${each}'`;
  };
  if (operator === 'in') {
    const literals = (value as unknown[]).map(literalOf);
    return constant(`${column} IN (${literals.join(', ')})`);
  }
  return constant(`${column} ${operator === 'not' ? '<>' : '='} ${literalOf(value)}`);
}

/** Returns the condition that compares a field with a parameter, if the value can be one. */
function compareParameter(field: string, operator: string, value: unknown): BoundSql {
  const column = quoted(field);
  if (operator === 'in')
    return { sql: `${column} IN (SELECT value FROM json_each(?))`, values: [storedJson(value)] };
  // Constants, since partial indexes are chosen before parameters are known.
  if (value === null) return constant(`${column} ${operators[operator]} NULL`);
  if (value === '') return constant(`${column} ${operators[operator]} ''`);
  const comparison = `${column} ${operator === 'is' ? '=' : operators[operator]}`;
  if (typeof value === 'boolean') return constant(`${comparison} ${Number(value)}`);
  return { sql: `${comparison} ?`, values: [toColumn(value)] };
}

/** Returns the condition of documents with a text in one of the fields. */
export function searchCondition({ fields, text }: Search): BoundSql {
  const lowerCaseText = text.toLowerCase();
  const matches = fields.map((field) => `instr(fold(coalesce(${quoted(field)}, '')), ?)`);
  return { sql: `(${matches.join(' OR ')})`, values: fields.map(() => lowerCaseText) };
}

/** Returns the condition of documents that follow a position in an order. */
export function afterCondition(
  order: readonly string[],
  newestFirst: boolean,
  position: readonly (string | number)[],
): BoundSql {
  const operator = newestFirst ? '<' : '>';
  const sql = `(${columnList(order)}) ${operator} (${marksFor(position)})`;
  return { sql, values: position };
}

/** Returns the condition that holds if all conditions do. */
export function allOf(conditions: readonly BoundSql[]): BoundSql {
  if (conditions.length === 0) return constant('TRUE');
  return {
    sql: conditions.map(({ sql }) => sql).join(' AND '),
    values: conditions.flatMap(({ values }) => values),
  };
}

/** Returns the condition of the visible documents that match. */
export const whereOf = (declaration: Declaration, where: object): BoundSql =>
  allOf(conditionsOf(declaration, where));

/** Returns the ORDER BY clause. Empty without fields. */
export function orderBy(order: readonly string[], newestFirst: boolean): string {
  if (order.length === 0) return '';
  const direction = newestFirst ? ' DESC' : '';
  return `ORDER BY ${order.map((field) => `${quoted(field)}${direction}`).join(', ')}`;
}

/** Returns the statement that changes fields, and adds numbers to others. */
export function updateOf(
  declaration: Declaration,
  where: object,
  change: object,
  add: object = {},
): BoundSql {
  const filter = whereOf(declaration, where);
  const sets: string[] = [];
  const setValues: Value[] = [];
  for (const [field, value] of Object.entries(change)) {
    if (value === undefined) continue;
    sets.push(`${quoted(field)} = ?`);
    setValues.push(toColumn(value));
  }
  for (const [field, number] of Object.entries(add)) {
    sets.push(`${quoted(field)} = ${quoted(field)} + ?`);
    setValues.push(number);
  }
  const table = columnOf(declaration.name);
  return {
    sql: `UPDATE OR IGNORE ${table} SET ${sets.join(', ')} WHERE ${filter.sql}`,
    values: [...setValues, ...filter.values],
  };
}

/** Returns the conflict clause that replaces the documents of the declared rule. */
export function replaceOnConflict({ name, fields, id, upsert }: Declaration): string {
  const { versionedBy, keepsEqual = false, insertOnly = [] } = upsert ?? { versionedBy: [] };
  const sets = Object.keys(fields)
    .filter((field) => !id.includes(field) && !insertOnly.includes(field))
    .map((field) => `${quoted(field)} = excluded.${quoted(field)}`);
  const replacement = `(${columnList(id)}) DO UPDATE SET ${sets.join(', ')}`;
  if (versionedBy.length === 0) return replacement;
  const versionIn = (table: string) =>
    versionedBy.map((field) => `${table}.${quoted(field)}`).join(', ');
  const operator = keepsEqual ? '<' : '<=';
  const isOlder = `(${versionIn(columnOf(name))}) ${operator} (${versionIn('excluded')})`;
  return `${replacement} WHERE ${isOlder}`;
}

/** Returns the conflict clause that adds the declared counters to the stored ones. */
export function addOnConflict({ id, counters = [] }: Declaration): string {
  const sets = counters.map((counter) => {
    const column = quoted(counter);
    return `${column} = ${column} + excluded.${column}`;
  });
  return `(${columnList(id)}) DO UPDATE SET ${sets.join(', ')}`;
}
