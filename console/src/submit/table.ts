import { parse } from 'csv-parse/browser/esm/sync';
import { problemOf, type Texts } from './body.ts';
import type { ListShape } from './fields.ts';

/** Units read from a CSV file, or what is wrong with the file. */
export interface ReadTable {
  units: (Texts | string)[];
  /** By line of the file where one can be named; up to 20. */
  problems: string[];
}

const mostProblems = 20;

/** Columns that a CSV file of these units has; `*` behind those that must be there. */
export const columnsOf = ({ fields }: ListShape): string[] =>
  fields ? fields.map(({ name, required }) => name + (required ? '*' : '')) : ['url*'];

/**
 * Reads units from a CSV text with a header: the columns are the fields of a unit, in any order. Units that are
 * texts stand in the column `url`, or in the only one. Every row is checked as the form checks its fields.
 */
export function readTable(text: string, list: ListShape): ReadTable {
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
  if (rows.length === 0) return { units: [], problems: ['The file has no rows below its header.'] };
  const columns = Object.keys(rows[0]!.record);
  const problems = [...problemsOfHeader(columns, list)];
  if (rows.length > list.most)
    problems.push(`${rows.length} rows; at most ${list.most} can be submitted at once.`);
  if (problems.length > 0) return { units: [], problems };
  if (!list.fields) {
    const column = columns.length === 1 ? columns[0]! : 'url';
    return { units: rows.map(({ record }) => record[column]!), problems: [] };
  }
  for (const { record, info } of rows) {
    for (const field of list.fields) {
      const problem = problemOf(field, record[field.name] ?? '');
      if (problem && problems.length < mostProblems)
        problems.push(`Line ${info.lines}, ${field.name}: ${problem}`);
    }
  }
  return { units: problems.length > 0 ? [] : rows.map(({ record }) => record), problems };
}

function problemsOfHeader(columns: readonly string[], { fields }: ListShape): string[] {
  if (!fields) return columns.length === 1 || columns.includes('url') ? [] : ['There is no column url.'];
  const missing = fields.filter(({ name, required }) => required && !columns.includes(name));
  const unknown = columns.filter((column) => !fields.some(({ name }) => name === column));
  return [
    ...missing.map(({ name }) => `The column ${name} is missing.`),
    ...unknown.map((column) => `There is no field for the column ${column}.`),
  ];
}
