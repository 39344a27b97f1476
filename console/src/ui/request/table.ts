import { isAddress } from '../../../../src/contract/item-text.ts';
import type { JobType } from '../../../../src/contract/job-types.ts';
import { columnsOf } from '../../../../src/contract/units/columns.ts';
import { csvField } from '../../../../src/contract/units/csv-field.ts';
import { type UnitProblem, UnitsError } from '../../../../src/contract/units/problem.ts';
import { isTable, readText } from '../../../../src/contract/units/read-text.ts';
import {
  type ColumnProblem,
  type FileUnits,
  readUnits,
  type UnitFields,
} from '../../../../src/contract/units/read-units.ts';
import { decodeText } from '../../../../src/contract/units/text.ts';
import { formatCount, formatUnits } from '../../../../src/present/text.ts';
import { type FieldTexts, validateField } from './body.ts';
import type { ListShape } from './fields.ts';

/** Problem of a list of units. */
export interface ListProblem {
  /** Line of the text, counted from 1; absent for the whole text. */
  line?: number;
  /** Field of the unit; absent if the message names it or needs none. */
  field?: string;
  message: string;
}

/** Units read from a text, or its problems. */
export interface ParsedList {
  units: readonly (FieldTexts | string)[];
  /** Lines of the units. */
  lines: readonly number[];
  problems: readonly ListProblem[];
  /** Columns that no field has. */
  ignored: readonly string[];
}

/** Units read from a CSV file, or the problems of the file. */
export interface ParsedCsv extends Pick<ParsedList, 'units' | 'ignored'> {
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
export function csvColumns({ fields }: ListShape): string[] {
  if (fields) return fields.map(({ name, required }) => name + (required ? '*' : ''));
  return ['url*'];
}

/**
 * Reads the units of a job type from a text: ids or addresses, one per line, cells of a
 * spreadsheet, or a CSV file. Validates their fields. `fills` has the values of fields that rows
 * lack: a field with '' is asked for elsewhere.
 */
export function parseList(
  text: string,
  jobType: JobType,
  list: ListShape,
  { fills, order }: { fills: FieldTexts; order: readonly string[] },
): ParsedList {
  const checkUnit = (unit: UnitFields) => problemsOf(unit, list, fills);
  const result = catchProblems(() =>
    readText(columnsOf(jobType), text, { fills, order, checkUnit }),
  );
  if (result instanceof UnitsError) return refusedList(result.problems.map(listProblem));
  const { units, lines, ignored } = result;
  if (units.length > list.max) {
    const message =
      `The list has ${formatUnits(units.length)}. ` +
      `Submit at most ${formatCount(list.max)} at once.`;
    return refusedList([{ message }]);
  }
  return {
    units,
    lines,
    problems: [],
    ignored,
  };
}

const refusedList = (problems: readonly ListProblem[]): ParsedList => ({
  units: [],
  lines: [],
  problems,
  ignored: [],
});

/** Reads the units of a job type from a file as parseList() does. */
export function parseCsv(
  file: Uint8Array,
  jobType: JobType,
  list: ListShape,
  fills: FieldTexts,
): ParsedCsv {
  const text = catchProblems(() => decodeText(file));
  if (text instanceof UnitsError)
    return { units: [], ignored: [], problems: describeProblems(text.problems) };
  const order = list.fields?.map(({ name }) => name) ?? [];
  const { units, problems, ignored } = parseList(text, jobType, list, { fills, order });
  return { units, problems: describeProblems(problems), ignored };
}

/**
 * Returns the units of a pasted text that says which fields it has: a table with a header, or
 * addresses of products. Their values may be invalid. Null for any other text.
 */
export function pastedUnits(text: string, jobType: JobType): FieldTexts[] | null {
  const columns = columnsOf(jobType);
  if (!isTable(columns, text)) return null;
  const fills = Object.fromEntries(columns.fields.map((field) => [field, '']));
  const result = catchProblems(() => readText(columns, text, { fills, order: [] }));
  if (result instanceof UnitsError) return null;
  return result.units.filter((unit) => typeof unit !== 'string');
}

/** Replaces the address of a product in a row by the fields that it stands for. */
export function readAddress(row: FieldTexts, jobType: JobType): FieldTexts {
  const { parseAddress } = columnsOf(jobType);
  const [name, address = ''] = Object.entries(row).find(([, text]) => isAddress(text)) ?? [];
  const fields = address === '' ? null : parseAddress(address);
  return fields === null ? row : { ...row, [name!]: '', ...fields };
}

/**
 * Reads a CSV file that the service reads, too. Returns the number of its rows, or null with the
 * problems of the file. `fills` has the values of fields that rows lack, without '' for those that
 * have none.
 */
export function checkCsv(
  file: Uint8Array,
  jobType: JobType,
  fills: FieldTexts,
): { rows: number | null; problems: string[] } {
  const values = Object.fromEntries(Object.entries(fills).filter(([, value]) => value !== ''));
  const result = catchProblems(
    (): FileUnits => readUnits(columnsOf(jobType), file, { fills: values }),
  );
  if (!(result instanceof UnitsError)) return { rows: result.units.length, problems: [] };
  return { rows: null, problems: describeProblems(result.problems) };
}

/** Describes the first problems: "Line 3, asin: Required". */
const describeProblems = (problems: readonly ListProblem[]): string[] =>
  problems.slice(0, maxProblems).map(({ line, field, message }) => {
    const location = [line === undefined ? 'File' : `Line ${line}`, field]
      .filter(Boolean)
      .join(', ');
    return `${location}: ${message}`;
  });

/** Returns what a reader returns, or its problems. */
function catchProblems<Result>(read: () => Result): Result | UnitsError {
  try {
    return read();
  } catch (error) {
    if (error instanceof UnitsError) return error;
    throw error;
  }
}

/** Type of the problem of a value that its field does not take. */
const valueType = 'value';

/** Returns a problem of the reader. Its field is shown unless the message names it. */
function listProblem({ line, column, type, message }: UnitProblem): ListProblem {
  if (line === undefined) return { message };
  const isOfField = type === valueType || type === 'missing';
  if (isOfField && column !== undefined) return { line, field: column, message };
  return { line, message };
}

function problemsOf(unit: FieldTexts, { fields }: ListShape, fills: FieldTexts): ColumnProblem[] {
  return (fields ?? []).flatMap((field) => {
    // A field that is asked for elsewhere is reported there.
    const isAsked = unit[field.name] === undefined && fills[field.name] === '';
    const message = isAsked ? null : validateField(field, unit[field.name] ?? '');
    if (message === null) return [];
    const type = unit[field.name] === undefined ? 'missing' : valueType;
    return [{ column: field.name, type, message }];
  });
}
