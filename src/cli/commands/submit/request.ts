import { create, type DescField, type Message, ScalarType } from '@bufbuild/protobuf';
import { isObject, type Json, type JsonObject } from '../../../base/json.ts';
import type { Problem } from '../../../contract/fault.ts';
import { membersReader } from '../../../contract/json/message-reader.ts';
import { startReading } from '../../../contract/json/reading.ts';
import { hasFileUnits, hasTextUnits, type Offer, unitFields } from '../../../contract/offers.ts';
import { restName } from '../../../contract/rest-form.ts';
import { UsageError } from '../exit.ts';
import { namesOf } from './offers.ts';
import { type Content, toCsv } from './rows.ts';

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

/** A file with units. */
export interface Input {
  /** Name of the file for messages. */
  name: string;
  text: string;
  content: Content;
}

/**
 * Creates an offer's request from a file and `name=value` settings. Converts values to the contract's types; the
 * service checks its rules. Throws a UsageError that names the file's line and column.
 */
export function prepare(offer: Offer, input: Input | null, settings: readonly string[]): Prepared {
  const body = settingsOf(offer, settings);
  const lines: number[] = [];
  if (input !== null) {
    if (hasFileUnits(offer)) return withFile(offer, input, body);
    Object.assign(body, bodyOf(offer, input, lines, body));
  }
  const units = offer.units && body[restName(offer.units)];
  return {
    ...read(offer, body),
    lineOf: (unit) => lines[unit],
    total: offer.units === undefined ? 1 : Array.isArray(units) ? units.length : 0,
  };
}

function read(offer: Offer, body: JsonObject): Pick<Prepared, 'request' | 'problems' | 'ignored'> {
  const { input } = offer.method;
  const request = create(input);
  const reading = startReading(['body']);
  const fields = hasFileUnits(offer) ? offer.options : input.fields;
  membersReader(fields)(body, request, reading);
  return { request, problems: reading.problems, ignored: [...reading.ignored] };
}

function withFile(offer: Offer, { name, text, content }: Input, body: JsonObject): Prepared {
  const field = offer.units!;
  const csv =
    content.format === 'json'
      ? toCsv(name, entries(content.value))
      : content.format === 'jsonl'
        ? toCsv(
            name,
            content.values.map(({ value }) => value),
          )
        : text;
  const { request, problems, ignored } = read(offer, body);
  (request as unknown as Record<string, unknown>)[field.localName] = new TextEncoder().encode(csv);
  return { request, problems, ignored, lineOf: (unit) => unit + 2, total: undefined };
}

/** Returns the part of the body that a file contains. */
function bodyOf(offer: Offer, { name, content }: Input, lines: number[], settings: JsonObject): JsonObject {
  const values: Json[] = [];
  if (content.format === 'json') {
    // An object with the units' field is the complete REST body.
    const { value } = content;
    if (isObject(value) && (offer.units === undefined || restName(offer.units) in value))
      return { ...value, ...settings };
    values.push(...entries(value));
  } else if (content.format === 'lines') {
    values.push(...ofLines(offer, name, content.lines));
  } else if (content.format === 'jsonl') {
    for (const { line, value } of content.values) {
      lines.push(line);
      values.push(value);
    }
  } else values.push(...ofCsv(offer, name, content, lines));
  if (offer.units !== undefined) return { [restName(offer.units)]: values };
  const [only] = values;
  if (values.length !== 1 || !isObject(only))
    throw new UsageError(`${name}: ${offer.kind} takes one unit per job, not ${values.length}`);
  return { ...only, ...settings };
}

/** Returns the units of lines without a header: strings, or objects with the only field of the kind. */
function ofLines(offer: Offer, name: string, lines: readonly string[]): readonly Json[] {
  if (hasTextUnits(offer)) return lines;
  const fields = unitFields(offer);
  const [only] = fields;
  if (only === undefined || fields.length > 1)
    throw new UsageError(`${name}: ${offer.kind} requires the columns ${namesOf(fields)}`);
  return lines.map((line) => ({ [restName(only)]: line }));
}

function ofCsv(
  offer: Offer,
  name: string,
  { header, rows }: Extract<Content, { format: 'csv' }>,
  lines: number[],
): Json[] {
  const [first = ''] = header;
  const texts = () =>
    rows.map(({ line, cells }) => {
      lines.push(line);
      return cells[first] ?? '';
    });
  // A file of bare URLs has no header.
  if (header.length === 1 && first.includes('://')) {
    lines.push(1);
    return [...ofLines(offer, name, [first, ...texts()])];
  }
  if (hasTextUnits(offer)) {
    if (header.length !== 1)
      throw new UsageError(`${name}: ${offer.kind} takes one column, not ${header.length}`);
    return texts();
  }
  const fields = new Map(unitFields(offer).map((field) => [restName(field), field]));
  for (const column of header)
    if (!fields.has(column))
      throw new UsageError(
        `${name}: ${offer.market} ${offer.kind} has no field "${column}" (${[...fields.keys()].join(', ')})`,
      );
  return rows.map(({ line, cells }) => {
    lines.push(line);
    return Object.fromEntries(
      Object.entries(cells)
        .filter(([, text]) => text !== '')
        .map(([column, text]) => [
          column,
          valueOfText(fields.get(column)!, text, `${name}:${line}: ${column}`),
        ]),
    );
  });
}

function settingsOf(offer: Offer, settings: readonly string[]): JsonObject {
  const fields = offer.units === undefined ? unitFields(offer) : offer.options;
  const body: JsonObject = {};
  for (const setting of settings) {
    const at = setting.indexOf('=');
    const field = fields.find((known) => restName(known) === setting.slice(0, at));
    if (at < 1 || field === undefined)
      throw new UsageError(
        fields.length === 0
          ? `--set ${setting}: ${offer.kind} has no such fields`
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
