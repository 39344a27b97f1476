import { isAddress, withScheme } from '../item-text.ts';
import { namedChoice } from '../known-names.ts';
import { maxProblems, quote } from '../problem-texts.ts';
import type { UnitColumns } from './columns.ts';
import { type CsvRow, readCsv } from './csv.ts';
import { type Layout, layoutOf, problemsOfHeader } from './layout.ts';
import { type UnitProblem, UnitsError } from './problem.ts';

/** Texts of a unit by field, without empty cells. */
export type UnitFields = Readonly<Record<string, string>>;

/** A unit as a file has it: a string, or its fields. */
export type UnitText = string | UnitFields;

/** Units of a file in its order, each with its line. */
export interface FileUnits {
  units: readonly UnitText[];
  lines: readonly number[];
  /** Columns that no field has, which are not read. */
  ignored: readonly string[];
}

/** Problem of a unit's field. */
export type ColumnProblem = Pick<UnitProblem, 'column' | 'type' | 'message'>;

/** Options for readUnits(). */
export interface ReadUnitsOptions {
  /**
   * Values of fields that a row lacks. The column of a field may be missing if it is here, even
   * with ''.
   */
  fills?: UnitFields;
  /** Whether semicolons may separate the columns, as in files of spreadsheets (default: false). */
  acceptsSemicolons?: boolean;
  /** Maximum rows below the header (default: any number). */
  maxRows?: number;
  /** Returns the problems of a unit's fields (default: none). */
  checkUnit?(unit: UnitFields): readonly ColumnProblem[];
}

/**
 * Reads units from a CSV file in UTF-8 whose first row names the fields, in any order and case.
 * Blank rows are skipped, other columns are ignored, and an empty cell is an absent field. A column
 * may occur twice with the same values. An address of a product stands for its fields: in a cell of
 * one of them, in the column `url`, in any column of a file without ids, or in a list without a
 * header. Strings come from the only column or from `url`. Addresses of pages may lack their
 * scheme. Throws a UnitsError with at most 100 problems.
 */
export function readUnits(
  columns: UnitColumns,
  file: Uint8Array,
  options: ReadUnitsOptions = {},
): FileUnits {
  const { maxRows } = options;
  const [header, ...rows] = readTable(file, options);
  if (header === undefined) throw fileError('too_short', 'The file has no rows');
  if (maxRows !== undefined && rows.length > maxRows)
    throw fileError('too_long', `The file has more than ${maxRows} rows`);
  if (isAddress(header.cells[0]!)) {
    const layout = listLayout(columns);
    return readRows(columns, { layout, rows: [header, ...rows] }, options);
  }
  const layout = layoutOf(columns, header, rows[0]);
  return readRows(columns, { layout, rows }, options);
}

/** Reads the rows of a file; a header of one cell may separate its names by semicolons. */
function readTable(
  file: Uint8Array,
  { maxRows, acceptsSemicolons = false }: ReadUnitsOptions,
): CsvRow[] {
  const limits = maxRows === undefined ? {} : { maxRows };
  const rows = readCsv(file, limits);
  if (!acceptsSemicolons) return rows;
  const [first = '', ...otherCells] = rows[0]?.cells ?? [];
  const hasSemicolons = otherCells.length === 0 && first.includes(';') && !isAddress(first);
  return hasSemicolons ? readCsv(file, { ...limits, delimiter: ';' }) : rows;
}

/** Returns the layout of a file without a header. Throws a UnitsError if its units need one. */
export function listLayout(columns: UnitColumns): Layout {
  const { fields, addressFields, title } = columns;
  const isOnlyField = fields.length === 1;
  if (fields.length > 1 && addressFields.length === 0)
    throw fileError('missing', `${title} requires the columns ${fields.join(', ')}`);
  return {
    width: 1,
    hasColumns: true,
    positions: new Map(fields.map((field) => [field, isOnlyField ? [0] : []])),
    textPosition: isOnlyField ? -1 : 0,
    unknown: [],
    separator: undefined,
  };
}

