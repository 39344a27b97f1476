import { namedChoice } from '../known-names.ts';
import type { UnitColumns } from './columns.ts';
import type { Layout } from './layout.ts';
import {
  type FileUnits,
  listLayout,
  parseItem,
  type ReadUnitsOptions,
  readRows,
} from './read-units.ts';

/** A line of a text, without surrounding white space. */
export interface TextLine {
  /** Number of the line, from 1. */
  line: number;
  text: string;
}

/** Lines of units, and where their first cell belongs. */
export interface LineTable {
  layout: Layout;
  lines: readonly TextLine[];
}

/**
 * Reads units from lines without a header: strings, the only field of a unit, or ids and addresses
 * of products, each of which its region may follow: "B0GLN01002, de". Throws a UnitsError.
 */
export function unitsOfLines(
  columns: UnitColumns,
  lines: readonly TextLine[],
  options: ReadUnitsOptions = {},
): FileUnits {
  return readLines(columns, { layout: listLayout(columns), lines }, options);
}

/** Reads units from lines as unitsOfLines() does, with another layout. Throws a UnitsError. */
export function readLines(
  columns: UnitColumns,
  { layout, lines }: LineTable,
  options: ReadUnitsOptions,
): FileUnits {
  const rows = lines.map(({ line, text }) => ({ line, cells: cellsOfLine(columns, text) }));
  const hasRegions = rows.some(({ cells }) => cells.length > 1);
  const rowLayout = hasRegions ? withRegion(layout, columns.regionField!, 1) : layout;
  return readRows(columns, { layout: rowLayout, rows }, options);
}

/** Returns a layout with a column for the region. */
export const withRegion = (layout: Layout, regionField: string, position: number): Layout => ({
  ...layout,
  width: Math.max(layout.width, position + 1),
  positions: new Map([...layout.positions, [regionField, [position]]]),
});

/** Last separator of a line, and the cells beside it. */
const lastSeparator = /^(.+)[,;\t]([^,;\t]+)$/;

/** Words, such as the name or the code of a country. */
export const words = /^\p{L}+(?: \p{L}+)*$/u;

/**
 * Returns the cells of a line without a header: the id or the address of a product, and its region.
 * The line is one cell if it can be something else, such as an address with a comma or two ids.
 */
export function cellsOfLine(columns: UnitColumns, line: string): string[] {
  const { regionField, choices } = columns;
  const match = regionField === undefined ? null : lastSeparator.exec(line);
  if (match === null) return [line];
  const item = match[1]!.trim();
  const region = match[2]!.trim();
  if (region === '' || isItem(columns, region)) return [line];
  const isRegion = namedChoice(region, choices.get(regionField!)!) !== undefined;
  if (isRegion) return canPrecedeRegion(columns, item, line) ? [item, region] : [line];
  const isUnknownRegion = words.test(region) && isItem(columns, item) && !isItem(columns, line);
  return isUnknownRegion ? [item, region] : [line];
}

/** Returns false for an address that ends with the region, and for several cells. */
function canPrecedeRegion(columns: UnitColumns, item: string, line: string): boolean {
  // Addresses contain no white space.
  if (!/\s/.test(line) && isItem(columns, line)) return false;
  return isItem(columns, item) || !/[,;\t]/.test(item);
}

/** Returns true for the id of a product, in any case, and for its address. */
export const isItem = (columns: UnitColumns, text: string): boolean =>
  parseItem(columns, text) !== null;
