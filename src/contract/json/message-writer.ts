import {
  type DescEnum,
  type DescField,
  type DescMessage,
  getOption,
  type Message,
  ScalarType,
} from '@bufbuild/protobuf';
import { base64Encode } from '@bufbuild/protobuf/wire';
import type { Timestamp } from '@bufbuild/protobuf/wkt';
import {
  json as jsonOption,
  nullable as nullableOption,
  whole_body as wholeBodyOption,
} from '../../../gen/gleaner/options/v1/options_pb.ts';
import { restName } from '../rest-form.ts';
import { isBig, showTimestamp } from './values.ts';

/**
 * Writes a message as JSON text: REST names; integers as numbers if a double can represent them,
 * otherwise as strings; enums by name; timestamps in ISO 8601. Fields without presence and lists
 * are always written; an unset field with presence is omitted, or null when declared `nullable`. A
 * field that is declared `whole_body` and set replaces the text of its message.
 */
export type WriteMessage = (message: Message) => string;

type WriteValue = (value: unknown) => string;

interface Member {
  /** `"name":`. */
  key: string;
  /** Returns the text of the value; undefined omits the key. */
  write(message: Message): string | undefined;
}

const compiled = new WeakMap<DescMessage, Member[]>();

/**
 * Returns the writer of a message type, compiled once. Throws an Error for types without a REST
 * form.
 */
export function messageWriter(schema: DescMessage): WriteMessage {
  if (schema.typeName === 'google.protobuf.Timestamp')
    return (message) => `"${showTimestamp(message as Timestamp)}"`;
  if (schema.typeName.startsWith('google.'))
    throw new Error(`${schema.typeName} has no REST form here`);
  let members = compiled.get(schema);
  if (members === undefined) {
    members = [];
    // Registered before its members are, since a type may contain itself.
    compiled.set(schema, members);
    members.push(...schema.fields.filter((field) => !isWholeBody(field)).map(memberOf));
  }
  const writtenMembers = members;
  const bodyField = wholeBodyField(schema);
  const writeWhole = bodyField?.message && messageWriter(bodyField.message);
  return (message) => {
    const replacement = bodyField && wholeBodyOf(bodyField, message);
    if (replacement !== undefined) return writeWhole!(replacement);
    let text = '';
    for (const member of writtenMembers) {
      const value = member.write(message);
      if (value !== undefined) text += (text === '' ? '{' : ',') + member.key + value;
    }
    return text === '' ? '{}' : `${text}}`;
  };
}

function memberOf(field: DescField): Member {
  const { localName, oneof } = field;
  const write = valueWriter(field);
  const unset = getOption(field, nullableOption) ? 'null' : undefined;
  const get = (message: Message): unknown => {
    const values = message as unknown as Record<string, unknown>;
    if (oneof === undefined) return values[localName];
    const chosen = values[oneof.localName] as { case?: string; value?: unknown };
    return chosen.case === localName ? chosen.value : undefined;
  };
  return {
    key: `${JSON.stringify(restName(field))}:`,
    write: (message) => {
      const value = get(message);
      return value === undefined ? unset : write(value);
    },
  };
}

function valueWriter(field: DescField): WriteValue {
  const element = elementWriter(field);
  if (field.fieldKind === 'list') {
    return (value) => {
      let text = '';
      for (const item of value as unknown[]) text += (text === '' ? '' : ',') + element(item);
      return `[${text}]`;
    };
  }
  if (field.fieldKind === 'map') {
    return (value) => {
      const members: string[] = [];
      for (const [key, item] of Object.entries(value as Record<string, unknown>))
        members.push(`${JSON.stringify(key)}:${element(item)}`);
      return `{${members.join(',')}}`;
    };
  }
  return element;
}

function elementWriter(field: DescField): WriteValue {
  if (field.message !== undefined) return messageWriter(field.message) as WriteValue;
  if (field.enum !== undefined) return enumWriter(field.enum);
  const scalar = field.scalar ?? ScalarType.STRING;
  // Text of a stored record: copied unchanged, since encoding it again could alter it.
  if (getOption(field, jsonOption)) return (value) => (value === '' ? 'null' : (value as string));
  if (isBig(scalar)) return writeBig;
  switch (scalar) {
    case ScalarType.STRING:
      return JSON.stringify as WriteValue;
    case ScalarType.BOOL:
      return (value) => (value === true ? 'true' : 'false');
    case ScalarType.BYTES:
      return (value) => `"${base64Encode(value as Uint8Array)}"`;
    default:
      // JSON has no NaN and no infinity.
      return (value) => (Number.isFinite(value) ? String(value) : 'null');
  }
}

const writeBig: WriteValue = (value) =>
  Number.isSafeInteger(Number(value)) ? String(value) : `"${value}"`;

function enumWriter(schema: DescEnum): WriteValue {
  const names = new Map(schema.values.map((value) => [value.number, JSON.stringify(value.name)]));
  return (value) => names.get(value as number) ?? String(value);
}

/** Returns true if a field replaces the whole body in REST responses when it is set. */
export const isWholeBody = (field: DescField): boolean => getOption(field, wholeBodyOption);

/**
 * Returns the field of a message type that can replace the whole body, or undefined if there is
 * none.
 */
export const wholeBodyField = (schema: DescMessage): DescField | undefined =>
  schema.fields.find(isWholeBody);

/**
 * Returns the value of the field that replaces the whole body of a response, or undefined if it is
 * not set.
 */
export function wholeBodyOf(field: DescField, response: Message): Message | undefined {
  return (response as unknown as Record<string, Message | undefined>)[field.localName];
}
