import { parse } from 'csv-parse/browser/esm/sync';
import { hasTextUnits, type JobType, unitFields } from '../job-types.ts';
import { restName } from '../rest-form.ts';

/** A file that contains no units, or not those of its job type. */
export class UnitsError extends Error {
  override name = 'UnitsError';
  /** Line of the file; undefined if it concerns the whole file. */
  readonly line: number | undefined;

  constructor(message: string, line?: number) {
    super(message);
    this.line = line;
  }
}

/** A unit as a file has it: a string, or texts by field, without those of empty cells. */
export type UnitText = string | Readonly<Record<string, string>>;

/** Units of a file in its order, each with its line. */
export interface FileUnits {
  units: UnitText[];
  lines: number[];
}

interface CsvRow {
  line: number;
  cells: readonly string[];
}

/** Returns the rows of a CSV text, which includes the header. Throws a UnitsError for other text. */
export function readCsv(text: string): CsvRow[] {
  const options = {
    bom: true,
    info: true,
    relax_column_count: true,
    skip_empty_lines: true,
    trim: true,
  } as const;
  try {
    const records = parse(text, options) as unknown as { record: string[]; info: { lines: number } }[];
    return records.map(({ record, info }) => ({ line: info.lines, cells: record }));
  } catch (error) {
    throw new UnitsError(`not valid CSV: ${(error as Error).message}`);
  }
}

/**
 * Reads the units of a job type from a CSV text. The first row names the fields, in any order; an empty cell
 * is an absent field. Units with one value are also read from a list of addresses without a header, and
 * strings from the only column or from the column `url`. Throws a UnitsError.
 */
export function unitsOfCsv(jobType: JobType, text: string): FileUnits {
  const [head, ...rows] = readCsv(text);
  if (head === undefined) throw new UnitsError('empty');
  const header = head.cells;
  if (header.length === 1 && header[0]!.includes('://'))
    return unitsOfLines(
      jobType,
      [head, ...rows].map(({ cells, line }) => [line, cells[0] ?? '']),
    );
  const duplicate = header.find((column, at) => header.indexOf(column) !== at);
  if (duplicate !== undefined) throw new UnitsError(`duplicate column "${duplicate}"`);
  const long = rows.find(({ cells }) => cells.length > header.length);
  if (long) throw new UnitsError(`${long.cells.length} cells, but ${header.length} columns`, long.line);
  const unitOf = hasTextUnits(jobType) ? stringOf(jobType, header) : fieldsOf(jobType, header);
  if (rows.length === 0) throw new UnitsError('no rows below the header');
  return { units: rows.map(({ cells }) => unitOf(cells)), lines: rows.map(({ line }) => line) };
}

/**
 * Reads the units of a job type from lines without a header: strings, or the only field of a unit. Throws a
 * UnitsError.
 */
export function unitsOfLines(jobType: JobType, lines: readonly [line: number, text: string][]): FileUnits {
  const fields = unitFields(jobType).map(restName);
  const [only] = fields;
  if (!hasTextUnits(jobType) && (only === undefined || fields.length > 1))
    throw new UnitsError(`${jobType.kind} requires the columns ${fields.join(', ')}`);
  return {
    units: lines.map(([, text]) => (hasTextUnits(jobType) ? text : { [only!]: text })),
    lines: lines.map(([line]) => line),
  };
}

function stringOf(jobType: JobType, header: readonly string[]): (cells: readonly string[]) => UnitText {
  const at = header.length === 1 ? 0 : header.indexOf('url');
  if (at < 0)
    throw new UnitsError(`${jobType.kind} takes one column, or the column url, not ${header.length} columns`);
  return (cells) => cells[at] ?? '';
}

function fieldsOf(jobType: JobType, header: readonly string[]): (cells: readonly string[]) => UnitText {
  const fields = unitFields(jobType).map(restName);
  const unknown = header.find((column) => !fields.includes(column));
  if (unknown !== undefined) {
    const other = header.length === 1 ? /[;\t|]/.exec(unknown)?.[0] : undefined;
    const hint = other === undefined ? '' : `. Separate columns by commas, not by ${JSON.stringify(other)}`;
    throw new UnitsError(
      `${jobType.market} ${jobType.kind} has no field "${unknown}" (${fields.join(', ')})${hint}`,
    );
  }
  return (cells) =>
    Object.fromEntries(
      header.flatMap((column, at) => ((cells[at] ?? '') === '' ? [] : [[column, cells[at]!]])),
    );
}
