import { type Cell, cellReader } from './cells.ts';
import type { Column } from './columns.ts';
import type { ExactObject } from './json-text.ts';

/** Share of rows in which a column has a value. */
export interface FieldFill {
  column: Column;
  /** 0 to 1; 0 without rows. */
  fill: number;
}

/** Counts values of columns. */
export interface FillCounter {
  add(row: ExactObject): void;
  readonly rows: number;
  /** Returns the fill rate of every column, in their order. */
  rates(): FieldFill[];
}

/** Creates a counter of columns. Null, and an empty string, list, or object, count as no value, as for drift alarms. */
export function createFillCounter(columns: readonly Column[]): FillCounter {
  const cellsOf = cellReader(columns);
  const filled = columns.map(() => 0);
  let rows = 0;
  return {
    add(row) {
      rows += 1;
      for (const [index, cell] of cellsOf(row).entries()) if (hasValue(cell)) filled[index]! += 1;
    },
    get rows() {
      return rows;
    },
    rates: () => columns.map((column, index) => ({ column, fill: rows === 0 ? 0 : filled[index]! / rows })),
  };
}

const hasValue = (cell: Cell) => cell !== null && cell !== '' && cell !== '[]' && cell !== '{}';
