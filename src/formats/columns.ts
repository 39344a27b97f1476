import { compileFields, type Field, type RecordFields } from '../quality/record-schema.ts';

/**
 * Type of a column's cells. `timestamp`: ISO 8601 text in UTC. `json`: JSON text of a list, of an
 * object without listed members, or of any value. `others`: JSON text of an object with what no
 * other column holds.
 */
export type ColumnType =
  | 'string'
  | 'integer'
  | 'number'
  | 'boolean'
  | 'timestamp'
  | 'json'
  | 'others';

export interface Column {
  /** Path of the member in the record: "price.amount". */
  name: string;
  /** Member names of the path. */
  steps: readonly string[];
  type: ColumnType;
  /**
   * For a list of scalars: type of its elements. Cells are JSON text, of which Parquet makes lists.
   */
  elements?: ScalarType;
}

/** Type of a single value. */
export type ScalarType = Exclude<ColumnType, 'json' | 'others'>;

/**
 * Last column of every table of records: members of a record that it does not list, by their paths.
 */
export const othersColumn: Column = { name: 'other_fields', steps: [], type: 'others' };

/** Creates the column of a member at the top of a row. */
export function topColumn(name: string, type: ColumnType): Column {
  return { name, steps: [name], type };
}

const scalars = new Set(['string', 'integer', 'number', 'boolean', 'timestamp']);

/**
 * Returns the columns of records with these listed fields: one for each field that is not an object
 * with listed members, and one for each list. Fields inside of lists have no columns.
 */
export function createColumns(listed: RecordFields): Column[] {
  const columns = new Map<string, Column>();
  const fields = compileFields(listed);
  for (const field of fields) {
    const column = columnOf(field);
    if (!hasMembers(column, fields))
      columns.set(column.name, { ...(columns.get(column.name) ?? column), ...elementsOf(field) });
  }
  return [...columns.values()];
}

function columnOf({ steps, type }: Field): Column {
  const end = steps.findIndex((step) => step === '[]' || step === '*');
  const path = end < 0 ? steps : steps.slice(0, end);
  return {
    name: path.join('.'),
    steps: path,
    type: end < 0 && scalars.has(type) ? (type as ColumnType) : 'json',
  };
}

/** Returns the type of a list's elements if a field names it: "images[]: string". */
function elementsOf({ steps, type }: Field): Pick<Column, 'elements'> {
  const isOfElements = steps.indexOf('[]') === steps.length - 1 && !steps.includes('*');
  if (isOfElements && scalars.has(type)) return { elements: type as ScalarType };
  return {};
}

/** Returns true if an object has listed members with separate columns. */
function hasMembers({ type, steps }: Column, fields: readonly Field[]): boolean {
  if (type !== 'json') return false;
  return fields.some((field) => {
    const next = field.steps[steps.length];
    return (
      next !== undefined &&
      next !== '[]' &&
      next !== '*' &&
      steps.every((step, at) => step === field.steps[at])
    );
  });
}
