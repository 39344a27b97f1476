import { type DescEnum, ScalarType } from '@bufbuild/protobuf';
import { base64Decode } from '@bufbuild/protobuf/wire';
import { type Timestamp, timestampDate, timestampFromDate } from '@bufbuild/protobuf/wkt';
import { Fault, fieldPath, type Problem } from '../fault.ts';
import { maxProblems, type ProblemText, problemText, quote } from '../problem-texts.ts';

/** State of reading one request. */
export interface ReadState {
  /** Path of the value being read; changed in place, so that no step allocates. */
  readonly path: Problem['loc'];
  readonly problems: Problem[];
  /** Unknown fields that were ignored, without indexes and duplicates: `items[].max_page`. */
  readonly ignored: Set<string>;
  /** Unknown fields are problems instead. */
  readonly isStrict: boolean;
  /** Set when an identifier is a JSON number, whose text then matters. */
  numericIdentifiers: boolean;
}

/** Result of a reader for an invalid value, whose problem is recorded. */
export const refused = Symbol('refused');

export function createReadState(path: Problem['loc'] = [], { isStrict = false } = {}): ReadState {
  return {
    path,
    problems: [],
    ignored: new Set(),
    isStrict,
    numericIdentifiers: false,
  };
}

const maxIgnored = 20;

/**
 * Records an unknown field of the value being read: a problem when reading strictly, otherwise an
 * ignored field.
 */
export function ignoreField(state: ReadState, name: string): void {
  state.path.push(name);
  if (state.isStrict)
    refuse(state, { type: 'extra_forbidden', msg: 'Unknown field, not permitted with X-Strict' });
  else if (state.ignored.size < maxIgnored)
    state.ignored.add(fieldPath(state.path).replace(/\[\d+\]/g, '[]'));
  state.path.pop();
}

/** Records a problem of the value being read. */
export function refuse(state: ReadState, problem: Omit<Problem, 'loc'>): typeof refused {
  if (!isFull(state)) state.problems.push({ loc: [...state.path], ...problem });
  return refused;
}

/** Returns true if the maximum number of problems is recorded. */
export function isFull(state: ReadState): boolean {
  return state.problems.length >= maxProblems;
}

// May also match inside a string, which only costs a second read.
const fraction = /\d[.eE]/;

/** Parses a body as JSON. Throws `malformed`. */
export function parseJson(text: string): unknown {
  return guarded(() => JSON.parse(text));
}

/**
 * Parses like parseJson(), with numbers that are not written as plain integers as NumberLiteral.
 */
export function parseJsonLiterals(text: string): unknown {
  return guarded(() => JSON.parse(text, keepLiterals));
}

/** Returns true if a text may contain numbers that are not written as plain integers. */
export function mayHoldLiterals(text: string): boolean {
  return fraction.test(text);
}

function guarded(parse: () => unknown): unknown {
  try {
    return parse();
  } catch (error) {
    // A reviver throws a RangeError for a body that is nested too deeply.
    throw new Fault('malformed', `The body is not valid JSON: ${(error as Error).message}`, {
      cause: error,
    });
  }
}

function keepLiterals(
  this: unknown,
  _key: string,
  value: unknown,
  context?: { source?: string },
): unknown {
  if (typeof value !== 'number' || context?.source === undefined || !fraction.test(context.source))
    return value;
  return new NumberLiteral(value);
}

/**
 * Formats a value of parseJson() or parseJsonLiterals(). A number that was not a plain integer is
 * not one afterwards.
 */
export function formatJson(value: unknown): string {
  return JSON.stringify(value, (_key, part: unknown) =>
    part instanceof NumberLiteral ? rawJson(formatLiteral(part.value)) : part,
  );
}

// TypeScript does not know this function yet.
const { rawJSON: rawJson } = JSON as unknown as { rawJSON(text: string): unknown };

