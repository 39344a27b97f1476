import {
  create,
  type DescField,
  type DescMessage,
  getOption,
  isFieldSet,
  type Message,
  type MessageShape,
  ScalarType,
} from '@bufbuild/protobuf';
import { base64Decode, base64Encode } from '@bufbuild/protobuf/wire';
import { type Timestamp, timestampDate, timestampFromDate } from '@bufbuild/protobuf/wkt';
import {
  identifier as identifierOption,
  json as jsonOption,
  nullable as nullableOption,
} from '../../gen/gleaner/options/v1/options_pb.ts';
import type { Json, JsonObject } from '../base/json.ts';
import { restName } from '../contract/rest-form.ts';
import { isExactNumber } from './exact-json.ts';

type Values = Record<string, unknown>;

/** What is asked of a field again and again: looking an option up takes longer than writing a value. */
interface Member {
  field: DescField;
  name: string;
  isNullable: boolean;
  isJson: boolean;
  isIdentifier: boolean;
}

const known = new WeakMap<DescMessage, readonly Member[]>();

function membersOf(schema: DescMessage): readonly Member[] {
  let members = known.get(schema);
  if (members === undefined) {
    members = schema.fields.map((field) => ({
      field,
      name: restName(field),
      isNullable: getOption(field, nullableOption),
      isJson: getOption(field, jsonOption),
      isIdentifier: getOption(field, identifierOption),
    }));
    known.set(schema, members);
  }
  return members;
}

const memberOf = (field: DescField): Member => membersOf(field.parent)[field.parent.fields.indexOf(field)]!;

/** A JSON value that a message type cannot be made of; says where and what was there. */
export class ShapeError extends Error {
  /** Names and indexes from the message to the value. */
  readonly path: readonly (string | number)[];

  constructor(path: readonly (string | number)[], expected: string, value: unknown) {
    super(`${path.length === 0 ? '' : `${path.join('.')}: `}expected ${expected}, not ${shown(value)}`);
    this.name = 'ShapeError';
    this.path = path;
  }
}

/**
 * A message as its REST form has it: REST names, integers as numbers where a double holds them, times in
 * ISO 8601. `whole`: as in answers, with every field that has no presence; else as in requests, where what
 * is not set is left out.
 */
export function toRest(schema: DescMessage, message: Message, whole = true): JsonObject {
  const json: JsonObject = {};
  for (const member of membersOf(schema)) {
    const { field, name, isNullable } = member;
    const isSet = isFieldSet(message as MessageShape<typeof schema>, field);
    if (isSet || (whole && !hasPresence(field)))
      json[name] = valueToRest(member, fieldValue(message, field), whole);
    else if (whole && isNullable) json[name] = null;
  }
  return json;
}

/**
 * A message of its REST form: fields that it does not have stay unset, unknown ones are left out, and so is
 * null. Throws a ShapeError.
 */
export function fromRest<Desc extends DescMessage>(
  schema: Desc,
  json: unknown,
  path: readonly (string | number)[] = [],
): MessageShape<Desc> {
  if (typeof json !== 'object' || json === null || Array.isArray(json))
    throw new ShapeError(path, 'an object', json);
  const message = create(schema);
  const values = message as unknown as Values;
  for (const member of membersOf(schema)) {
    const { field, name } = member;
    const value = (json as Values)[name];
    if (value === undefined || value === null) continue;
    const read = valueFromRest(member, value, [...path, name]);
    if (field.oneof === undefined) values[field.localName] = read;
    else values[field.oneof.localName] = { case: field.localName, value: read };
  }
  return message;
}

/** A field's value as text, as paths, queries and forms carry it; a list's values one by one. */
export function toTexts(field: DescField, message: Message): string[] {
  if (!isFieldSet(message as never, field)) return [];
  const json = valueToRest(memberOf(field), fieldValue(message, field), false);
  return (Array.isArray(json) ? json : [json]).map(String);
}

/** A field's value in a message. */
export function fieldValue(message: Message, field: DescField): unknown {
  const values = message as unknown as Values;
  if (field.oneof === undefined) return values[field.localName];
  return (values[field.oneof.localName] as { value?: unknown }).value;
}

/** Whether a message can tell the field's absence from its zero value. */
function hasPresence(field: DescField): boolean {
  return field.fieldKind === 'message' || field.oneof !== undefined || field.proto.proto3Optional;
}

