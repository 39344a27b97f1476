import type { UnitColumns } from './columns.ts';
import { readCsv } from './csv.ts';
import { type Layout, layoutOf } from './layout.ts';
import { cellsOfLine, readLines, type TextLine, unitsOfLines } from './lines.ts';
import { type FileUnits, type ReadUnitsOptions, readRows, readUnits } from './read-units.ts';

/** Options for readText(). */
export interface ReadTextOptions extends ReadUnitsOptions {
  /** Fields of the columns of a text without a header. */
  order: readonly string[];
}

/**
 * Reads units from a text as people type or paste it: ids or addresses, one per line, also with
 * their regions; cells of a spreadsheet, with or without a header; or a CSV file, whose columns may
 * be separated by semicolons. Throws a UnitsError.
 */
export function readText(columns: UnitColumns, text: string, options: ReadTextOptions): FileUnits {
  const lines = nonBlankLines(text);
  const file = new TextEncoder().encode(text);
  if (lines.length === 0) return readUnits(columns, file, options);
  const first = lines[0]![1];
  const delimiter = delimiterOf(first);
  if (columns.fields.length === 0) {
    const isList = first.includes('://');
    return isList ? unitsOfLines(columns, lines, options) : readUnits(columns, file, options);
  }
  if (isHeader(columns, first.split(delimiter))) {
    const [header, ...rows] = readCsv(file, { delimiter });
    return readRows(columns, { layout: layoutOf(columns, header!, rows[0]), rows }, options);
  }
  if (delimiter === '\t') {
    const rows = readCsv(file, { delimiter });
    return readRows(columns, { layout: layoutWithout(columns, options.order), rows }, options);
  }
  if (first.includes('://')) return unitsOfLines(columns, lines, options);
  // Other columns without a tab are a file, which needs a header.
  const hasRegion = cellsOfLine(columns, first).length > 1;
  if (first.includes(delimiter) && !hasRegion) return readUnits(columns, file, options);
  const layout = layoutWithout(columns, options.order.slice(0, 1));
  return readLines(columns, { layout, lines }, options);
}

function nonBlankLines(text: string): TextLine[] {
  return text
    .split(/\r\n?|\n/)
    .map((line, at): TextLine => [at + 1, line.replace('\ufeff', '').trim()])
    .filter(([, line]) => line !== '');
}

/** Returns the separator of the columns in a line; a comma if it has none. */
const delimiterOf = (line: string): string =>
  ['\t', ';'].find((each) => line.includes(each)) ?? ',';

/** Returns whether the first line of a text names fields, or an address of a product. */
export function isTable(columns: UnitColumns, text: string): boolean {
  const first = nonBlankLines(text)[0]?.[1] ?? '';
  const isAddress = columns.addressFields.length > 0 && columns.parseAddress(first) !== null;
  return (isAddress && first.includes('://')) || isHeader(columns, first.split(delimiterOf(first)));
}

/** Returns whether cells name fields. */
function isHeader({ fields, addressFields }: UnitColumns, cells: readonly string[]): boolean {
  const names = new Set(fields.map((field) => field.toLowerCase()));
  if (addressFields.length > 0) names.add('url');
  return cells.some((cell) =>
    names.has(
      cell
        .trim()
        .replace(/^"(.*)"$/, '$1')
        .toLowerCase(),
    ),
  );
}

/** Returns the layout of rows without a header. */
function layoutWithout({ fields }: UnitColumns, order: readonly string[]): Layout {
  const positionsOf = (field: string) => (order.includes(field) ? [order.indexOf(field)] : []);
  return {
    width: order.length,
    positions: new Map(fields.map((field) => [field, positionsOf(field)])),
    textPosition: -1,
    unknown: [],
    separator: undefined,
  };
}
