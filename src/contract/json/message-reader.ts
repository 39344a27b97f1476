import {
  create,
  type DescField,
  type DescMessage,
  getOption,
  type Message,
  ScalarType,
} from '@bufbuild/protobuf';
import { SubmitOptionsSchema } from '../../../gen/gleaner/job/v1/submit_options_pb.ts';
import {
  default_json as defaultOption,
  identifier as identifierOption,
  json as jsonOption,
  refuses_misspelled as refusesMisspelledOption,
} from '../../../gen/gleaner/options/v1/options_pb.ts';
import { isAddress, itemHint } from '../item-text.ts';
import { problemText, quote } from '../problem-texts.ts';
import { restName } from '../rest-form.ts';
import { isRequired, rulesOf } from '../rules.ts';
import { suggest } from '../suggest.ts';
import {
  createReadState,
  enumReader,
  formatJson,
  ignoreField,
  isBig,
  isFull,
  NumberLiteral,
  type ReadState,
  type ReadValue,
  readTimestamp,
  refuse,
  refused,
  scalarReader,
} from './values.ts';

/** Assigns a JSON object's members to a message; unknown members are recorded as ignored. */
export type ReadMembers = (
  input: Record<string, unknown>,
  message: Message,
  state: ReadState,
) => void;

interface Member {
  name: string;
  /** Message that has the member. */
  parent: DescMessage;
  required: boolean;
  isText: boolean;
  read: ReadValue;
  assign(message: Message, value: unknown): void;
  /** Sets the declared default. Undefined if there is none. */
  fallback: ((message: Message) => void) | undefined;
}

const compiled = new WeakMap<DescMessage, Member[]>();

/**
 * Returns the reader of JSON values of a message type. Throws an Error for types without a REST
 * form.
 */
export function messageReader(schema: DescMessage): ReadValue {
  if (schema.typeName === 'google.protobuf.Timestamp') return readTimestamp;
  if (schema.typeName.startsWith('google.protobuf.'))
    throw new Error(`${schema.typeName} has no REST form here`);
  let members = compiled.get(schema);
  if (members === undefined) {
    members = [];
    // Registered before its members are, since a type may contain itself.
    compiled.set(schema, members);
    members.push(...schema.fields.map(memberOf));
  }
  const readableMembers = members;
  // As in the query of a submission: a misspelled limit must not be left out.
  const noteUnknown = schema.typeName === SubmitOptionsSchema.typeName ? refuseOption : ignoreField;
  return (value, state) => {
    if (!isMembers(value)) return refuse(state, problemText.notObject(itemHint(schema, value)));
    const message = create(schema);
    readMembers(readableMembers, value, message, state, noteUnknown);
    return message;
  };
}

/** Returns the reader of some fields of a message type, at least one. */
export function membersReader(fields: readonly DescField[]): ReadMembers {
  const members = fields.map(memberOf);
  const noteUnknown = getOption(fields[0]!.parent, refusesMisspelledOption)
    ? refuseMisspelled
    : ignoreField;
  return (input, message, state) => readMembers(members, input, message, state, noteUnknown);
}

/** Returns the reader of a field's JSON value. */
export function fieldReader(field: DescField): ReadValue {
  switch (field.fieldKind) {
    case 'list':
      return listReader(field);
    case 'map':
      return mapReader(field);
    default:
      return elementReader(field);
  }
}

/** Returns true if a value is a JSON object. */
export function isMembers(value: unknown): value is Record<string, unknown> {
  return (
    typeof value === 'object' &&
    value !== null &&
    !Array.isArray(value) &&
    !(value instanceof NumberLiteral)
  );
}

/** Returns the function that assigns a value to a message's field. */
export function assigner(field: DescField): (message: Message, value: unknown) => void {
  const { localName, oneof } = field;
  if (oneof === undefined) {
    return (message, value) => {
      (message as unknown as Record<string, unknown>)[localName] = value;
    };
  }
  return (message, value) => {
    (message as unknown as Record<string, unknown>)[oneof.localName] = { case: localName, value };
  };
}

