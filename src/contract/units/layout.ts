import { isAddress } from '../item-text.ts';
import { suggest } from '../suggest.ts';
import type { UnitColumns } from './columns.ts';
import type { CsvRow } from './csv.ts';
import type { UnitProblem } from './problem.ts';

/** Positions of the columns in the rows of a CSV file. */
export interface Layout {
  /** Cells of the header. */
  width: number;
  /** True if the header names a column that is read. */
  hasColumns: boolean;
  /** Positions of each field; several if a column occurs twice, none if it is missing. */
  positions: ReadonlyMap<string, readonly number[]>;
  /** Position of the texts or the addresses that stand for units, or -1. */
  textPosition: number;
  /** Names of the header that no field has. */
  unknown: readonly string[];
  /** Character other than a comma that seems to separate the columns. */
  separator: string | undefined;
}

/**
 * Finds the columns of a file by the names in its header, in any case. A title such as
 * "Item ID" stands for a field that no column names exactly.
 */
export function layoutOf(
  columns: UnitColumns,
  header: CsvRow,
  firstRow: CsvRow | undefined,
): Layout {
  const names = header.cells.map((cell) => cell.toLowerCase());
  const positions = new Map(columns.fields.map((field) => [field, positionsOf(field, names)]));
  const fieldPositions = new Set([...positions.values()].flat());
  const hasIds = columns.addressFields.some(
    (field) => field !== columns.regionField && positions.get(field)!.length > 0,
  );
  const textPosition = textPositionOf(columns, names, hasIds ? [] : (firstRow?.cells ?? []));
  return {
    width: names.length,
    hasColumns: fieldPositions.size > 0 || textPosition >= 0,
    positions,
    textPosition,
    unknown: header.cells.filter(
      (cell, position) => cell !== '' && position !== textPosition && !fieldPositions.has(position),
    ),
    separator: names.length === 1 ? /[;\t|]/.exec(names[0]!)?.[0] : undefined,
  };
}

function positionsOf(field: string, names: readonly string[]): number[] {
  const positions = positionsIn(names, field.toLowerCase());
  if (positions.length > 0) return positions;
  return positionsIn(names.map(titleKey), titleKey(field));
}

const positionsIn = (names: readonly string[], sought: string): number[] =>
  names.flatMap((name, position) => (name === sought ? [position] : []));

/** Returns what a field has in common with the titles that stand for it: "Item ID", "item_id". */
export const titleKey = (name: string): string => name.toLowerCase().replaceAll(/[\s_-]/g, '');

/**
 * Returns the position of `url`, of the only column if it has strings or addresses, or of the first
 * column with the address of a product; or else -1.
 */
function textPositionOf(
  { fields, addressFields, parseAddress }: UnitColumns,
  names: readonly string[],
  firstCells: readonly string[],
): number {
  const isOnlyColumn = names.length === 1;
  const hasStrings = fields.length === 0;
  if (hasStrings) return isOnlyColumn ? 0 : names.indexOf('url');
  const hasAddresses = addressFields.length > 0 && !fields.includes('url');
  if (!hasAddresses) return -1;
  if (names.includes('url')) return names.indexOf('url');
  if (isOnlyColumn) return isAddress(firstCells[0] ?? '') ? 0 : -1;
  return firstCells.findIndex((cell) => isAddress(cell) && parseAddress(cell) !== null);
}

/**
 * Returns the problems of a header: the missing columns that units lack, and columns whose names
 * seem to be misspelled.
 */
export function problemsOfHeader(
  columns: UnitColumns,
  layout: Layout,
  lackingFields: ReadonlySet<string>,
): UnitProblem[] {
  const { fields, title } = columns;
  const absentFields = fields.filter((field) => layout.positions.get(field)!.length === 0);
  const hint = hintOf(layout);
  const problems: UnitProblem[] = [];
  for (const field of absentFields) {
    if (!lackingFields.has(field)) continue;
    const message = `The column '${field}' is missing${hint}`;
    problems.push({
      row: 0,
      column: field,
      type: 'missing',
      message,
    });
  }
  for (const name of layout.unknown) {
    const suggestion = suggest(name, absentFields);
    if (suggestion === undefined || lackingFields.has(suggestion)) continue;
    const message = `${title} has no field "${name}". Did you mean ${suggestion}?`;
    problems.push({
      row: 0,
      column: suggestion,
      type: 'extra_forbidden',
      message,
    });
  }
  return problems;
}

/** Returns a hint about missing columns: another separator, or the unknown names in the header. */
function hintOf({ separator, unknown }: Layout): string {
  if (separator !== undefined)
    return `. Separate columns by commas, not by ${JSON.stringify(separator)}`;
  if (unknown.length === 0) return '';
  const names = unknown.slice(0, maxHintNames).map((name) => JSON.stringify(name.slice(0, 40)));
  return `. The first line has ${names.join(', ')}`;
}

/** Maximum names of the header in a hint. */
const maxHintNames = 5;
