import { plainText } from '../base/csv.ts';
import { type Cell, cellReader } from './cells.ts';
import type { Column } from './columns.ts';
import type { ExactObject } from './json-text.ts';

/** Byte order mark, by which some spreadsheets recognize UTF-8. */
const mark = '\ufeff';

/**
 * Yields rows as CSV (RFC 4180) with a header. Null is an empty field, the empty string is `""`. Strings that a
 * spreadsheet would evaluate start with an apostrophe; numbers do not.
 */
export async function* csvText(
  columns: readonly Column[],
  rows: AsyncIterable<ExactObject>,
  { bom = false }: { bom?: boolean } = {},
): AsyncGenerator<string> {
  const cellsOf = cellReader(columns);
  yield `${bom ? mark : ''}${columns.map(({ name }) => field(plainText(name))).join(',')}\r\n`;
  for await (const row of rows) yield `${cellsOf(row).map(cellText).join(',')}\r\n`;
}

function cellText(cell: Cell): string {
  if (cell === null) return '';
  return typeof cell === 'string' ? field(plainText(cell)) : String(cell);
}

function field(text: string): string {
  return text === '' || /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
