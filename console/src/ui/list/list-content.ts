import type { ReactNode } from 'react';

export interface ListColumn<T> {
  title: string;
  cell: (row: T) => ReactNode;
  align?: 'right';
  /** Width in pixels from which the column of a dense table cuts its text off. */
  maxWidth?: number;
  /** Returns the value by which rows can be sorted; without it the column cannot be sorted. */
  sortBy?: (row: T) => SortValue;
}

/** Checkboxes that select rows. Of the page that needs them, because they are much code. */
export interface ListSelection<T> {
  /** Returns the checkbox of a row. */
  ofRow: (row: T, key: string) => ReactNode;
  /** Returns the checkbox of all rows. Without a label, only screen readers get one. */
  ofAll: (keys: readonly string[], label?: string) => ReactNode;
}

/** Columns and rows of a list. */
export interface ListContent<T> {
  /** Accessible name of the list. */
  label: string;
  columns: readonly ListColumn<T>[];
  rows: readonly T[];
  keyOf: (row: T) => string;
  /** Width in pixels below which the table scrolls horizontally; default 640. */
  minWidth?: number;
  /** Gives each row one line: cells do not wrap, and the table scrolls horizontally. */
  dense?: boolean;
  /** Renders a row on a narrow screen instead of its columns. */
  brief?: (row: T) => ReactNode;
  /** Makes rows selectable. */
  selection?: ListSelection<T>;
  /** Renders content below a row. */
  below?: (row: T) => ReactNode;
}

/** Columns and rows of a list in their current order. */
export interface SortedContent<T> extends ListContent<T> {
  /** Column and direction; null in the order of the service. */
  sort: Sort | null;
  /** Sorts by a column, then reverses, then returns to the order of the service. */
  toggleSort: (title: string) => void;
}

const empty: readonly unknown[] = [null, undefined, false, '', '–'];

/** Returns whether the content of a cell says nothing. */
export const isEmpty = (content: ReactNode): boolean => empty.includes(content);

/** Value of a row by which a list is sorted; undefined sorts last. */
export type SortValue = string | number | bigint | undefined;

/** Order of a list: a column, by its title, and the direction. */
export interface Sort {
  title: string;
  descending: boolean;
}

/** Returns the order after a click on a column: ascending, then descending, then none. */
export function nextSort(sort: Sort | null, title: string): Sort | null {
  if (sort?.title !== title) return { title, descending: false };
  return sort.descending ? null : { title, descending: true };
}

/** Returns the rows in an order. Rows with equal values keep their order. */
export function sortRows<T>(
  rows: readonly T[],
  columns: readonly { title: string; sortBy?: (row: T) => SortValue }[],
  sort: Sort | null,
): readonly T[] {
  const sortBy = columns.find(({ title }) => title === sort?.title)?.sortBy;
  if (!sort || !sortBy) return rows;
  return rows.toSorted((one, other) => {
    const [first, second] = [sortBy(one), sortBy(other)];
    if (first === undefined || second === undefined) {
      return Number(first === undefined) - Number(second === undefined);
    }
    return compare(first, second) * (sort.descending ? -1 : 1);
  });
}

function compare(one: string | number | bigint, other: string | number | bigint): number {
  if (typeof one === 'string' && typeof other === 'string') return one.localeCompare(other);
  if (one < other) return -1;
  return one > other ? 1 : 0;
}
