import { parse } from 'csv-parse/browser/esm/sync';
import { type FieldTexts, validateField } from './body.ts';
import type { ListShape } from './fields.ts';

/** Units read from a CSV file, or the problems of the file. */
export interface ParsedCsv {
  units: (FieldTexts | string)[];
  /** At most 20 problems, with line numbers where possible. */
  problems: string[];
}

const maxProblems = 20;

/** Returns a CSV file with only the header. */
export const csvTemplate = (columns: readonly string[]): string => `${columns.join(',')}\r\n`;

/** Returns the columns of a template for units: every field, required or not. */
export const templateColumns = ({ fields }: ListShape): string[] =>
  fields ? fields.map(({ name }) => name) : ['url'];

/** Returns the columns of a CSV file of these units; required ones end in `*`. */
export const csvColumns = ({ fields }: ListShape): string[] =>
  fields ? fields.map(({ name, required }) => name + (required ? '*' : '')) : ['url*'];

/** Returns the number of rows below the header of a CSV text; null if it is not CSV. */
export function countRows(text: string): number | null {
  try {
    const rows = parse(text, { bom: true, relax_column_count: true, skip_empty_lines: true }) as unknown[];
    return Math.max(0, rows.length - 1);
  } catch {
    return null;
  }
}

/**
 * Parses and validates units from a CSV text with a header. Columns are the fields of a unit in any order.
 * Units that are plain texts are read from the column `url`, or from the only column.
 */
export function parseCsv(text: string, list: ListShape): ParsedCsv {
  let rows: { record: Record<string, string>; info: { lines: number } }[];
  try {
    rows = parse(text, {
      bom: true,
      columns: (header: string[]) => header.map((name) => name.trim()),
      info: true,
      skip_empty_lines: true,
      trim: true,
    }) as unknown as typeof rows;
  } catch (error) {
    return { units: [], problems: [(error as Error).message] };
  }
  if (rows.length === 0) return { units: [], problems: ['The file has no rows below the header.'] };
  const columns = Object.keys(rows[0]!.record);
  const problems = [...validateHeader(columns, list)];
  if (rows.length > list.max)
    problems.push(`The file has ${rows.length} rows. Submit at most ${list.max} at once.`);
  if (problems.length > 0) return { units: [], problems };
  if (!list.fields) {
    const column = columns.length === 1 ? columns[0]! : 'url';
    return { units: rows.map(({ record }) => record[column]!), problems: [] };
  }
  for (const { record, info } of rows) {
    for (const field of list.fields) {
      const problem = validateField(field, record[field.name] ?? '');
      if (problem && problems.length < maxProblems)
        problems.push(`Line ${info.lines}, ${field.name}: ${problem}`);
    }
  }
  return { units: problems.length > 0 ? [] : rows.map(({ record }) => record), problems };
}

function validateHeader(columns: readonly string[], { fields }: ListShape): string[] {
  if (!fields) return columns.length === 1 || columns.includes('url') ? [] : ['Column url is missing.'];
  const missing = fields.filter(({ name, required }) => required && !columns.includes(name));
  const unknown = columns.filter((column) => !fields.some(({ name }) => name === column));
  return [
    ...missing.map(({ name }) => `Column ${name} is missing.`),
    ...unknown.map((column) => `Unknown column ${column}.`),
  ];
}
