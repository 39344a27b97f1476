import { create, type DescField, type Message, ScalarType } from '@bufbuild/protobuf';
import { isObject, type Json, type JsonObject } from '../../../base/json.ts';
import { GleanerError } from '../../../clients/typescript/index.ts';
import { type Problem, summarizeProblems } from '../../../contract/fault.ts';
import { hasFileUnits, type JobType, unitFields } from '../../../contract/job-types.ts';
import { membersReader } from '../../../contract/json/message-reader.ts';
import { startReading } from '../../../contract/json/reading.ts';
import { restName } from '../../../contract/rest-form.ts';
import { type FileUnits, UnitsError, unitsOfCsv, unitsOfLines } from '../../../contract/units/csv.ts';
import type { Io } from '../../io.ts';
import { UsageError } from '../exit.ts';
import type { CommandSession } from '../session.ts';
import { namesOf } from './job-types.ts';
import { type Content, formatOf, formats, parseContent, toCsv, type UnitFileFormat } from './rows.ts';

/** A request and the lines of its units. */
export interface Prepared {
  request: Message;
  /** Problems of values that the request cannot represent. */
  problems: readonly Problem[];
  /** Unknown fields of the file, which are not sent. */
  ignored: readonly string[];
  /** Returns the line of a unit; undefined for files without lines. */
  lineOf(unit: number): number | undefined;
  /** Number of units; undefined if the service counts them. */
  total: number | undefined;
}

export interface UnitFile {
  /** Name of the file for messages. */
  name: string;
  text: string;
  content: Content;
}

/**
 * Creates a job type's request from a file and `name=value` settings. Converts values to the contract's
 * types; the service checks its rules. Throws a UsageError that names the file's line and column.
 */
export function prepare(jobType: JobType, input: UnitFile | null, settings: readonly string[]): Prepared {
  const body = settingsOf(jobType, settings);
  const lines: number[] = [];
  if (input !== null) {
    if (hasFileUnits(jobType)) return withFile(jobType, input, body);
    Object.assign(body, bodyOf(jobType, input, lines, body));
  }
  const units = jobType.units && body[restName(jobType.units)];
  return {
    ...read(jobType, body),
    lineOf: (unit) => lines[unit],
    total: jobType.units === undefined ? 1 : Array.isArray(units) ? units.length : 0,
  };
}

function read(jobType: JobType, body: JsonObject): Pick<Prepared, 'request' | 'problems' | 'ignored'> {
  const { input } = jobType.method;
  const request = create(input);
  const reading = startReading(['body']);
  const fields = hasFileUnits(jobType) ? jobType.options : input.fields;
  membersReader(fields)(body, request, reading);
  return { request, problems: reading.problems, ignored: [...reading.ignored] };
}

function withFile(jobType: JobType, { name, text, content }: UnitFile, body: JsonObject): Prepared {
  const field = jobType.units!;
  const csv =
    content.format === 'json'
      ? toCsv(name, entries(content.value))
      : content.format === 'jsonl'
        ? toCsv(
            name,
            content.values.map(({ value }) => value),
          )
        : text;
  const { request, problems, ignored } = read(jobType, body);
  (request as unknown as Record<string, unknown>)[field.localName] = new TextEncoder().encode(csv);
  return { request, problems, ignored, lineOf: (unit) => unit + 2, total: undefined };
}

/** Returns the part of the body that a file contains. */
function bodyOf(
  jobType: JobType,
  { name, content }: UnitFile,
  lines: number[],
  settings: JsonObject,
): JsonObject {
  const values: Json[] = [];
  if (content.format === 'json') {
    // An object with the units' field is the complete REST body.
    const { value } = content;
    if (isObject(value) && (jobType.units === undefined || restName(jobType.units) in value))
      return { ...value, ...settings };
    values.push(...entries(value));
  } else if (content.format === 'jsonl') {
    for (const { line, value } of content.values) {
      lines.push(line);
      values.push(value);
    }
  } else values.push(...ofText(jobType, name, content, lines));
  if (jobType.units !== undefined) return { [restName(jobType.units)]: values };
  const [only] = values;
  if (values.length !== 1 || !isObject(only))
    throw new UsageError(`${name}: ${jobType.kind} takes one unit per job, not ${values.length}`);
  return { ...only, ...settings };
}

/** Returns the units of a CSV file or of lines, with the values of their fields. */
function ofText(
  jobType: JobType,
  name: string,
  content: Extract<Content, { format: 'csv' | 'lines' }>,
  lines: number[],
): Json[] {
  const fields = new Map(unitFields(jobType).map((field) => [restName(field), field]));
  const found = unitsOf(jobType, name, content);
  lines.push(...found.lines);
  return found.units.map((unit, at) =>
    typeof unit === 'string'
      ? unit
      : Object.fromEntries(
          Object.entries(unit).map(([column, text]) => [
            column,
            valueOfText(fields.get(column)!, text, `${name}:${found.lines[at]}: ${column}`),
          ]),
        ),
  );
}

