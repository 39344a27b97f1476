import type { JobType } from '../../../../src/contract/job-types.ts';
import { columnsOf } from '../../../../src/contract/units/columns.ts';
import { csvField } from '../../../../src/contract/units/csv-field.ts';
import { type UnitProblem, UnitsError } from '../../../../src/contract/units/problem.ts';
import { type FileUnits, readUnits } from '../../../../src/contract/units/read-units.ts';
import { type FieldTexts, validateField } from './body.ts';
import type { ListShape } from './fields.ts';

/** Units read from a CSV file, or the problems of the file. */
export interface ParsedCsv {
  units: (FieldTexts | string)[];
  /** At most 20 problems, with line numbers where possible. */
  problems: string[];
  /** Columns that no field has. */
  ignored: readonly string[];
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

/**
 * Reads the units of a job type from a CSV file, and validates their fields. `fills` has the values of fields
 * that rows lack: a field with '' is asked for elsewhere.
 */
export function parseCsv(file: Uint8Array, jobType: JobType, list: ListShape, fills: FieldTexts): ParsedCsv {
  const result = readFile(file, jobType, fills);
  if (result instanceof UnitsError) return refused(result.problems.map(describeProblem));
  const { units, lines, ignored } = result;
  if (units.length > list.max)
    return refused([`The file has ${units.length} rows. Submit at most ${list.max} at once.`]);
  const problems = units.flatMap((unit, at) =>
    typeof unit === 'string'
      ? []
      : problemsOf(unit, list, fills).map((problem) => `Line ${lines[at]}, ${problem}`),
  );
  return problems.length > 0 ? refused(problems) : { units: [...units], problems, ignored };
}

/**
 * Reads a CSV file that the service reads, too. Returns the number of its rows, or null with the problems of
 * the file. `fills` has the values of fields that rows lack, without '' for those that have none.
 */
export function checkCsv(
  file: Uint8Array,
  jobType: JobType,
  fills: FieldTexts,
): { rows: number | null; problems: string[] } {
  const values = Object.fromEntries(Object.entries(fills).filter(([, value]) => value !== ''));
  const result = readFile(file, jobType, values);
  if (!(result instanceof UnitsError)) return { rows: result.units.length, problems: [] };
  return { rows: null, problems: refused(result.problems.map(describeProblem)).problems };
}

const refused = (problems: readonly string[]): ParsedCsv => ({
  units: [],
  problems: problems.slice(0, maxProblems),
  ignored: [],
});

const describeProblem = ({ line, message }: UnitProblem): string =>
  `${line === undefined ? 'File' : `Line ${line}`}: ${message}`;

function readFile(file: Uint8Array, jobType: JobType, fills: FieldTexts): FileUnits | UnitsError {
  try {
    return readUnits(columnsOf(jobType), file, { fills });
  } catch (error) {
    if (error instanceof UnitsError) return error;
    throw error;
  }
}

const problemsOf = (unit: FieldTexts, { fields }: ListShape, fills: FieldTexts): string[] =>
  (fields ?? []).flatMap((field) => {
    // A field that is asked for elsewhere is reported there.
    const isAsked = unit[field.name] === undefined && fills[field.name] === '';
    const problem = isAsked ? null : validateField(field, unit[field.name] ?? '');
    return problem === null ? [] : [`${field.name}: ${problem}`];
  });
