import { isUtf8 } from 'node:buffer';
import { Readable } from 'node:stream';
import type { Message } from '@bufbuild/protobuf';
import { CsvError, parse } from 'csv-parse';
import { Fault, type Problem } from '../../contract/fault.ts';
import { quote } from '../../contract/problem-texts.ts';
import type { Unit } from '../../store/batches.ts';
import { inOrder } from '../items.ts';
import type { Plan } from '../kind.ts';

/** Fields of gleaner.mkta.v1.SubmitGetPcBulkRequest. */
interface Request {
  file: Uint8Array;
  rescrape?: boolean;
  resultFormat?: string;
}

/** Plans one unit per row of the CSV, in its order. Faults as readRows(). */
export async function plan(request: Message): Promise<Plan> {
  const { file, rescrape = false, resultFormat = 'csv' } = request as unknown as Request;
  const units = (await readRows(file)).map(({ region, ...input }) => ({
    unit: { key: input.item_id, input },
    region,
  }));
  return { groups: inOrder(units), region: '', params: { rescrape, resultFormat } };
}

/** Returns the key that a product page is cached under: region, shop and item. */
export function recentKey({ input }: Unit, region: string): string {
  return `${region}/${input.shop_id}/${input.item_id}`;
}

/** One row of the uploaded CSV. */
export interface CsvRow {
  region: string;
  shop_id: string;
  item_id: string;
}

const columns = ['region', 'shop_id', 'item_id'] as const;
const regions = ['id', 'sg', 'th', 'ph', 'my', 'vn', 'tw', 'br'];
/** Maximum rows per submission. */
export const maxRows = 2_000;
const maxRowBytes = 100_000;
const maxProblems = 100;
const chunkBytes = 65_536;
const [lineFeed, carriageReturn] = [10, 13];

/**
 * Reads the rows of a CSV in UTF-8 with a header row. Other columns and blank lines are ignored; a column
 * that occurs twice must have the same value twice. Throws `invalid`, which names every invalid row, up to
 * 100 problems. Their `loc` is ["body", "file", row, column]; the header is row 0.
 */
export async function readRows(file: Uint8Array): Promise<CsvRow[]> {
  const problems: Problem[] = [];
  const refuse = (place: (string | number)[], msg: string, type: string) =>
    problems.push({ loc: ['body', 'file', ...place], msg, type });
  const rows: CsvRow[] = [];
  const unreadable = whyUnreadable(file);
  if (unreadable !== null) refuse([], ...unreadable);
  else await parseRows(file, rows, refuse, () => problems.length >= maxProblems);
  if (problems.length === 0 && rows.length === 0) refuse([], 'The file has no rows', 'too_short');
  if (problems.length > 0)
    throw new Fault('invalid', 'The CSV is not valid; nothing was charged.', { problems });
  return rows;
}

type Refuse = (place: (string | number)[], msg: string, type: string) => void;

async function parseRows(
  file: Uint8Array,
  rows: CsvRow[],
  refuse: Refuse,
  enough: () => boolean,
): Promise<void> {
  const parser = Readable.from(chunks(file)).pipe(
    parse({
      bom: true,
      trim: true,
      skip_empty_lines: true,
      relax_column_count: true,
      // An unescaped quote in an ignored column, such as 27" screen, does not invalidate the file.
      relax_quotes: true,
      record_delimiter: ['\r\n', '\n', '\r'],
      max_record_size: maxRowBytes,
    }),
  );
  let places: Record<keyof CsvRow, number[]> | undefined;
  let number = 0;
  try {
    for await (const record of parser as AsyncIterable<string[]>) {
      if (places === undefined) {
        places = placesOf(record);
        for (const column of columns)
          if (places[column].length === 0)
            refuse([0, column], `The column '${column}' is missing`, 'missing');
        continue;
      }
      if (++number > maxRows) return refuse([], `The file has more than ${maxRows} rows`, 'too_long');
      rows.push(readRow(record, places, number, refuse));
      if (enough()) return;
    }
  } catch (error) {
    if (!(error instanceof CsvError)) throw error;
    refuse([number + 1], `The row cannot be parsed: ${error.message}`, 'csv_parsing');
  }
}

function placesOf(header: string[]): Record<keyof CsvRow, number[]> {
  const find = (column: string) =>
    header.flatMap((name, place) => (name.toLowerCase() === column ? [place] : []));
  return { region: find('region'), shop_id: find('shop_id'), item_id: find('item_id') };
}

function readRow(
  record: string[],
  places: Record<keyof CsvRow, number[]>,
  number: number,
  refuse: Refuse,
): CsvRow {
  const row = { region: '', shop_id: '', item_id: '' };
  for (const column of columns.filter((name) => places[name].length > 0)) {
    const [value = '', ...others] = places[column].map((place) => record[place] ?? '');
    row[column] = column === 'region' ? value.toLowerCase() : value;
    if (others.some((other) => other !== value)) {
      refuse(
        [number, column],
        `The column '${column}' occurs twice with different values: ${quote(value)} and ${quote(others.find((other) => other !== value)!)}`,
        'value_error',
      );
    } else if (value === '') {
      refuse([number, column], `The row lacks '${column}'`, 'missing');
    } else if (column === 'region' && !regions.includes(row.region)) {
      refuse([number, column], `${quote(value)} is not one of ${regions.join(', ')}`, 'enum');
    } else if (column !== 'region' && !/^[0-9]{1,20}$/.test(value)) {
      refuse([number, column], `${quote(value)} is not an id`, 'string_pattern_mismatch');
    }
  }
  return row;
}

/**
 * Returns the problem of a file that cannot be parsed, or null if there is none. The parser is slow on very
 * long lines.
 */
function whyUnreadable(file: Uint8Array): [msg: string, type: string] | null {
  if (!isUtf8(file)) return ['The file is not UTF-8', 'unicode_error'];
  let line = 1;
  let start = 0;
  for (let at = 0; at <= file.length; at++) {
    if (at - start > maxRowBytes) return [`Line ${line} is longer than ${maxRowBytes} bytes`, 'csv_parsing'];
    if (file[at] !== lineFeed && file[at] !== carriageReturn) continue;
    line++;
    start = at + 1;
  }
  return null;
}

function* chunks(file: Uint8Array): Generator<Uint8Array> {
  for (let start = 0; start < file.length; start += chunkBytes)
    yield file.subarray(start, start + chunkBytes);
}
