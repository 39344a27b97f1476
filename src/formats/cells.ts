import { type Column, othersColumn, type ScalarType } from './columns.ts';
import { type ExactJson, type ExactObject, formatExact, memberAt } from './json-text.ts';

/** Value of a cell. Integers beyond 2^53 are bigints. */
export type Cell = null | string | number | bigint | boolean;

/** Returns the cells of a row, one per column. */
export type ReadCells = (row: ExactObject) => Cell[];

/** Position in a record: a column, or an object whose members have columns. */
interface Place {
  column: number | null;
  members: Map<string, Place>;
}

/**
 * Creates the function that reads the cells of rows. A value of another type than its column, and a member
 * without a column, are members of the column of the type `others`, by their paths; without such a column
 * they are dropped.
 */
export function cellReader(columns: readonly Column[]): ReadCells {
  if (columns.some(({ type }) => type === 'others')) return wholeReader(columns);
  return (row) =>
    columns.map((column) => {
      const member = memberAt(row, column.steps) ?? null;
      return member === null ? null : cellOf(member, column);
    });
}

/**
 * Creates a cell reader for rows with an `others` column, which collects the values that no other column
 * holds.
 */
function wholeReader(columns: readonly Column[]): ReadCells {
  const root: Place = { column: null, members: new Map() };
  for (const [index, { steps }] of columns.entries()) {
    let place = root;
    for (const step of steps) {
      if (!place.members.has(step)) place.members.set(step, { column: null, members: new Map() });
      place = place.members.get(step)!;
    }
    if (steps.length > 0) place.column = index;
  }
  const othersAt = columns.findIndex(({ type }) => type === 'others');

  return (row) => {
    const cells: Cell[] = columns.map(() => null);
    const others = new Map<string, ExactJson>();
    const visit = (value: ExactObject, place: Place, path: string) => {
      for (const [name, member] of Object.entries(value)) {
        if (member === null) continue;
        const at = path === '' ? name : `${path}.${name}`;
        // Members of a record that are named like columns of its place.
        if (at === othersColumn.name && isObject(member)) {
          for (const [other, hidden] of Object.entries(member)) others.set(other, hidden);
          continue;
        }
        const next = place.members.get(name);
        if (next !== undefined && next.column === null && isObject(member)) {
          visit(member, next, at);
          continue;
        }
        const cell = next?.column == null ? null : cellOf(member, columns[next.column]!);
        if (cell === null) others.set(at, member);
        else cells[next!.column!] = cell;
      }
    };
    visit(row, root, '');
    if (others.size > 0) cells[othersAt] = membersText(others);
    return cells;
  };
}

/**
 * Formats members as a JSON object. Joined from texts: an object would treat a member `__proto__` specially.
 */
function membersText(members: ReadonlyMap<string, ExactJson>): string {
  const texts = Array.from(members, ([name, value]) => `${JSON.stringify(name)}:${formatExact(value)}`);
  return `{${texts.join(',')}}`;
}

/** Returns the cell of a value, or null if the column cannot hold it. */
function cellOf(value: ExactJson, { type, elements }: Pick<Column, 'type' | 'elements'>): Cell {
  switch (type) {
    case 'json':
      return elements === undefined || isListOf(value, elements) ? formatExact(value) : null;
    case 'integer':
      if (typeof value === 'bigint') return BigInt.asIntN(64, value) === value ? value : null;
      return Number.isInteger(value) ? (value as number) : null;
    case 'number':
      if (typeof value === 'bigint') return value;
      return Number.isFinite(value) ? (value as number) : null;
    case 'boolean':
      return typeof value === 'boolean' ? value : null;
    case 'timestamp':
      return typeof value === 'string' && Number.isFinite(Date.parse(value)) ? value : null;
    default:
      return typeof value === 'string' ? value : null;
  }
}

/** Returns true for a list whose elements are null or have a type. */
const isListOf = (value: ExactJson, type: ScalarType): boolean =>
  Array.isArray(value) && value.every((element) => element === null || cellOf(element, { type }) !== null);

function isObject(value: ExactJson): value is ExactObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Returns the members of a record that some columns hold, in the record's structure. */
export function pickColumns(record: ExactObject, columns: readonly Column[]): ExactObject {
  const picked: Record<string, ExactJson> = {};
  for (const { steps } of columns) {
    const value = memberAt(record, steps);
    if (value === undefined) continue;
    let place = picked;
    for (const step of steps.slice(0, -1)) {
      place[step] ??= {};
      place = place[step] as Record<string, ExactJson>;
    }
    const last = steps.at(-1);
    if (last !== undefined) place[last] = value;
  }
  return picked;
}
