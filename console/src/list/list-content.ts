import type { ReactNode } from 'react';
import type { Sort, SortValue } from './sort.ts';

/** Column of a list. */
export interface Column<T> {
  title: string;
  cell: (row: T) => ReactNode;
  align?: 'right';
  /** Returns the value by which rows can be sorted; without it the column cannot be sorted. */
  sortBy?: (row: T) => SortValue;
}

/** Selected rows, by key. */
export interface Selection<T> {
  selected: ReadonlySet<string>;
  onChange: (selected: ReadonlySet<string>) => void;
  /** Returns the name of a row for its checkbox label. */
  labelOf: (row: T) => string;
}

/** Columns and rows of a list. */
export interface ListContent<T> {
  /** Accessible name of the list. */
  label: string;
  columns: readonly Column<T>[];
  rows: readonly T[];
  keyOf: (row: T) => string;
  /** Width in pixels below which the table scrolls horizontally; default 640. */
  minWidth?: number;
  /** Makes rows selectable. */
  selection?: Selection<T>;
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