/**
 * Returns the function that assigns a field's declared default, or undefined if there is none.
 * Throws an Error for an invalid one.
 */
export function fallbackOf(field: DescField): ((message: Message) => void) | undefined {
  const text = getOption(field, defaultOption);
  if (text === '') return undefined;
  const read = fieldReader(field);
  const assign = assigner(field);
  const state = createReadState();
  if (read(JSON.parse(text), state) === refused)
    throw new Error(`${field}: default_json ${text}: ${state.problems[0]?.msg}`);
  return (message) => assign(message, read(JSON.parse(text), createReadState()));
}

function readMembers(
  members: readonly Member[],
  input: Record<string, unknown>,
  message: Message,
  state: ReadState,
  noteUnknown: NoteUnknown,
): void {
  let declaredCount = 0;
  for (const member of members) {
    const value = input[member.name];
    if (value !== undefined) declaredCount += 1;
    if (value === undefined || (value === null && !member.required))
      readAbsent(member, input, message, state);
    else readPresent(member, value, message, state);
  }
  // Counted first, since this runs for every item of a large request and unknown members are rare.
  let count = 0;
  for (const _ in input) count += 1;
  if (count <= declaredCount) return;
  const names = new Set(members.map(({ name }) => name));
  for (const name of Object.keys(input))
    if (!names.has(name)) noteUnknown(state, name, names, input);
}

/** Records a member of an object that is not one of the names of the message. */
type NoteUnknown = (
  state: ReadState,
  name: string,
  names: ReadonlySet<string>,
  input: Readonly<Record<string, unknown>>,
) => void;

const refuseOption: NoteUnknown = (state, name, names) => {
  state.path.push(name);
  refuse(state, problemText.unknown('The option', name, [...names]));
  state.path.pop();
};

/** Refuses a name that is close to that of an absent member, and ignores others. */
const refuseMisspelled: NoteUnknown = (state, name, names, input) => {
  const absentNames = [...names].filter((candidate) => input[candidate] === undefined);
  if (suggest(name, absentNames) === undefined) return ignoreField(state, name);
  state.path.push(name);
  refuse(state, problemText.unknown('The field', name, absentNames));
  state.path.pop();
};

function readAbsent(
  member: Member,
  input: Readonly<Record<string, unknown>>,
  message: Message,
  state: ReadState,
): void {
  if (!member.required) {
    member.fallback?.(message);
    return;
  }
  state.path.push(member.name);
  refuse(state, problemText.missing(missingHint(member, input)));
  state.path.pop();
}

/**
 * Returns what to send for a missing member, by an unknown one that is spelled alike or that is the
 * address of an item. Empty if there is neither.
 */
function missingHint({ name, parent }: Member, input: Readonly<Record<string, unknown>>): string {
  const names = new Set(parent.fields.map(restName));
  const unknownNames = Object.keys(input)
    .slice(0, maxHintNames)
    .filter((candidate) => !names.has(candidate));
  const alike = suggest(name, unknownNames);
  if (alike !== undefined) return `. Send ${quote(name)} in place of ${quote(alike)}`;
  const values = unknownNames.map((other) => input[other]);
  const address = values.find((value) => typeof value === 'string' && isAddress(value));
  return itemHint(parent, address);
}

/** Members that missingHint() compares, since callers can send any number. */
const maxHintNames = 20;

function readPresent(member: Member, value: unknown, message: Message, state: ReadState): void {
  state.path.push(member.name);
  const result = member.read(value, state);
  state.path.pop();
  if (result !== refused) member.assign(message, result);
  // Without it, rules could report other fields as missing although they have a value.
  else if (member.isText) member.assign(message, '');
}

function memberOf(field: DescField): Member {
  const name = restName(field);
  if (name in Object.prototype) throw new Error(`${field}: ${name} cannot be a name in JSON`);
  return {
    name,
    parent: field.parent,
    required: isRequired(field),
    isText: field.fieldKind === 'scalar' && field.scalar === ScalarType.STRING,
    read: fieldReader(field),
    assign: assigner(field),
    fallback: fallbackOf(field),
  };
}

