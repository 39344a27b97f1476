import { type Column, othersColumn, type ScalarType } from './columns.ts';
import {
  type ExactJson,
  type ExactObject,
  formatExact,
  isExactObject,
  memberAt,
} from './json-text.ts';

/** Value of a cell. Integers beyond 2^53 are bigints. */
export type Cell = null | string | number | bigint | boolean;

/** Returns the cells of a row, one per column. */
export type ReadCells = (row: ExactObject) => Cell[];

/** Node in the tree of columns: a column, or an object whose members have columns. */
interface ColumnNode {
  column: number | null;
  members: Map<string, ColumnNode>;
}

/**
 * Creates the function that reads the cells of rows. A value of another type than its column, and a
 * member without a column, are members of the column of the type `others`, by their paths; without
 * such a column they are dropped.
 */
export function cellReader(columns: readonly Column[]): ReadCells {
  if (columns.some(({ type }) => type === 'others')) return completeReader(columns);
  return (row) =>
    columns.map((column) => {
      const member = memberAt(row, column.steps) ?? null;
      return member === null ? null : cellOf(member, column);
    });
}

/**
 * Creates a cell reader for rows with an `others` column, which collects the values that no other
 * column holds.
 */
function completeReader(columns: readonly Column[]): ReadCells {
  const root = columnTree(columns);
  return (row) => {
    const reader = new RowReader(columns);
    reader.addMembers(row, root, '');
    return reader.finish();
  };
}

function columnTree(columns: readonly Column[]): ColumnNode {
  const root: ColumnNode = { column: null, members: new Map() };
  for (const [index, { steps }] of columns.entries()) {
    let node = root;
    for (const step of steps) {
      if (!node.members.has(step)) node.members.set(step, { column: null, members: new Map() });
      node = node.members.get(step)!;
    }
    if (steps.length > 0) node.column = index;
  }
  return root;
}

/** Collects the cells of a row, and the members without a column. */
class RowReader {
  readonly #columns: readonly Column[];
  readonly #cells: Cell[];
  readonly #otherMembers = new Map<string, ExactJson>();

  constructor(columns: readonly Column[]) {
    this.#columns = columns;
    this.#cells = columns.map(() => null);
  }

  addMembers(value: ExactObject, { members }: ColumnNode, path: string): void {
    for (const [name, member] of Object.entries(value)) {
      const memberPath = path === '' ? name : `${path}.${name}`;
      if (member !== null) this.#add(member, members.get(name), memberPath);
    }
  }

  /** Returns the cells, with the other members in their column. */
  finish(): Cell[] {
    const index = this.#columns.findIndex(({ type }) => type === 'others');
    if (this.#otherMembers.size > 0) this.#cells[index] = membersText(this.#otherMembers);
    return this.#cells;
  }

  #add(member: ExactJson, node: ColumnNode | undefined, path: string): void {
    const isObjectMember = isExactObject(member);
    // Members of a record that are named like columns of its place.
    if (isObjectMember && path === othersColumn.name) this.#addHidden(member);
    else if (isObjectMember && node?.column === null) this.addMembers(member, node, path);
    else this.#addCell(member, node?.column ?? null, path);
  }

  #addHidden(members: ExactObject): void {
    for (const [path, member] of Object.entries(members)) this.#otherMembers.set(path, member);
  }

  #addCell(member: ExactJson, column: number | null, path: string): void {
    const cell = column === null ? null : cellOf(member, this.#columns[column]!);
    if (cell === null) this.#otherMembers.set(path, member);
    else this.#cells[column!] = cell;
  }
}

/**
 * Formats members as a JSON object. Joined from texts: an object would treat a member `__proto__`
 * specially.
 */
function membersText(members: ReadonlyMap<string, ExactJson>): string {
  const texts = Array.from(
    members,
    ([name, value]) => `${JSON.stringify(name)}:${formatExact(value)}`,
  );
  return `{${texts.join(',')}}`;
}

/** Returns the cell of a value, or null if the column cannot hold it. */
function cellOf(value: ExactJson, { type, elements }: Pick<Column, 'type' | 'elements'>): Cell {
  if (type === 'others') return textCell(value);
  if (type !== 'json') return scalarCells[type](value);
  if (elements === undefined || isListOf(value, elements)) return formatExact(value);
  return null;
}

const textCell = (value: ExactJson): Cell => (typeof value === 'string' ? value : null);

/** Conversions of values to the cells of scalar columns. */
const scalarCells: Readonly<Record<ScalarType, (value: ExactJson) => Cell>> = {
  string: textCell,
  integer(value) {
    if (typeof value === 'bigint') return BigInt.asIntN(64, value) === value ? value : null;
    return Number.isSafeInteger(value) ? (value as number) : null;
  },
  number(value) {
    if (typeof value === 'bigint') return value;
    return Number.isFinite(value) ? (value as number) : null;
  },
  boolean: (value) => (typeof value === 'boolean' ? value : null),
  timestamp: (value) =>
    typeof value === 'string' && Number.isFinite(Date.parse(value)) ? value : null,
};

/** Returns true for a list whose elements are null or have a type. */
const isListOf = (value: ExactJson, type: ScalarType): boolean =>
  Array.isArray(value) &&
  value.every((element) => element === null || cellOf(element, { type }) !== null);

/** Returns the members of a record that some columns hold, in the record's structure. */
export function pickColumns(record: ExactObject, columns: readonly Column[]): ExactObject {
  const picked: Record<string, ExactJson> = {};
  for (const { steps } of columns) {
    const value = memberAt(record, steps);
    if (value === undefined) continue;
    let target = picked;
    for (const step of steps.slice(0, -1)) {
      target[step] ??= {};
      target = target[step] as Record<string, ExactJson>;
    }
    const last = steps.at(-1);
    if (last !== undefined) target[last] = value;
  }
  return picked;
}