function valueToRest(member: Member, value: unknown, whole: boolean): Json {
  const { field } = member;
  if (field.fieldKind === 'list')
    return (value as unknown[]).map((element) => elementToRest(member, element, whole));
  if (field.fieldKind === 'map')
    return Object.fromEntries(
      Object.entries(value as Values).map(([key, element]) => [key, elementToRest(member, element, whole)]),
    );
  return elementToRest(member, value, whole);
}

function elementToRest(member: Member, value: unknown, whole: boolean): Json {
  const { field } = member;
  if (field.message !== undefined) {
    if (field.message.typeName === 'google.protobuf.Timestamp')
      return timestampDate(value as Timestamp).toISOString();
    return toRest(field.message, value as Message, whole);
  }
  if (field.enum !== undefined) return field.enum.value[value as number]?.name ?? (value as number);
  if (member.isJson) return value === '' ? null : (JSON.parse(value as string) as Json);
  if (value instanceof Uint8Array) return base64Encode(value);
  if (typeof value === 'bigint')
    return Number.isSafeInteger(Number(value)) ? Number(value) : value.toString();
  return value as Json;
}

function valueFromRest(member: Member, value: unknown, path: readonly (string | number)[]): unknown {
  const { field } = member;
  if (field.fieldKind === 'list') {
    if (!Array.isArray(value)) throw new ShapeError(path, 'a list', value);
    return value.map((element, index) => elementFromRest(member, element, [...path, index]));
  }
  if (field.fieldKind === 'map') {
    if (typeof value !== 'object' || value === null) throw new ShapeError(path, 'an object', value);
    return Object.fromEntries(
      Object.entries(value).map(([key, element]) => [key, elementFromRest(member, element, [...path, key])]),
    );
  }
  return elementFromRest(member, value, path);
}

function elementFromRest(member: Member, value: unknown, path: readonly (string | number)[]): unknown {
  const { field } = member;
  if (field.message !== undefined) {
    if (field.message.typeName !== 'google.protobuf.Timestamp') return fromRest(field.message, value, path);
    const date = new Date(typeof value === 'string' ? value : Number.NaN);
    if (Number.isNaN(date.getTime())) throw new ShapeError(path, 'a time in ISO 8601', value);
    return timestampFromDate(date);
  }
  if (field.enum !== undefined) {
    const known = field.enum.values.find(({ name }) => name === value);
    return (
      known?.number ?? fail(path, `one of ${field.enum.values.map(({ name }) => name).join(', ')}`, value)
    );
  }
  if (member.isJson) return value === null ? '' : JSON.stringify(value);
  return scalarFromRest(field.scalar ?? ScalarType.STRING, member.isIdentifier, value, path);
}

function scalarFromRest(
  scalar: ScalarType,
  isIdentifier: boolean,
  given: unknown,
  path: readonly (string | number)[],
): unknown {
  const value = isExactNumber(given) ? Number(given.rawJSON) : given;
  switch (scalar) {
    case ScalarType.STRING:
      if (isIdentifier && Number.isSafeInteger(value)) return String(value);
      return typeof value === 'string' ? value : fail(path, 'a string', given);
    case ScalarType.BOOL:
      return typeof value === 'boolean' ? value : fail(path, 'true or false', given);
    case ScalarType.BYTES:
      return typeof value === 'string' ? base64Decode(value) : fail(path, 'a string in base64', given);
    case ScalarType.DOUBLE:
    case ScalarType.FLOAT:
      return typeof value === 'number' ? value : fail(path, 'a number', given);
    case ScalarType.INT64:
    case ScalarType.UINT64:
      if (isExactNumber(given)) return BigInt(given.rawJSON);
      if (Number.isInteger(value) || (typeof value === 'string' && /^-?\d+$/.test(value)))
        return BigInt(value as number | string);
      return fail(path, 'an integer', given);
    default:
      return Number.isInteger(value) ? value : fail(path, 'an integer', given);
  }
}

function fail(path: readonly (string | number)[], expected: string, value: unknown): never {
  throw new ShapeError(path, expected, value);
}

function shown(value: unknown): string {
  const text = JSON.stringify(value) ?? 'nothing';
  return text.length > 100 ? `${text.slice(0, 100)}…` : text;
}