function formatLiteral(value: number): string {
  const text = String(value);
  return fraction.test(text) ? text : `${text}.0`;
}

/**
 * A number whose JSON text is not a plain integer (`1.0`, `1e3`). Only requests with identifiers
 * written as numbers are parsed with it.
 */
export class NumberLiteral {
  readonly value: number;

  constructor(value: number) {
    this.value = value;
  }
}

/** Reads one JSON value; returns `refused` after recording a problem. */
export type ReadValue = (value: unknown, state: ReadState) => unknown;

const type = {
  string: { type: 'string_type', msg: 'Input should be a valid string' },
  unicode: {
    type: 'string_unicode',
    msg: 'Input should be a valid string, without halves of surrogate pairs',
  },
  identifier: {
    type: 'string_type',
    msg: 'Input should be a string or an integer up to 9007199254740991',
  },
  bool: { type: 'bool_type', msg: 'Input should be a valid boolean' },
  int: { type: 'int_type', msg: 'Input should be a valid integer' },
  fraction: {
    type: 'int_from_float',
    msg: 'Input should be a valid integer, got a number with a fractional part',
  },
  float: { type: 'float_type', msg: 'Input should be a valid number' },
  finite: { type: 'finite_number', msg: 'Input should be a finite number' },
  bytes: { type: 'bytes_type', msg: 'Input should be a string in base64' },
};

const [int32, uint32] = [
  [-(2 ** 31), 2 ** 31 - 1],
  [0, 2 ** 32 - 1],
] as const;
const [int64, uint64] = [
  [Number.MIN_SAFE_INTEGER, Number.MAX_SAFE_INTEGER],
  [0, Number.MAX_SAFE_INTEGER],
] as const;

/** Returns the minimum and maximum of an integer type in JSON, or undefined for other types. */
export function integerBounds(scalar: ScalarType): readonly [number, number] | undefined {
  switch (scalar) {
    case ScalarType.INT32:
    case ScalarType.SINT32:
    case ScalarType.SFIXED32:
      return int32;
    case ScalarType.UINT32:
    case ScalarType.FIXED32:
      return uint32;
    case ScalarType.INT64:
    case ScalarType.SINT64:
    case ScalarType.SFIXED64:
      return int64;
    case ScalarType.UINT64:
    case ScalarType.FIXED64:
      return uint64;
    default:
      return undefined;
  }
}

/** Returns true if messages represent values of a type as bigint. */
export function isBig(scalar: ScalarType): boolean {
  const bounds = integerBounds(scalar);
  return bounds === int64 || bounds === uint64;
}

/** Returns the reader of the JSON form of a scalar type. */
export function scalarReader(scalar: ScalarType, identifier: boolean): ReadValue {
  const bounds = integerBounds(scalar);
  if (bounds !== undefined) {
    const big = isBig(scalar);
    return (value, state) => {
      const read = readInteger(value, bounds, state);
      return big && typeof read === 'number' ? BigInt(read) : read;
    };
  }
  switch (scalar) {
    case ScalarType.STRING:
      return identifier ? readIdentifier : readString;
    case ScalarType.BOOL:
      return readBool;
    case ScalarType.BYTES:
      return readBytes;
    default:
      return readFloat;
  }
}

/** Returns the reader of an enum, which accepts the names of its values. */
export function enumReader(schema: DescEnum): ReadValue {
  const names = schema.values.map((value) => value.name);
  return (value, state) => {
    const found = schema.values.find((candidate) => candidate.name === value);
    return found?.number ?? refuse(state, problemText.notOneOf(names, String(value)));
  };
}

/** Returns the problem of a value that is not a string, with the string to send for a plain one. */
function notString(value: unknown): ProblemText {
  const plain = value instanceof NumberLiteral ? value.value : value;
  const { type: name, msg } = type.string;
  if (Array.isArray(plain)) return { type: name, msg: `${msg}, not a list` };
  if (typeof plain !== 'number' && typeof plain !== 'boolean') return type.string;
  return { type: name, msg: `${msg}, such as "${plain}", not ${plain}` };
}