/** Rows of units and where their columns are. */
export interface UnitTable {
  layout: Layout;
  rows: readonly CsvRow[];
}

/** Reads units from the rows of a table. Throws a UnitsError. */
export function readRows(
  columns: UnitColumns,
  table: UnitTable,
  options: ReadUnitsOptions,
): FileUnits {
  if (columns.fields.length === 0) return readTexts(columns, table);
  return readFields(columns, table, options);
}

/** Reads units that are strings. */
function readTexts({ title }: UnitColumns, { layout, rows }: UnitTable): FileUnits {
  const { textPosition, width, unknown } = layout;
  if (textPosition < 0)
    throw fileError(
      'missing',
      `${title} takes one column, or the column url, not ${width} columns`,
    );
  if (rows.length === 0) throw noRows();
  checkWidths(rows, width);
  return {
    units: rows.map(({ cells }) => withScheme(cells[textPosition] ?? '')),
    lines: rows.map(({ line }) => line),
    ignored: unknown,
  };
}

/** Reads units that have fields. */
function readFields(
  columns: UnitColumns,
  { layout, rows }: UnitTable,
  { fills = {}, checkUnit = () => [] }: ReadUnitsOptions,
): FileUnits {
  const { positions, unknown } = layout;
  const isAbsent = (field: string) => positions.get(field)?.length === 0;
  const absentFields = columns.required.filter(
    (field) => isAbsent(field) && fills[field] === undefined,
  );
  const lackingFields = new Set(rows.length === 0 ? absentFields : []);
  const problems: UnitProblem[] = [];
  const units: UnitFields[] = [];
  for (const [at, row] of rows.entries()) {
    const readUnit = readRow(columns, layout, row);
    const { unit, problems: rowProblems } = readUnit;
    units.push(withFills(unit, fills));
    if (rowProblems.length === 0) reportLacking(columns, readUnit, absentFields, lackingFields);
    const isReadable = rowProblems.length === 0;
    const columnsWithProblems = new Set(rowProblems.map(({ column }) => column));
    const unitProblems = checkUnit(unit).filter(({ column }) => !columnsWithProblems.has(column));
    for (const problem of [...rowProblems, ...unitProblems]) {
      // The header reports a missing column once, and a row what keeps its fields from being read.
      const isReported = !isReadable || lackingFields.has(problem.column!);
      if (problem.type === 'missing' && isReported) continue;
      problems.push({ row: at + 1, line: row.line, ...problem });
    }
    if (problems.length >= maxProblems) break;
  }
  const allProblems = [...problemsOfHeader(columns, layout, lackingFields), ...problems];
  if (allProblems.length > 0) throw new UnitsError(allProblems.slice(0, maxProblems));
  if (rows.length === 0) throw noRows();
  return { units, lines: rows.map(({ line }) => line), ignored: unknown };
}

/**
 * Adds the fields without a column that a unit lacks: to its problems those that its address should
 * have, and to `lackingFields` the others.
 */
function reportLacking(
  { addressFields, regionField }: UnitColumns,
  { unit, problems, address }: ReadRow,
  absentFields: readonly string[],
  lackingFields: Set<string>,
): void {
  for (const field of absentFields) {
    if (unit[field] !== undefined) continue;
    const isOfAddress = addressFields.includes(field) && field !== regionField;
    if (address === undefined || !isOfAddress) lackingFields.add(field);
    else problems.push(notInAddress(field, address));
  }
}

interface ReadRow {
  unit: Record<string, string>;
  problems: ColumnProblem[];
  /** Address or id that stands for fields of the unit. */
  address?: string;
}

