import type { JobType } from '../../../../src/contract/job-types.ts';
import { type FileUnits, readCsv, UnitsError, unitsOfCsv } from '../../../../src/contract/units/csv.ts';
import { csvField } from '../../../../src/contract/units/csv-field.ts';
import { type FieldTexts, validateField } from './body.ts';
import type { ListShape } from './fields.ts';

/** Units read from a CSV file, or the problems of the file. */
export interface ParsedCsv {
  units: (FieldTexts | string)[];
  /** At most 20 problems, with line numbers where possible. */
  problems: string[];
}

const maxProblems = 20;

/** Returns rows of texts as CSV; the first row is the header. */
export const csvText = (rows: readonly (readonly string[])[]): string =>
  rows.map((row) => `${row.map(csvField).join(',')}\r\n`).join('');

/** Returns the columns of a template for units: every field, required or not. */
export const templateColumns = ({ fields }: ListShape): string[] =>
  fields ? fields.map(({ name }) => name) : ['url'];

/** Returns the columns of a CSV file of these units; required ones end in `*`. */
export const csvColumns = ({ fields }: ListShape): string[] =>
  fields ? fields.map(({ name, required }) => name + (required ? '*' : '')) : ['url*'];

/** Returns the number of rows below the header of a CSV text; null if it is not CSV. */
export function countRows(text: string): number | null {
  try {
    return Math.max(0, readCsv(text).length - 1);
  } catch {
    return null;
  }
}

/** Reads the units of a job type from a CSV text, and validates their fields. */
export function parseCsv(text: string, jobType: JobType, list: ListShape): ParsedCsv {
  const read = readUnits(text, jobType);
  if (read instanceof UnitsError)
    return {
      units: [],
      problems: [`${read.line === undefined ? 'File' : `Line ${read.line}`}: ${read.message}`],
    };
  const { units, lines } = read;
  if (units.length > list.max)
    return {
      units: [],
      problems: [`The file has ${units.length} rows. Submit at most ${list.max} at once.`],
    };
  const problems = units.flatMap((unit, at) =>
    typeof unit === 'string' ? [] : problemsOf(unit, list).map((problem) => `Line ${lines[at]}, ${problem}`),
  );
  return { units: problems.length > 0 ? [] : [...units], problems: problems.slice(0, maxProblems) };
}

function readUnits(text: string, jobType: JobType): FileUnits | UnitsError {
  try {
    return unitsOfCsv(jobType, text);
  } catch (error) {
    if (error instanceof UnitsError) return error;
    throw error;
  }
}

const problemsOf = (unit: FieldTexts, { fields }: ListShape): string[] =>
  (fields ?? []).flatMap((field) => {
    const problem = validateField(field, unit[field.name] ?? '');
    return problem === null ? [] : [`${field.name}: ${problem}`];
  });