/** Returns the reader of a singular field, or of one element of a list or map. */
function elementReader(field: DescField): ReadValue {
  if (field.message !== undefined) return messageReader(field.message);
  if (field.enum !== undefined) return enumReader(field.enum);
  if (getOption(field, jsonOption)) return readJsonText;
  const read = scalarReader(field.scalar ?? ScalarType.STRING, getOption(field, identifierOption));
  // A required string without presence must not be empty: a message cannot distinguish it from an
  // absent one.
  const nonEmpty =
    field.fieldKind === 'scalar' && field.scalar === ScalarType.STRING && rulesOf(field).required;
  if (!nonEmpty || field.proto.proto3Optional) return read;
  const { type } = rulesOf(field);
  const allowed = type.case === 'string' ? type.value.in : [];
  const empty = allowed.length > 0 ? problemText.notOneOf(allowed, '') : problemText.tooShort(1);
  return (value, state) => (value === '' ? refuse(state, empty) : read(value, state));
}

const readJsonText: ReadValue = (value, state) => {
  if (!isMembers(value)) return refuse(state, problemText.notObject());
  // The text is read as a request later, where 1.0 and 1 differ.
  state.numericIdentifiers = true;
  return formatJson(value);
};

function listReader(field: DescField): ReadValue {
  const rules = rulesOf(field);
  const limits = rules.type.case === 'repeated' ? rules.type.value : undefined;
  const minItems = Math.max(Number(limits?.minItems ?? 0n), rules.required ? 1 : 0);
  const maxItems = Number(limits?.maxItems ?? 0n) || Number.POSITIVE_INFINITY;
  const element = elementReader(field);
  // An invalid object keeps its place, so that the problems of other elements have the right index.
  const placeholder = field.message === undefined ? undefined : () => create(field.message!);
  return (value, state) => {
    if (!Array.isArray(value))
      return refuse(state, { type: 'list_type', msg: 'Input should be a valid list' });
    if (value.length < minItems) return refuse(state, problemText.tooFew(minItems, value.length));
    // A list that is too long is not read: a request must not cost more than the contract allows.
    if (value.length > maxItems) return refuse(state, problemText.tooMany(maxItems, value.length));
    const { path } = state;
    const list: unknown[] = new Array(value.length);
    const depth = path.push(0) - 1;
    for (let index = 0; index < value.length; index += 1) {
      path[depth] = index;
      const read = element(value[index], state);
      list[index] = read === refused ? (placeholder?.() ?? zero(field)) : read;
      if (isFull(state)) {
        list.length = index + 1;
        break;
      }
    }
    path.pop();
    return list;
  };
}

function mapReader(field: DescField & { fieldKind: 'map' }): ReadValue {
  if (field.mapKey !== ScalarType.STRING)
    throw new Error(`${field}: only maps with string keys have a REST form`);
  const element = elementReader(field);
  return (value, state) => {
    if (!isMembers(value))
      return refuse(state, { type: 'dict_type', msg: 'Input should be a valid dictionary' });
    const entries: Record<string, unknown> = {};
    for (const [key, member] of Object.entries(value)) {
      state.path.push(key);
      const read = element(member, state);
      state.path.pop();
      // Defined, not assigned: `__proto__` is a key like any other.
      if (read !== refused)
        Object.defineProperty(entries, key, {
          value: read,
          enumerable: true,
          writable: true,
          configurable: true,
        });
      if (isFull(state)) break;
    }
    return entries;
  };
}

function zero(field: DescField): unknown {
  if (field.enum !== undefined) return 0;
  switch (field.scalar) {
    case ScalarType.STRING:
      return '';
    case ScalarType.BOOL:
      return false;
    case ScalarType.BYTES:
      return new Uint8Array();
    default:
      return field.scalar !== undefined && isBig(field.scalar) ? 0n : 0;
  }
}
