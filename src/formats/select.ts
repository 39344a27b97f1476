import { Fault } from '../contract/fault.ts';
import { problemText, quote } from '../contract/problem-texts.ts';
import type { Cell } from './cells.ts';
import type { Column } from './columns.ts';

/** Selection and order of rows, as a caller states them. */
export interface SelectionText {
  /** Conditions that all hold: `price.amount>=10`, `title~bell`. */
  filter: readonly string[];
  /** Text that a string column contains, in any case. Empty for any. */
  search: string;
  /** Column to sort by, with `-` before it for descending order. Empty for the order submitted. */
  sort: string;
}

export interface Selection {
  /** True if every row is selected. */
  isAll: boolean;
  /**
   * Columns that the conditions, the search, and the order read: the others need not be formatted.
   */
  used: readonly Column[];
  /**
   * True if failed units are selected by their texts: conditions on columns are never true of them.
   */
  matchesTexts(texts: readonly string[]): boolean;
  /** Returns true if a row is selected, operand its cells of the used columns. */
  matches(cells: readonly Cell[]): boolean;
  /** Returns the value that rows are sorted by, or null for a row without one, which comes last. */
  keyOf: ((cells: readonly Cell[]) => SortKey) | null;
  /** Compares two sort keys in the requested direction. */
  compare(one: SortKey, other: SortKey): number;
}

/** Value that rows are sorted by. */
export type SortKey = string | number | bigint | null;

type Condition = (cells: readonly Cell[]) => boolean;

/** Maximum characters of a text that rows are sorted by. */
const maxKeyLength = 64;

/** Parses a selection. Throws `invalid`, which names the condition or the column that is wrong. */
export function parseSelection(
  { filter, search, sort }: SelectionText,
  columns: readonly Column[],
): Selection {
  const used: Column[] = [];
  /** Returns the index of a column among the used ones. */
  const use = (column: Column) => {
    if (!used.includes(column)) used.push(column);
    return used.indexOf(column);
  };
  const conditions = filter.map((text, index) =>
    conditionOf(text, ['body', 'filter', index], columns, use),
  );
  const searchedText = search.trim().toLowerCase();
  const isSearch = searchedText !== '';
  const hasText = (cell: Cell | undefined) =>
    typeof cell === 'string' && cell.toLowerCase().includes(searchedText);
  const textColumns = isSearch ? columns.filter(({ type }) => type === 'string').map(use) : [];
  const isDescending = sort.startsWith('-');
  const sortName = isDescending ? sort.slice(1) : sort;
  const sortIndex = sort === '' ? null : use(sortColumn(sortName, columns));
  return {
    used,
    isAll: conditions.length === 0 && !isSearch && sortIndex === null,
    matchesTexts: (texts) => conditions.length === 0 && (!isSearch || texts.some(hasText)),
    matches: (cells) => {
      if (!conditions.every((holds) => holds(cells))) return false;
      return !isSearch || textColumns.some((index) => hasText(cells[index]));
    },
    keyOf: sortIndex === null ? null : (cells) => keyOf(cells[sortIndex] ?? null),
    compare(one, other) {
      if (one === null || other === null) return Number(one === null) - Number(other === null);
      const order = one < other ? -1 : Number(one > other);
      return isDescending ? -order : order;
    },
  };
}

function keyOf(cell: Cell): SortKey {
  if (cell === null || cell === '') return null;
  if (typeof cell === 'string') return cell.slice(0, maxKeyLength).toLowerCase();
  return exact(cell);
}

const exact = (cell: number | bigint | boolean) =>
  typeof cell === 'boolean' ? Number(cell) : cell;

const decimalNumber = /^[+-]?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?$/i;

/**
 * Returns the decimal number in a text, as a bigint if only that is exact. NaN for another text,
 * also for one without characters, which Number() reads as 0.
 */
function numberIn(text: string): number | bigint {
  const digits = text.trim();
  if (!decimalNumber.test(digits)) return Number.NaN;
  const number = Number(digits);
  const isInteger = /^[+-]?\d+$/.test(digits);
  if (isInteger && !Number.isSafeInteger(number)) return BigInt(digits.replace('+', ''));
  return number;
}

function sortColumn(name: string, columns: readonly Column[]): Column {
  const found = columns.find((column) => column.name === name && isScalar(column));
  if (found === undefined) {
    const { msg, type } = problemText.notOneOf(namesOf(columns), name);
    throw Fault.invalid(['body', 'sort'], msg, type);
  }
  return found;
}

const isScalar = ({ type }: Column) => type !== 'json' && type !== 'others';
const namesOf = (columns: readonly Column[]) => columns.filter(isScalar).map(({ name }) => name);

type Operand = number | bigint | string;

/** Integers and numbers are compared by their exact values, also a bigint with a number. */
const operators: Readonly<Record<string, (cell: Operand, value: Operand) => boolean>> = {
  '=': (cell, value) => cell === value || !(cell < value || cell > value),
  '!=': (cell, value) => cell < value || cell > value,
  '<': (cell, value) => cell < value,
  '<=': (cell, value) => cell <= value,
  '>': (cell, value) => cell > value,
  '>=': (cell, value) => cell >= value,
  '~': (cell, value) => String(cell).includes(String(value)),
};

/** Column, operator, and value of a condition. */
const conditionText = /^([^=!<>~]*)(!=|<=|>=|[=<>~])(.*)$/su;

/**
 * Parses a condition on a column. Throws `invalid` for another text, and for a value that is no
 * number.
 */
function conditionOf(
  text: string,
  loc: (string | number)[],
  columns: readonly Column[],
  use: (column: Column) => number,
): Condition {
  const [, name = '', operator = '', operand = ''] = conditionText.exec(text) ?? [];
  const wrong = (msg: string) => Fault.invalid(loc, msg, 'value_error');
  if (operator === '')
    throw wrong(
      'Input should be a column, an operator (=, !=, <, ' +
        `<=, >, >= or ~) and a value, not ${quote(text)}`,
    );
  const column = columns.find((each) => each.name === name.trim() && isScalar(each));
  if (column === undefined) {
    const { msg, type } = problemText.notOneOf(namesOf(columns), name.trim());
    throw Fault.invalid(loc, msg, type);
  }
  const index = use(column);
  const isEmpty: Condition = (cells) => cells[index] === null || cells[index] === '';
  if (operand.trim() === '' && operator === '=') return isEmpty;
  if (operand.trim() === '' && operator === '!=') return (cells) => !isEmpty(cells);
  const isNumeric = column.type === 'integer' || column.type === 'number';
  const value = isNumeric && operator !== '~' ? numberIn(operand) : operand.trim().toLowerCase();
  if (Number.isNaN(value)) throw wrong(`${column.name} is a number; ${quote(operand)} is not`);
  const holds = operators[operator]!;
  return (cells) => {
    const cell = cells[index] ?? null;
    if (cell === null) return false;
    const isText = typeof value === 'string' || typeof cell === 'string';
    return holds(isText ? String(cell).toLowerCase() : exact(cell), value);
  };
}
