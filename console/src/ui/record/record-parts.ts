/** A scalar value of a record, with its path in its group. */
export interface RecordValue {
  name: string;
  text: string;
}

/** List of objects of a record, as a table. */
export interface ObjectTable {
  name: string;
  columns: readonly string[];
  rows: readonly (readonly string[])[];
  /** Rows of the list, of which the table has the first. */
  total: number;
}

/** Values of a record below one name, '' for those at its top. */
export interface RecordGroup {
  name: string;
  values: readonly RecordValue[];
}

/** Parts of a record, as a page shows them. */
export interface RecordParts {
  groups: readonly RecordGroup[];
  tables: readonly ObjectTable[];
}

const maxValues = 300;
const maxRows = 100;
const maxColumns = 8;

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const isTableList = (value: unknown): value is readonly Record<string, unknown>[] =>
  Array.isArray(value) && value.length > 0 && value.every(isObject);

const textOf = (value: unknown): string => {
  if (value === null || value === undefined) return '';
  return typeof value === 'object' ? JSON.stringify(value) : String(value);
};

/** Returns the values below a name that tables do not show, with their paths. */
function valuesOf(value: unknown, path: string): RecordValue[] {
  if (isTableList(value)) return [];
  if (Array.isArray(value)) return [{ name: path, text: value.map(textOf).join(', ') }];
  if (!isObject(value)) return [{ name: path, text: textOf(value) }];
  return Object.entries(value).flatMap(([name, member]) =>
    valuesOf(member, path === '' ? name : `${path}.${name}`),
  );
}

/** Returns the lists of objects below a name, with their paths. */
function tablesOf(value: unknown, path: string): ObjectTable[] {
  if (isTableList(value)) return [tableOf(path, value)];
  if (!isObject(value)) return [];
  return Object.entries(value).flatMap(([name, member]) =>
    tablesOf(member, path === '' ? name : `${path}.${name}`),
  );
}

function tableOf(name: string, list: readonly Record<string, unknown>[]): ObjectTable {
  const rows = list
    .slice(0, maxRows)
    .map((row) => new Map(valuesOf(row, '').map((each) => [each.name, each.text])));
  const hasText = (column: string) => rows.some((row) => row.get(column));
  const columns = [...new Set(rows.flatMap((row) => [...row.keys()]))]
    .filter(hasText)
    .slice(0, maxColumns);
  return {
    name,
    columns,
    rows: rows.map((row) => columns.map((column) => row.get(column) ?? '')),
    total: list.length,
  };
}

/** Splits a record into groups of values and tables of its lists. */
export function partsOf(record: unknown): RecordParts {
  if (!isObject(record)) return { groups: [], tables: [] };
  const members = Object.entries(record);
  const top = members
    .filter(([, value]) => !isObject(value))
    .flatMap(([name, value]) => valuesOf(value, name));
  const groups = members
    .filter(([, value]) => isObject(value))
    .map(([name, value]) => ({ name, values: valuesOf(value, '').slice(0, maxValues) }));
  return {
    groups: [{ name: '', values: top.slice(0, maxValues) }, ...groups].filter(
      ({ values }) => values.length > 0,
    ),
    tables: tablesOf(record, ''),
  };
}

/** Names under which the marketplaces state the seller of an item. */
const sellerName = /^(?:seller|shop|store|merchant)(?:_?name)?$/i;

/** Depth to which a record is searched for its seller. */
const maxDepth = 3;

/** Returns the name of the seller in a record; '' if it states none. */
export function sellerOf(record: unknown, depth = 0): string {
  if (!isObject(record) || depth === maxDepth) return '';
  for (const [name, value] of Object.entries(record)) {
    const seller = isObject(value) && sellerName.test(name) ? value.name : value;
    if (sellerName.test(name) && typeof seller === 'string' && /\p{L}/u.test(seller)) return seller;
  }
  for (const value of Object.values(record)) {
    const seller = sellerOf(value, depth + 1);
    if (seller !== '') return seller;
  }
  return '';
}

/** Returns the availability that a record states: "In Stock", "out of stock". Empty if none. */
export function availabilityOf(record: unknown): string {
  const availability = isObject(record) ? record.availability : null;
  if (typeof availability === 'string') return availability.replaceAll('_', ' ');
  return '';
}

/** Returns an address that a link may open; undefined for any other text. */
export const safeUrl = (url: string | undefined): string | undefined =>
  url && /^https?:\/\//i.test(url) ? url : undefined;