function readRow(columns: UnitColumns, layout: Layout, { cells }: CsvRow): ReadRow {
  const row: ReadRow = { unit: {}, problems: [] };
  // A header without any column, such as a title, is the only problem of its file.
  if (layout.hasColumns && isTooWide(cells, layout.width))
    row.problems.push(tooWide(cells, layout.width));
  const addresses: [column: string, text: string][] = [];
  const text = cells[layout.textPosition] ?? '';
  if (text !== '') addresses.push(['url', text]);
  for (const [field, positions] of layout.positions) {
    const [value = '', ...otherValues] = positions.map((position) => cells[position] ?? '');
    const other = otherValues.find((candidate) => candidate !== value);
    if (other !== undefined) row.problems.push(twoValues(field, value, other));
    else if (isAddress(value) && columns.addressFields.includes(field))
      addresses.push([field, value]);
    else if (value !== '') row.unit[field] = normalizeValue(columns, field, value);
  }
  for (const [column, address] of addresses) addAddress(columns, row, { column, address });
  return row;
}

/** Adds the fields that an address stands for to a row. */
function addAddress(
  columns: UnitColumns,
  row: ReadRow,
  { column, address }: { column: string; address: string },
): void {
  const { unit, problems } = row;
  row.address = address;
  const fields = parseItem(columns, address);
  if (fields === null) {
    problems.push({ column, ...noAddress(address) });
    return;
  }
  for (const [field, value] of Object.entries(fields)) {
    const current = unit[field];
    if (current !== undefined && current !== value)
      problems.push(otherAddress(field, current, value));
    unit[field] = value;
  }
}

/**
 * Returns a value as its field takes it: the choice that it names, such as "de" for "Germany", an
 * address with its scheme, and upper case for an id that is one only in upper case.
 */
function normalizeValue(columns: UnitColumns, field: string, value: string): string {
  if (field === 'url') return withScheme(value);
  const choice = namedChoice(value, columns.choices.get(field) ?? []);
  if (choice !== undefined) return choice;
  if (!columns.addressFields.includes(field) || columns.parseAddress(value) !== null) return value;
  return parseItem(columns, value)?.[field] ?? value;
}

/** Parses the id of a product, in any case, or its address. Returns null for other text. */
export function parseItem(
  { parseAddress }: UnitColumns,
  text: string,
): Record<string, string> | null {
  const fields = parseAddress(text);
  if (fields !== null || isAddress(text)) return fields;
  return parseAddress(text.toUpperCase());
}

/** Adds the values of the fields that a unit lacks. */
function withFills(unit: Record<string, string>, fills: UnitFields): UnitFields {
  for (const [field, value] of Object.entries(fills)) {
    if (value !== '') unit[field] ??= value;
  }
  return unit;
}

const fileError = (type: string, message: string) => new UnitsError([{ type, message }]);

const noRows = () => fileError('too_short', 'The file has no rows below the header');

const noAddress = (text: string) => ({
  type: 'value_error',
  message: `${quote(text)} is not the address of a product`,
});

const notInAddress = (column: string, address: string): ColumnProblem => ({
  column,
  type: 'value_error',
  message: `'${column}' is not in ${quote(address)}`,
});

const twoValues = (column: string, value: string, other: string): ColumnProblem => ({
  column,
  type: 'value_error',
  message:
    `The column '${column}' occurs twice with different values: ` +
    `${quote(value)} and ${quote(other)}`,
});

const otherAddress = (column: string, value: string, ofAddress: string): ColumnProblem => ({
  column,
  type: 'value_error',
  message: `'${column}' is ${quote(value)}, but ${quote(ofAddress)} in the address`,
});

/** Returns true if a row has values beyond the columns of its header. */
const isTooWide = (cells: readonly string[], width: number): boolean =>
  cells.slice(width).some((cell) => cell !== '');

const tooWide = (cells: readonly string[], width: number): ColumnProblem => ({
  type: 'value_error',
  message: `The row has ${cells.length} cells, not ${width}. Quote values that contain commas`,
});

function checkWidths(rows: readonly CsvRow[], width: number): void {
  const problems: UnitProblem[] = [];
  for (const [at, { line, cells }] of rows.entries()) {
    if (isTooWide(cells, width)) problems.push({ row: at + 1, line, ...tooWide(cells, width) });
  }
  if (problems.length > 0) throw new UnitsError(problems.slice(0, maxProblems));
}