const readString: ReadValue = (value, state) => {
  if (typeof value !== 'string') return refuse(state, notString(value));
  return value.isWellFormed() ? value : refuse(state, type.unicode);
};

const readIdentifier: ReadValue = (value, state) => {
  if (typeof value === 'string') return readString(value, state);
  if (!Number.isSafeInteger(value) || Object.is(value, -0)) return refuse(state, type.identifier);
  state.numericIdentifiers = true;
  return String(value);
};

const readBool: ReadValue = (value, state) => {
  if (typeof value === 'boolean') return value;
  return refuse(
    state,
    typeof value === 'string' ? { ...type.bool, type: 'bool_parsing' } : type.bool,
  );
};

const readFloat: ReadValue = (value, state) => {
  const number = value instanceof NumberLiteral ? value.value : value;
  if (typeof number !== 'number')
    return refuse(
      state,
      typeof value === 'string' ? { ...type.float, type: 'float_parsing' } : type.float,
    );
  return Number.isFinite(number) ? number : refuse(state, type.finite);
};

const readBytes: ReadValue = (value, state) => {
  if (typeof value !== 'string') return refuse(state, type.bytes);
  const digits = value.replace(/={0,2}$/, '');
  if (!/^[A-Za-z0-9+/_-]*$/.test(digits) || digits.length % 4 === 1)
    return refuse(state, problemText.wrong(type.bytes.msg));
  return base64Decode(digits);
};

function readInteger(
  value: unknown,
  [minimum, maximum]: readonly [number, number],
  state: ReadState,
): number | typeof refused {
  const number = value instanceof NumberLiteral ? value.value : value;
  if (typeof number === 'string')
    return refuse(state, {
      type: 'int_parsing',
      msg: `Input should be a valid integer, not the string ${quote(number)}`,
    });
  if (typeof number !== 'number') return refuse(state, type.int);
  if (!Number.isFinite(number)) return refuse(state, type.finite);
  if (!Number.isInteger(number)) return refuse(state, type.fraction);
  if (number < minimum) return refuse(state, problemText.tooSmall(minimum, number));
  if (number > maximum) return refuse(state, problemText.tooGreat(maximum, number));
  return number + 0;
}

const form = /^\d{4}-\d\d-\d\d[Tt ]\d\d:\d\d(:\d\d(\.\d+)?)?([Zz]|[+-]\d\d:?\d\d)$/;

/**
 * Reads a Timestamp from ISO 8601 with an offset, to the millisecond; returns `refused` after
 * recording a problem.
 */
export function readTimestamp(value: unknown, state: ReadState): unknown {
  if (typeof value !== 'string')
    return refuse(state, {
      type: 'datetime_type',
      msg: 'Input should be a date and time in ISO 8601',
    });
  const isTime = form.test(value) && isCalendarDay(value);
  const date = new Date(isTime ? value.replace(/([+-]\d\d)(\d\d)$/, '$1:$2') : Number.NaN);
  if (Number.isNaN(date.getTime())) {
    return refuse(state, {
      type: 'datetime_from_date_parsing',
      msg: `Input should be a date and time in ISO 8601 with an offset, not ${quote(value)}`,
    });
  }
  return timestampFromDate(date);
}

/** Returns whether its month has the day of an ISO 8601 date. Date turns 02-30 into 03-02. */
export function isCalendarDay(text: string): boolean {
  const [year, month, day] = text.slice(0, 10).split('-').map(Number);
  return day! <= new Date(Date.UTC(year!, month!, 0)).getUTCDate();
}

/** Formats a Timestamp as ISO 8601 in UTC, to the millisecond. */
export function showTimestamp(timestamp: Timestamp): string {
  return timestampDate(timestamp).toISOString();
}
