import type { Job } from '../../../../gen/gleaner/job/v1/job_pb.ts';

/** Selection and order of records. */
export interface RecordFilter {
  search: string;
  /** Conditions, as the service reads them: `item.price>=10`. */
  conditions: readonly string[];
  status: '' | 'SUCCESS' | 'FAILED';
  /** Column to sort by, with `-` before it for descending order; '' for the order submitted. */
  sort: string;
}

/** Columns that every kind has, in the order of the table, with their titles. */
export const commonColumns: Readonly<Record<string, string>> = {
  'item.title': 'Title',
  'item.id': 'ID',
  unit_key: 'Unit',
  'item.price': 'Price',
  'item.stock': 'Stock',
  'item.sold': 'Sold',
  'item.rating': 'Rating',
  unit_region: 'Region',
};

/** Operators of conditions, with their labels. */
export const operators: Readonly<Record<string, string>> = {
  '~': 'contains',
  '>=': '≥',
  '<=': '≤',
  '!=': '≠',
  '=': '=',
};

/** Describes a condition: "Price ≥ 2300" for `item.price>=2300`. */
export function conditionText(condition: string): string {
  const [, column = '', operator = '', value = ''] =
    /^([^~=!<>]+)(~|>=|<=|!=|=)(.*)$/s.exec(condition) ?? [];
  return operator === ''
    ? condition
    : `${commonColumns[column] ?? column} ${operators[operator] ?? operator} ${value}`;
}

/** Returns whether an operator needs a value. Without one, `=` and `!=` select by its absence. */
export const needsValue = (operator: string): boolean => operator !== '=' && operator !== '!=';

const numericColumns: readonly string[] = ['item.price', 'item.stock', 'item.sold', 'item.rating'];
const grouped = /^\d{1,3}(,\d{3})+(\.\d+)?$/;

/** Returns a condition. A number may have separators of thousands, as the page writes it. */
export function conditionOf(column: string, operator: string, text: string): string {
  const value = text.trim();
  const isNumber = numericColumns.includes(column) && grouped.test(value);
  return `${column}${operator}${isNumber ? value.replaceAll(',', '') : value}`;
}

/** Shown for a job that runs and has no records. */
export const noneYet = {
  title: 'No records yet',
  description: 'Records appear as pages are read.',
};

/** Returns whether a filter selects every record. */
export const isWhole = ({ search, conditions, status }: RecordFilter): boolean =>
  search === '' && conditions.length === 0 && status === '';

/** Largest job whose records are sorted so that units which did not run follow them. */
const maxSortedUnits = 100_000;

/**
 * Returns the order of records for which the user has chosen none: of submission, with units that
 * did not run last.
 */
export const defaultSort = ({
  notRun,
  success,
  total,
}: Pick<Job, 'notRun' | 'success' | 'total'>): string =>
  notRun > 0 && success > 0 && total <= maxSortedUnits ? 'unit_index' : '';

/** Returns the value at a dotted path of a record's JSON text; null if it has none. */
export function valueAt(record: string | undefined, path: string): unknown {
  let value: unknown = record === undefined ? null : JSON.parse(record);
  for (const step of path.split('.')) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, step)) return null;
    value = (value as Record<string, unknown>)[step];
  }
  return value;
}

/** Returns the value at a dotted path of a record's JSON text as text; '' if it has none. */
export function valueText(record: string | undefined, path: string): string {
  const value = valueAt(record, path);
  if (value === null) return '';
  return typeof value === 'object' ? JSON.stringify(value) : String(value);
}
