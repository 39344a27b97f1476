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
  return one < other ? -1 : one > other ? 1 : 0;
}