function unitsOf(
  jobType: JobType,
  name: string,
  content: Extract<Content, { format: 'csv' | 'lines' }>,
): FileUnits {
  try {
    return content.format === 'csv'
      ? unitsOfCsv(jobType, content.text)
      : unitsOfLines(jobType, content.lines);
  } catch (error) {
    if (!(error instanceof UnitsError)) throw error;
    throw new UsageError(`${name}${error.line === undefined ? '' : `:${error.line}`}: ${error.message}`);
  }
}

function settingsOf(jobType: JobType, settings: readonly string[]): JsonObject {
  const fields = jobType.units === undefined ? unitFields(jobType) : jobType.options;
  const body: JsonObject = {};
  for (const setting of settings) {
    const at = setting.indexOf('=');
    const field = fields.find((known) => restName(known) === setting.slice(0, at));
    if (at < 1 || field === undefined)
      throw new UsageError(
        fields.length === 0
          ? `--set ${setting}: ${jobType.kind} has no such fields`
          : `--set ${setting}: expected name=value with one of ${namesOf(fields)}`,
      );
    body[restName(field)] = valueOfText(field, setting.slice(at + 1), `--set ${restName(field)}`);
  }
  return body;
}

function valueOfText(field: DescField, text: string, place: string): Json {
  switch (field.scalar) {
    case ScalarType.BOOL:
      if (text === 'true' || text === 'false') return text === 'true';
      throw new UsageError(`${place}: expected true or false, not ${text}`);
    case ScalarType.INT32:
    case ScalarType.INT64:
    case ScalarType.UINT32:
    case ScalarType.DOUBLE:
      if (text.trim() !== '' && Number.isFinite(Number(text))) return Number(text);
      throw new UsageError(`${place}: expected a number, not ${text}`);
    default:
      return text;
  }
}

const entries = (value: Json): Json[] => (Array.isArray(value) ? value : [value]);

/** Reads a request from a file, standard input, or settings. Throws a UsageError. */
export async function prepareFrom(
  io: Io,
  jobType: JobType,
  { file, format, set }: { file: string | undefined; format: string | undefined; set: readonly string[] },
): Promise<Prepared> {
  if (format !== undefined && !formats.includes(format as UnitFileFormat))
    throw new UsageError(`--format: "${format}" is not one of ${formats.join(', ')}`);
  if (file === undefined) {
    // Without a file, only a kind with a single unit can be complete; otherwise input is piped, or missing.
    if (jobType.units === undefined && set.length > 0) return prepare(jobType, null, set);
    if (io.stdin.isTTY) throw new UsageError('Missing file. Pass a path, or - for standard input.');
  }
  const isInput = file === undefined || file === '-';
  const name = isInput ? 'standard input' : file;
  const text = await io.readText(isInput ? '-' : file).catch((error: Error) => {
    throw new UsageError(`Cannot read ${name}: ${error.message}`);
  });
  if (text.trim() === '') throw new UsageError(`${name} is empty`);
  const content = parseContent(name, text, (format as UnitFileFormat | undefined) ?? formatOf(name, text));
  return prepare(jobType, { name, text, content }, set);
}

/**
 * Throws the error of a request that cannot represent its values; notes its unknown fields. A request without
 * a required field can be sent: the service then reports it with the problems that only it can find.
 */
export function requireReadable(session: CommandSession, prepared: Prepared): void {
  const { problems, ignored } = prepared;
  if (problems.some(({ type }) => type !== 'missing')) {
    const detail = summarizeProblems(problems);
    throw withLines(new GleanerError({ status: 422, problems, detail }), prepared);
  }
  if (ignored.length > 0) session.note(`warning: unknown fields ignored: ${ignored.join(', ')}`);
}

/** Adds the file's line numbers to the problems of an error. */
export function withLines(error: unknown, { lineOf }: Prepared): unknown {
  if (!(error instanceof GleanerError) || error.problems.length === 0) return error;
  const problems = error.problems.map(({ loc, msg, type }) => {
    const unit = loc.find((step) => typeof step === 'number');
    const line = unit === undefined ? undefined : lineOf(unit);
    return { loc, type, msg: line === undefined ? msg : `${msg} (line ${line})` };
  });
  const { status, requestId } = error;
  const detail = summarizeProblems(problems);
  return new GleanerError({ status, problems, detail, ...(requestId === undefined ? {} : { requestId }) });
}
