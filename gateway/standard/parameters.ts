import { type DescField, type DescMessage, type JsonValue, ScalarType } from '@bufbuild/protobuf';
import { quote } from '../../src/contract/problem-texts.ts';

/** Leaf field that a path variable or query parameter sets, with the fields on the way to it. */
export interface Parameter {
  steps: readonly DescField[];
  leaf: DescField;
  /** Returns the value as ProtoJSON. Throws an Error with the reason for an invalid text. */
  read(text: string): JsonValue;
}

/** Maximum number of fields in the name of a parameter. */
const maxSteps = 32;

/**
 * Returns the parameter that a dotted name stands for; each step is a proto or JSON name. Returns the reason,
 * as a text, for a name that stands for none.
 */
export function findParameter(schema: DescMessage, name: string): Parameter | string {
  const names = name.split('.');
  if (names.length > maxSteps) return `the name has more than ${maxSteps} fields`;
  const steps: DescField[] = [];
  let parent: DescMessage | undefined = schema;
  for (const [index, step] of names.entries()) {
    const field: DescField | undefined = parent?.fields.find(
      (known) => known.name === step || known.jsonName === step,
    );
    if (field === undefined) return `no field ${quote(step)} in ${parent?.typeName ?? names[index - 1]}`;
    steps.push(field);
    parent = field.fieldKind === 'message' && leafReader(field) === undefined ? field.message : undefined;
  }
  const leaf = steps.pop()!;
  const read = leafReader(leaf);
  if (read === undefined) return `${leaf.fieldKind} field ${leaf.name} has no text form`;
  return { steps, leaf, read };
}

/** Returns the proto names of a parameter's fields, separated by dots. */
export function nameOf({ steps, leaf }: Parameter): string {
  return [...steps, leaf].map(({ name }) => name).join('.');
}

/** Returns the ProtoJSON of a message with only this parameter set. */
export function nested({ steps, leaf }: Parameter, value: JsonValue): JsonValue {
  let json: JsonValue = { [leaf.jsonName]: value };
  for (const step of steps.toReversed()) json = { [step.jsonName]: json };
  return json;
}

type Read = Parameter['read'];

/** Returns the reader of a field, or of its elements, or undefined for a field without a text form. */
function leafReader(field: DescField): Read | undefined {
  if (field.fieldKind === 'map') return undefined;
  if (field.scalar !== undefined) return scalarReader(field.scalar);
  if (field.enum !== undefined) return field.enum.typeName === nullType ? readNull : readEnum;
  return wellKnown(field.message!);
}

const nullType = 'google.protobuf.NullValue';
const readNull: Read = (text) => (text === 'null' ? null : readEnum(text));
const readEnum: Read = (text) => (/^-?\d{1,10}$/.test(text) ? Number(text) : text);
const asText: Read = (text) => text;

const readBool: Read = (text) => {
  if (text !== 'true' && text !== 'false') throw new Error(`expected true or false, not ${quote(text)}`);
  return text === 'true';
};

const decimal = /^-?\d+(\.\d+)?([eE][+-]?\d+)?$/;

const readInteger: Read = (text) => {
  if (!decimal.test(text)) throw new Error(`expected an integer, not ${quote(text)}`);
  return text;
};

const readNumber: Read = (text) => {
  if (!decimal.test(text) && !/^(NaN|-?Infinity)$/.test(text))
    throw new Error(`expected a number, not ${quote(text)}`);
  return text;
};

function scalarReader(scalar: ScalarType): Read {
  switch (scalar) {
    case ScalarType.STRING:
    case ScalarType.BYTES:
      return asText;
    case ScalarType.BOOL:
      return readBool;
    case ScalarType.DOUBLE:
    case ScalarType.FLOAT:
      return readNumber;
    default:
      return readInteger;
  }
}

/** FieldMask has lowerCamel paths in ProtoJSON; clients also write proto names in queries. */
const readMask: Read = (text) => text.replace(/_([a-z0-9])/g, (_, letter: string) => letter.toUpperCase());

function readValue(text: string): JsonValue {
  try {
    return JSON.parse(text) as JsonValue;
  } catch {
    return text;
  }
}

function wellKnown({ typeName, fields }: DescMessage): Read | undefined {
  switch (typeName) {
    case 'google.protobuf.Timestamp':
    case 'google.protobuf.Duration':
      return asText;
    case 'google.protobuf.FieldMask':
      return readMask;
    case 'google.protobuf.Value':
      return readValue;
    default:
      return /^google\.protobuf\.(Double|Float|U?Int64|U?Int32|Bool|String|Bytes)Value$/.test(typeName)
        ? scalarReader(fields[0]!.scalar!)
        : undefined;
  }
}
