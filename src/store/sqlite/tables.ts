import { type Declaration, type Index, typeOf } from '../declaration.ts';
import { columnList, columnOf, quoted } from './sql.ts';

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
  const { name, fields, id, clustered, indexes = [] } = declaration;
  const columns = Object.keys(fields).map((field) => {
    const { type, isNullable } = typeOf(declaration, field);
    return `${quoted(field)} ${sqlTypes[type]}${isNullable ? '' : ' NOT NULL'}`;
  });
  const content = [...columns, `PRIMARY KEY (${columnList(id)})`].join(', ');
  const options = clustered ? 'STRICT, WITHOUT ROWID' : 'STRICT';
  return [
    `CREATE TABLE ${columnOf(name)} (${content}) ${options};`,
    ...indexes.map((index) => createIndex(declaration, index)),
  ].join('\n');
}

/** Returns the statement that creates an index of a declared table. */
function createIndex(declaration: Declaration, { fields, unique, whereSet }: Index): string {
  const table = columnOf(declaration.name);
  const nameParts = [table, 'by', ...fields.map(columnOf)];
  let where = '';
  if (whereSet !== undefined) {
    nameParts.push('set');
    where = ` WHERE ${setCondition(declaration, whereSet)}`;
  }
  const create = unique ? 'CREATE UNIQUE INDEX' : 'CREATE INDEX';
  return `${create} ${nameParts.join('_')} ON ${table} (${columnList(fields)})${where};`;
}

/** Returns the condition of the documents in which a field is set. */
function setCondition(declaration: Declaration, field: string): string {
  const { type, isNullable } = typeOf(declaration, field);
  const column = quoted(field);
  if (isNullable) return `${column} IS NOT NULL`;
  return type === 'boolean' ? `${column} = 1` : `${column} > ''`;
}
