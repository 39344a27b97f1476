import { isAddress } from '../item-text.ts';
import { namedChoice } from '../known-names.ts';
import type { UnitColumns } from './columns.ts';
import { type CsvRow, readCsv } from './csv.ts';
import { type Layout, layoutOf, titleKey } from './layout.ts';
import {
  cellsOfLine,
  isItem,
  readLines,
  type TextLine,
  unitsOfLines,
  withRegion,
  words,
} from './lines.ts';
import { UnitsError } from './problem.ts';
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
  const [firstLine] = lines;
  if (firstLine === undefined) return readUnits(columns, file, options);
  const isList = isAddress(firstLine.text);
  if (columns.fields.length === 0) {
    if (isList) return unitsOfLines(columns, lines, options);
    return readUnits(columns, file, options);
  }
  const delimiter = delimiterOf(firstLine.text);
  const readTable = () => {
    const [header, ...rows] = readCsv(file, { delimiter });
    return readRows(columns, { layout: layoutOf(columns, header!, rows[0]), rows }, options);
  };
  if (hasHeader(columns, lines)) return readTable();
  if (delimiter === '\t') {
    const rows = readCsv(file, { delimiter });
    const layout = layoutOfCells(columns, rows, options.order);
    return readRows(columns, { layout, rows }, options);
  }
  const idLines = lines.flatMap((line) => separateIds(columns, line));
  if (isList) return unitsOfLines(columns, idLines, options);
  // Other columns without a tab are a file, which needs a header.
  const firstCells = cellsOfLine(columns, idLines[0]!.text);
  if (firstCells.length === 1 && firstCells[0]!.includes(delimiter)) return readTable();
  const layout = layoutWithout(columns, options.order.slice(0, 1));
  return readLines(columns, { layout, lines: idLines }, options);
}

/** Returns a line for each id of a line that has several: "B0GLN01001, B0GLN01002". */
function separateIds(columns: UnitColumns, line: TextLine): TextLine[] {
  const cells = line.text.split(/[\s,;]+/).filter((cell) => cell !== '');
  const areIds = cells.every((cell) => !isAddress(cell) && isItem(columns, cell));
  if (!areIds) return [line];
  return cells.map((text) => ({ line: line.line, text }));
}

function nonBlankLines(text: string): TextLine[] {
  return text
    .split(/\r\n?|\n/)
    .map((line, at) => ({ line: at + 1, text: line.replace('\ufeff', '').trim() }))
    .filter((line) => line.text !== '');
}

/** Returns the separator of the columns in a line; a comma if it has none. */
function delimiterOf(line: string): string {
  if (line.includes('\t')) return '\t';
  return line.includes(';') ? ';' : ',';
}

/** Returns whether the first line of a text names fields, or an address of a product. */
export function isTable(columns: UnitColumns, text: string): boolean {
  const lines = nonBlankLines(text);
  return isProductAddress(columns, lines[0]?.text ?? '') || hasHeader(columns, lines);
}

const isProductAddress = (columns: UnitColumns, cell: string): boolean =>
  isAddress(cell) && columns.parseAddress(cell) !== null;

/** Returns whether the first line names fields, or titles a column of addresses: "Product link". */
function hasHeader(columns: UnitColumns, [first, ...rows]: readonly TextLine[]): boolean {
  if (first === undefined) return false;
  const delimiter = delimiterOf(first.text);
  const cellsOf = ({ text }: TextLine) => text.split(delimiter).map((cell) => cell.trim());
  const titles = cellsOf(first);
  if (isHeader(columns, titles)) return true;
  const [firstRow] = rows;
  if (firstRow === undefined) return false;
  const position = cellsOf(firstRow).findIndex((cell) => isProductAddress(columns, cell));
  const title = titles[position] ?? '';
  if (!words.test(title) || isItem(columns, title)) return false;
  return rows.every((row) => isAddress(cellsOf(row)[position] ?? ''));
}

/** Returns whether cells name fields. */
function isHeader({ fields, addressFields }: UnitColumns, cells: readonly string[]): boolean {
  const names = new Set(fields.map(titleKey));
  if (addressFields.length > 0) names.add('url');
  return cells.some((cell) => names.has(titleKey(cell.trim().replace(/^"(.*)"$/, '$1'))));
}

/**
 * Returns the layout of cells without a header. Of more columns than fields, the only column of
 * addresses is read, and the only one of regions. Throws a UnitsError if there is no such column.
 */
function layoutOfCells(
  columns: UnitColumns,
  rows: readonly CsvRow[],
  order: readonly string[],
): Layout {
  const width = Math.max(...rows.map(({ cells }) => cells.length));
  const positions = Array.from({ length: width }, (_, position) => position);
  const onlyColumn = (isMatch: (cell: string) => boolean) => {
    const isColumn = (at: number) => rows.every(({ cells }) => isMatch(cells[at] ?? ''));
    const [position, ...otherPositions] = positions.filter(isColumn);
    return otherPositions.length === 0 ? position : undefined;
  };
  const addresses = onlyColumn((cell) => isProductAddress(columns, cell));
  if (addresses === undefined) {
    if (rows[0]!.cells.length > order.length) throw unnamedColumns(rows[0]!, order);
    return layoutWithout(columns, order);
  }
  const choices = columns.choices.get(columns.regionField ?? '') ?? [];
  const regions = onlyColumn((cell) => namedChoice(cell, choices) !== undefined);
  const layout = { ...layoutWithout(columns, []), width, textPosition: addresses };
  if (regions === undefined) return layout;
  return withRegion(layout, columns.regionField!, regions);
}

const unnamedColumns = ({ line, cells }: CsvRow, order: readonly string[]) =>
  new UnitsError([
    {
      line,
      type: 'value_error',
      message:
        `The line has ${cells.length} cells and names no column. ` +
        `Write the names of the columns above their values: ${order.join(', ')}`,
    },
  ]);

/** Returns the layout of rows without a header. */
function layoutWithout({ fields }: UnitColumns, order: readonly string[]): Layout {
  const positionsOf = (field: string) => (order.includes(field) ? [order.indexOf(field)] : []);
  return {
    width: order.length,
    hasColumns: true,
    positions: new Map(fields.map((field) => [field, positionsOf(field)])),
    textPosition: -1,
    unknown: [],
    separator: undefined,
  };
}
