import { create, type DescField, type Message, ScalarType } from '@bufbuild/protobuf';
import { GleanerError } from '../../../../clients/typescript/index.ts';
import { isObject, type Json, type JsonObject } from '../../../base/json.ts';
import { type Problem, summarizeProblems } from '../../../contract/fault.ts';
import { hasFileUnits, type JobType, unitFields } from '../../../contract/job-types.ts';
import { membersReader } from '../../../contract/json/message-reader.ts';
import { createReadState } from '../../../contract/json/values.ts';
import { namedChoice } from '../../../contract/known-names.ts';
import { restName } from '../../../contract/rest-form.ts';
import { choicesOf, columnsOf, type UnitColumns } from '../../../contract/units/columns.ts';
import { cellsOfLine, unitsOfLines } from '../../../contract/units/lines.ts';
import { type UnitProblem, UnitsError } from '../../../contract/units/problem.ts';
import { type FileUnits, readUnits } from '../../../contract/units/read-units.ts';
import { decodeText } from '../../../contract/units/text.ts';
import type { Io } from '../../io.ts';
import { UsageError } from '../exit.ts';
import type { CommandSession } from '../session.ts';
import { namesOf } from './job-types.ts';
import {
  type Content,
  formatOf,
  formats,
  parseContent,
  toCsv,
  type UnitFileFormat,
} from './rows.ts';

