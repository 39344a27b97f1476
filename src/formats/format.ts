import { csvCell, csvField, csvLine, plainJson } from '../base/csv.ts';
import { type Cell, cellReader } from './cells.ts';
import type { Column } from './columns.ts';
import { type ExactObject, formatExact } from './json-text.ts';

/**
 * Formats of results, in the order of documentation. `csv-bom` is CSV that starts with a byte order
 * mark.
 */
export const formatNames = ['json', 'jsonl', 'csv', 'csv-bom', 'parquet'] as const;

export type FormatName = (typeof formatNames)[number];

/** Media type and file name extension of a format. */
export interface FormatInfo {
  contentType: string;
  /** With its dot. */
  extension: string;
}

const csvInfo = { contentType: 'text/csv; charset=utf-8', extension: '.csv' };

/** Media types and extensions. */
export const formatInfo: Readonly<Record<FormatName, FormatInfo>> = {
  json: { contentType: 'application/json', extension: '.json' },
  jsonl: { contentType: 'application/x-ndjson', extension: '.jsonl' },
  csv: csvInfo,
  'csv-bom': csvInfo,
  parquet: { contentType: 'application/vnd.apache.parquet', extension: '.parquet' },
};

/** Streaming encoder of rows. Pulls rows as its output is read. */
export type Format = (rows: AsyncIterable<ExactObject>) => AsyncIterable<Uint8Array>;

export function isFormatName(text: string): text is FormatName {
  return (formatNames as readonly string[]).includes(text);
}

/**
 * Creates a writer of rows. `json` and `jsonl` contain the rows as they are; `csv` and `parquet`
 * have the columns. At most one chunk, or one row group of Parquet, is in memory.
 */
export function createFormat(name: FormatName, columns: readonly Column[]): Format {
  switch (name) {
    case 'json':
      return (rows) => chunked(jsonText(rows));
    case 'jsonl':
      return (rows) => chunked(jsonLines(rows));
    case 'csv':
      return (rows) => chunked(csvText(columns, rows));
    case 'csv-bom':
      return (rows) => chunked(csvText(columns, rows, { bom: true }));
    case 'parquet':
      return async function* (rows) {
        // Loaded only for Parquet: most processes never write it.
        const { parquetBytes } = await import('./parquet.ts');
        yield* parquetBytes(columns, rows);
      };
  }
}

async function* jsonText(rows: AsyncIterable<ExactObject>): AsyncGenerator<string> {
  let separator = '[\n';
  for await (const row of rows) {
    yield `${separator}${formatExact(row)}`;
    separator = ',\n';
  }
  yield separator === '[\n' ? '[]\n' : '\n]\n';
}

async function* jsonLines(rows: AsyncIterable<ExactObject>): AsyncGenerator<string> {
  for await (const row of rows) yield `${formatExact(row)}\n`;
}

/** Size at which a chunk is yielded, in characters. */
const chunkLength = 64 * 1024;

/** Joins texts into chunks of UTF-8. A lone surrogate becomes U+FFFD. */
async function* chunked(texts: AsyncIterable<string>): AsyncGenerator<Uint8Array> {
  let waiting: string[] = [];
  let length = 0;
  for await (const text of texts) {
    waiting.push(text);
    length += text.length;
    if (length < chunkLength) continue;
    yield Buffer.from(waiting.join(''));
    waiting = [];
    length = 0;
  }
  if (length > 0) yield Buffer.from(waiting.join(''));
}

/** Byte order mark. Some spreadsheets need it to recognize UTF-8. */
const mark = '\ufeff';

/**
 * Yields rows as CSV (RFC 4180) with a header. Null is an empty field, the empty string is `""`.
 * Strings that a spreadsheet would evaluate are made plain; numbers are as they are.
 */
async function* csvText(
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
