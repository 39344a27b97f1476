import { csvCell, csvField, csvLine, plainJson } from '../base/csv.ts';
import { type Cell, cellReader } from './cells.ts';
import type { Column } from './columns.ts';
import type { ExactObject } from './json-text.ts';

/** Byte order mark, by which some spreadsheets recognize UTF-8. */
const mark = '\ufeff';

/**
 * Yields rows as CSV (RFC 4180) with a header. Null is an empty field, the empty string is `""`. Strings that a
 * spreadsheet would evaluate are made plain; numbers are as they are.
 */
export async function* csvText(
  columns: readonly Column[],
  rows: AsyncIterable<ExactObject>,
  { bom = false }: { bom?: boolean } = {},
): AsyncGenerator<string> {
  const cellsOf = cellReader(columns);
  yield `${bom ? mark : ''}${csvLine(columns.map(({ name }) => name))}`;
  // Cells of these columns are JSON already.
  const isJson = columns.map(({ type }) => type === 'json' || type === 'others');
  const textOf = (cell: Cell, at: number) =>
    isJson[at] && typeof cell === 'string' ? csvField(plainJson(cell)) : csvCell(cell);
  for await (const row of rows) yield `${cellsOf(row).map(textOf).join(',')}\r\n`;
}