/** A request and the lines of its units. */
export interface Prepared {
  request: Message;
  /** Problems of values that the request cannot represent. */
  problems: readonly Problem[];
  /** Unknown fields of the file, which are not sent. */
  ignored: readonly string[];
  /**
   * Returns the line of a unit; undefined for files without lines, and for those that the service
   * reads.
   */
  lineOf(unit: number): number | undefined;
  /** True if the service reads a file made of the units, whose lines the user has not seen. */
  isConverted: boolean;
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
 * Creates a job type's request from a file and `name=value` settings. Converts values to the
 * contract's types; the service checks its rules. Throws a UsageError that names the file's line
 * and column.
 */
export function prepare(
  jobType: JobType,
  input: UnitFile | null,
  settings: readonly string[],
): Prepared {
  const { body, fills } = settingsOf(jobType, settings);
  if (input !== null && hasFileUnits(jobType)) return withFile(jobType, input, body);
  const found: FoundUnits = { lines: [], ignored: [] };
  if (input !== null) Object.assign(body, bodyOf(jobType, input, { body, fills }, found));
  const units = unitsIn(jobType, body);
  for (const unit of units) if (isObject(unit)) fill(unit, fills);
  const message = read(jobType, body);
  return {
    ...message,
    ignored: [...message.ignored, ...found.ignored],
    lineOf: (unit) => found.lines[unit],
    isConverted: false,
    total: jobType.units === undefined ? 1 : units.length,
  };
}

/** Returns the units of a body. Empty for a job type with a single unit. */
function unitsIn({ units }: JobType, body: JsonObject): Json[] {
  const values = units && body[restName(units)];
  return Array.isArray(values) ? values : [];
}

/** Adds the values of the fields that a unit lacks. */
function fill(unit: JsonObject, fills: JsonObject): void {
  for (const [name, value] of Object.entries(fills)) unit[name] ??= value;
}

/** Lines of the units of a file, and its columns that are not read. */
interface FoundUnits {
  lines: number[];
  ignored: string[];
}

function read(
  jobType: JobType,
  body: JsonObject,
): Pick<Prepared, 'request' | 'problems' | 'ignored'> {
  const { input } = jobType.method;
  const request = create(input);
  const state = createReadState(['body']);
  const fields = hasFileUnits(jobType) ? jobType.options : input.fields;
  membersReader(fields)(body, request, state);
  return { request, problems: state.problems, ignored: [...state.ignored] };
}

/** Creates a request with the file that the service reads. */
function withFile(jobType: JobType, { name, text, content }: UnitFile, body: JsonObject): Prepared {
  const { request, problems, ignored } = read(jobType, body);
  const { localName } = jobType.units!;
  const isJson = content.format === 'json' || content.format === 'jsonl';
  const csv = isJson ? csvOf(name, content) : text;
  (request as unknown as Record<string, unknown>)[localName] = new TextEncoder().encode(csv);
  return {
    request,
    problems,
    ignored,
    lineOf: (row) => (content.format === 'jsonl' ? content.values[row - 1]?.line : undefined),
    isConverted: csv !== text,
    total: undefined,
  };
}

function csvOf(name: string, content: Extract<Content, { format: 'json' | 'jsonl' }>): string {
  if (content.format === 'json') return toCsv(name, entries(content.value));
  const values = content.values.map(({ value }) => value);
  return toCsv(name, values);
}

/** Returns the part of the body that a file contains. */
function bodyOf(
  jobType: JobType,
  { name, content }: UnitFile,
  settings: Settings,
  found: FoundUnits,
): JsonObject {
  const values: Json[] = [];
  if (content.format === 'json') {
    // An object with the units' field is the complete REST body.
    const { value } = content;
    if (isObject(value) && (jobType.units === undefined || restName(jobType.units) in value))
      return { ...value, ...settings.body };
    values.push(...entries(value));
  } else if (content.format === 'jsonl') {
    for (const { line, value } of content.values) {
      found.lines.push(line);
      values.push(value);
    }
  } else values.push(...ofText(jobType, { name, content }, settings, found));
  if (jobType.units !== undefined) return { [restName(jobType.units)]: values };
  const [only] = values;
  if (values.length !== 1 || !isObject(only))
    throw new UsageError(`${name}: ${jobType.kind} takes one unit per job, not ${values.length}`);
  return { ...only, ...settings.body };
}

interface TextFile {
  name: string;
  content: Extract<Content, { format: 'csv' | 'lines' }>;
}

/** Returns the units of a CSV file or of lines, with the values of their fields. */
function ofText(jobType: JobType, file: TextFile, settings: Settings, found: FoundUnits): Json[] {
  const fields = new Map(unitFields(jobType).map((field) => [restName(field), field]));
  const { units, lines, ignored } = unitsOf(jobType, file, settings);
  found.lines.push(...lines);
  found.ignored.push(...ignored);
  return units.map((unit, at) => {
    if (typeof unit === 'string') return unit;
    const values: JsonObject = {};
    for (const [column, text] of Object.entries(unit)) {
      const location = `${file.name}:${lines[at]}: ${column}`;
      values[column] = valueOfText(fields.get(column)!, text, location);
    }
    return values;
  });
}

function unitsOf(
  jobType: JobType,
  { name, content }: TextFile,
  { body, fills }: Settings,
): FileUnits {
  const columns = columnsOf(jobType);
  const settable = jobType.units === undefined ? body : fills;
  // The values are added later, to units of every format.
  const filledFields = Object.fromEntries(Object.keys(settable).map((field) => [field, '']));
  try {
    if (content.format === 'lines')
      return unitsOfLines(columns, content.lines, { fills: filledFields });
    return readUnits(columns, new TextEncoder().encode(content.text), {
      fills: filledFields,
      acceptsSemicolons: true,
    });
  } catch (error) {
    if (!(error instanceof UnitsError)) throw error;
    throw usageError(name, error, columns);
  }
}

/** Problems of a file that are listed. */
const maxListed = 20;

function usageError(name: string, { problems }: UnitsError, columns?: UnitColumns): UsageError {
  const texts = problems.map((problem) => describeProblem(name, problem, columns));
  if (texts.length === 1) return new UsageError(texts[0]!);
  const lines = [`${name} has ${texts.length} problems`, ...texts.slice(0, maxListed)];
  if (texts.length > maxListed) lines.push(`and ${texts.length - maxListed} more`);
  return new UsageError(lines.join('\n  '));
}

function describeProblem(
  name: string,
  { row, line, column = '', type, message }: UnitProblem,
  columns: UnitColumns | undefined,
): string {
  const location = line === undefined ? name : `${name}:${line}`;
  if (row !== 0 || type !== 'missing') return `${location}: ${message}`;
  const choices = columns?.choices.get(column) ?? [];
  const value = choices.length > 0 ? choices.join('|') : 'value';
  return `${location}: ${message}. Add it, or pass --set ${column}=<${value}>`;
}

/** Values of the `--set` options. */
interface Settings {
  /** Fields of the request. */
  body: JsonObject;
  /** Fields of each unit that lacks them. */
  fills: JsonObject;
}

function settingsOf(jobType: JobType, settings: readonly string[]): Settings {
  const isUnit = jobType.units === undefined;
  const ownFields = isUnit ? unitFields(jobType) : jobType.options;
  const ownNames = new Set(ownFields.map(restName));
  const fillFields = unitFields(jobType).filter((field) => !ownNames.has(restName(field)));
  const fields = [...ownFields, ...fillFields];
  const parsed: Settings = { body: {}, fills: {} };
  for (const setting of settings) {
    const at = setting.indexOf('=');
    const name = setting.slice(0, at);
    const field = fields.find((candidate) => restName(candidate) === name);
    if (at < 1 || field === undefined) {
      const expected = `expected name=value with one of ${namesOf(fields)}`;
      const problem = fields.length === 0 ? `${jobType.kind} has no such fields` : expected;
      throw new UsageError(`--set ${setting}: ${problem}`);
    }
    const target = ownFields.includes(field) ? parsed.body : parsed.fills;
    target[name] = valueOfText(field, setting.slice(at + 1), `--set ${name}`);
  }
  return parsed;
}

function valueOfText(field: DescField, text: string, location: string): Json {
  switch (field.scalar) {
    case ScalarType.BOOL:
      if (text === 'true' || text === 'false') return text === 'true';
      throw new UsageError(`${location}: expected true or false, not ${text}`);
    case ScalarType.INT32:
    case ScalarType.INT64:
    case ScalarType.UINT32:
    case ScalarType.DOUBLE:
      if (text.trim() !== '' && Number.isFinite(Number(text))) return Number(text);
      throw new UsageError(`${location}: expected a number, not ${text}`);
    default:
      return namedChoice(text, choicesOf(field)) ?? text;
  }
}

const entries = (value: Json): Json[] => (Array.isArray(value) ? value : [value]);

/** Reads a request from a file, standard input, or settings. Throws a UsageError. */
export async function prepareFrom(
  io: Io,
  jobType: JobType,
  {
    file,
    format,
    set,
  }: { file: string | undefined; format: string | undefined; set: readonly string[] },
): Promise<Prepared> {
  if (format !== undefined && !formats.includes(format as UnitFileFormat))
    throw new UsageError(`--format: "${format}" is not one of ${formats.join(', ')}`);
  if (file === undefined) {
    // Without a file, only a kind with a single unit can be complete; otherwise input is piped, or
    // missing.
    if (jobType.units === undefined && set.length > 0) return prepare(jobType, null, set);
    if (io.stdin.isTTY) throw new UsageError('Missing file. Pass a path, or - for standard input.');
  }
  const isInput = file === undefined || file === '-';
  const name = isInput ? 'standard input' : file;
  const bytes = await io.readBytes(isInput ? '-' : file).catch((error: Error) => {
    throw new UsageError(`Cannot read ${name}: ${error.message}`);
  });
  const text = textOf(name, bytes);
  if (text.trim() === '') {
    if (file === undefined) throw new UsageError('Missing file: standard input is empty, too.');
    throw new UsageError(`${name} is empty`);
  }
  const declaredFormat = format as UnitFileFormat | undefined;
  const content = parseContent(name, text, declaredFormat ?? detectFormat(jobType, name, text));
  return prepare(jobType, { name, text, content }, set);
}

/**
 * Detects the format of a file. A list of ids without a header looks like CSV, unless the job type
 * knows the form of its ids.
 */
function detectFormat(jobType: JobType, name: string, text: string): UnitFileFormat {
  const format = formatOf(name, text);
  if (format !== 'csv' || hasFileUnits(jobType)) return format;
  const columns = columnsOf(jobType);
  const [firstLine = ''] = text.trim().split(/\r?\n/, 1);
  const [id = ''] = cellsOfLine(columns, firstLine.trim());
  // Names of columns have no digits.
  return /\d/.test(id) && columns.parseAddress(id) !== null ? 'lines' : format;
}

function textOf(name: string, bytes: Uint8Array): string {
  try {
    return decodeText(bytes);
  } catch (error) {
    if (!(error instanceof UnitsError)) throw error;
    throw usageError(name, error);
  }
}

/**
 * Throws the error of a request that cannot represent its values; notes its unknown fields. A
 * request without a required field can be sent: the service then reports it with the problems that
 * only it can find.
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
export function withLines(error: unknown, { lineOf, isConverted }: Prepared): unknown {
  if (!(error instanceof GleanerError) || error.problems.length === 0) return error;
  const problems = error.problems.map(({ loc, msg, type }) => {
    const unit = loc.find((step) => typeof step === 'number');
    const line = unit === undefined ? undefined : lineOf(unit);
    const text = isConverted ? msg.replace(/ \(line \d+\)$/, '') : msg;
    return { loc, type, msg: line === undefined ? text : `${text} (line ${line})` };
  });
  const { status, requestId } = error;
  const detail = summarizeProblems(problems);
  return new GleanerError({
    status,
    problems,
    detail,
    requestId,
  });
}
