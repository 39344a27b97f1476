import { CsvError, parse } from 'csv-parse/browser/esm/sync';
import { UnitsError } from './problem.ts';
import { decodeText } from './text.ts';

/** A row of a CSV file that is not blank. */
export interface CsvRow {
  /** Line on which the row begins, counted from 1. */
  line: number;
  /** Texts without surrounding white space. */
  cells: readonly string[];
}

/** Maximum length of a line in bytes, and of a row in characters. */
const maxRowBytes = 100_000;

/**
 * Maximum blank rows of separators that are not as wide as the first row. The parser creates an
 * error for each, so that a file of them would block the thread for minutes.
 */
const maxUnevenBlankRows = 10_000;

const lineFeed = 10;

/** Raised by the callback of the parser, which has no other way to stop. */
class EnoughRows extends Error {}

/** Options for readCsv(). */
export interface ReadCsvOptions {
  /** Maximum rows below the header; one more is read (default: any number). */
  maxRows?: number;
  /** Separator of the columns (default: a comma). */
  delimiter?: string;
}

/**
 * Returns the rows of a CSV file (RFC 4180) in UTF-8, including its header. Blank rows are skipped,
 * and lines end with LF, CR, or CRLF. Throws a UnitsError for other files.
 */
export function readCsv(
  file: Uint8Array,
  { maxRows = Number.POSITIVE_INFINITY, delimiter = ',' }: ReadCsvOptions = {},
): CsvRow[] {
  // The parser counts a CRLF within quotes as two lines, and takes ten times longer to encode text.
  const bytes = new TextEncoder().encode(decodeText(file).replace(/\r\n?/g, '\n'));
  checkLines(bytes);
  const rows: CsvRow[] = [];
  let firstWidth: number | undefined;
  let unevenBlankRows = 0;
  try {
    parse(bytes, {
      delimiter,
      relax_column_count: true,
      // A stray quote, such as in 27" screen, does not invalidate the file.
      relax_quotes: true,
      record_delimiter: '\n',
      trim: true,
      skip_empty_lines: true,
      max_record_size: maxRowBytes,
      on_record: (record: string[], { lines }: { lines: number }) => {
        firstWidth ??= record.length;
        const cells = record.map((cell) => cell.trim());
        if (cells.every((cell) => cell === '')) {
          if (cells.length !== firstWidth) unevenBlankRows++;
          if (unevenBlankRows > maxUnevenBlankRows) throw tooManyBlankRows();
          return null;
        }
        rows.push({ line: lines - countLineFeeds(record), cells });
        if (rows.length > maxRows + 1) throw new EnoughRows();
        return null;
      },
    });
  } catch (error) {
    if (error instanceof EnoughRows) return rows;
    if (!(error instanceof CsvError)) throw error;
    throw unreadableRow(error, rows.length);
  }
  return rows;
}

function tooManyBlankRows(): UnitsError {
  const message = `The file has more than ${maxUnevenBlankRows} blank rows. Remove them`;
  return new UnitsError([{ type: 'too_long', message }]);
}

function unreadableRow({ message, lines }: CsvError & { lines?: number }, row: number): UnitsError {
  return new UnitsError([
    {
      row,
      line: lines,
      type: 'csv_parsing',
      // The reason ends with the line, which the problem has.
      message: `The row cannot be parsed: ${message.replace(/ at line \d+$/, '')}`,
    },
  ]);
}

/** Throws a UnitsError for a very long line, on which the parser is slow. */
function checkLines(file: Uint8Array): void {
  let start = 0;
  for (let line = 1; start < file.length; line++) {
    const found = file.indexOf(lineFeed, start);
    const end = found < 0 ? file.length : found;
    if (end - start > maxRowBytes)
      throw new UnitsError([
        { type: 'csv_parsing', message: `Line ${line} is longer than ${maxRowBytes} bytes` },
      ]);
    start = end + 1;
  }
}

/** Counts the line ends within the cells of a record. */
const countLineFeeds = (record: readonly string[]): number =>
  record.reduce(
    (count, cell) => count + (cell.includes('\n') ? cell.split('\n').length - 1 : 0),
    0,
  );
