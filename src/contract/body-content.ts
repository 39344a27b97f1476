import { type DescField, type DescMessage, ScalarType } from '@bufbuild/protobuf';
import { Fault } from './fault.ts';

/**
 * Maximum number of objects and arrays in a JSON body, and in a binary one of values that add to
 * the message.
 */
const maxMessages = 120_000;

/**
 * Maximum number of braces, brackets, colons and commas in a JSON body, and of single values in a
 * binary one.
 */
const maxTokens = 1_200_000;

/**
 * Throws `too_large` for a JSON body with more values than any valid request has. Called before the
 * body is parsed: 16 MB of `{},` take seconds and hundreds of megabytes to parse. 50,000 items of
 * eight fields are accepted.
 */
export function checkJsonSize(body: Uint8Array): void {
  let opening = 0;
  let separators = 0;
  for (let at = 0; at < body.length; at += 1) {
    const byte = body[at];
    if (byte === 0x7b || byte === 0x5b) opening += 1;
    else if (byte === 0x2c || byte === 0x3a) separators += 1;
  }
  if (opening > maxMessages || opening + separators > maxTokens) throw tooMany();
}

/** Maximum levels of nested messages, as of the parser. */
const maxDepth = 100;

/** Bytes of values of a fixed length, by wire type. */
const fixedBytes: Readonly<Record<number, number>> = { 1: 8, 5: 4 };

/**
 * Checks like checkJsonSize(), for a binary message of a type: counts its fields, the fields of
 * nested messages, and the elements of packed lists. Fields with a single value have a separate
 * limit, since a repetition replaces the value. Throws `malformed` for input that no encoder
 * writes: a group, a varint of more than 10 bytes, or a field that ends after its message.
 */
export function checkBinarySize(body: Uint8Array, type: DescMessage): void {
  new BinarySizeCheck(body).message(parseFields(type), body.length, 1);
}

/** Position in a binary message, and the values counted before it. */
class BinarySizeCheck {
  readonly #body: Uint8Array;
  #at = 0;
  #values = 0;
  #singles = 0;

  constructor(body: Uint8Array) {
    this.#body = body;
  }

  /** Counts the fields of a message that ends before `end`. */
  message(fields: Fields, end: number, depth: number): void {
    if (depth > maxDepth) throw notProtobuf(`it has more than ${maxDepth} levels`);
    while (this.#at < end) {
      const tag = this.#varint(end);
      const content = fields.get(Math.floor(tag / 8));
      this.#count(content === 'single');
      this.#field(tag % 8, content, end, depth);
    }
  }

  #field(wireType: number, content: Content | undefined, end: number, depth: number): void {
    if (wireType === 0) {
      this.#varint(end);
      return;
    }
    const bytes = wireType === 2 ? this.#varint(end) : fixedBytes[wireType];
    if (bytes === undefined) throw notProtobuf(`wire type ${wireType} is not supported`);
    if (bytes > end - this.#at) throw notProtobuf('a field ends after its message');
    const last = this.#at + bytes;
    if (wireType === 2 && typeof content === 'function') this.message(content(), last, depth + 1);
    else if (wireType === 2 && content === 'packed') this.#elements(last);
    this.#at = last;
  }

  /** Counts the elements of a packed list. */
  #elements(end: number): void {
    // Each varint ends with a byte below 128; elements of a fixed length count per byte.
    for (let at = this.#at; at < end; at += 1) if (this.#body[at]! < 0x80) this.#count(false);
  }

  #varint(end: number): number {
    let value = 0;
    for (let shift = 0; shift < 70; shift += 7) {
      if (this.#at >= end) throw notProtobuf('a field ends after its message');
      const byte = this.#body[this.#at++]!;
      value += (byte & 0x7f) * 2 ** shift;
      if (byte < 0x80) return value;
    }
    throw notProtobuf('a varint has more than 10 bytes');
  }

  #count(isSingle: boolean): void {
    if (isSingle) this.#singles += 1;
    else this.#values += 1;
    if (this.#values > maxMessages || this.#singles > maxTokens) throw tooMany();
  }
}

/**
 * Contents of a field: a single value, the elements of a packed list, or a message with the
 * returned fields.
 */
type Content = 'single' | 'packed' | (() => Fields);
/** Known fields, by number. */
type Fields = ReadonlyMap<number, Content>;

const knownFields = new WeakMap<DescMessage, Fields>();

function parseFields(type: DescMessage): Fields {
  let fields = knownFields.get(type);
  if (fields === undefined) {
    const contents = type.fields.map((field) => [field.number, contentOf(field)] as const);
    fields = new Map(contents.filter((entry): entry is [number, Content] => entry[1] !== null));
    knownFields.set(type, fields);
  }
  return fields;
}

/** Returns the contents of a field, or null for an element of a list of strings or bytes. */
function contentOf(field: DescField): Content | null {
  const { message } = field;
  if (field.fieldKind === 'map') {
    // An entry is a message with a key and a value.
    const entry: Fields = message ? new Map([[2, () => parseFields(message)]]) : new Map();
    return () => entry;
  }
  if (message) return () => parseFields(message);
  if (field.fieldKind !== 'list') return 'single';
  if (field.scalar === ScalarType.STRING || field.scalar === ScalarType.BYTES) return null;
  return 'packed';
}

function notProtobuf(reason: string): Fault {
  return new Fault('malformed', `The body is not a valid Protobuf message: ${reason}.`);
}

function tooMany(): Fault {
  return new Fault('too_large', 'The body has more values than a request can have.');
}

/** Returns the fault for a body of more than `limit` bytes. */
export function bodyTooLarge(limit: number): Fault {
  return new Fault('too_large', `The body is larger than ${limit} bytes`);
}
