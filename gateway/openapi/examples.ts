import { type DescField, type DescMessage, getOption, ScalarType } from '@bufbuild/protobuf';
import {
  default_json as defaultOption,
  example_json as exampleOption,
  json as jsonOption,
  nullable as nullableOption,
  json_shape as shapeOption,
  values as valuesOption,
} from '../../gen/gleaner/options/v1/options_pb.ts';
import { isWholeBody } from '../../src/contract/json/message-writer.ts';
import { isBig } from '../../src/contract/json/values.ts';
import { restName } from '../../src/contract/rest-form.ts';
import { boundOf, isRequired, rulesOf } from '../../src/contract/rules.ts';
import { type Direction, findMessage } from './names.ts';
import { type BodyForm, isAlwaysPresent } from './schemas.ts';

/** Returns the example of a field; undefined to derive one from its type and rules. */
export type ExampleOf = (field: DescField) => unknown;

/** Creates examples of bodies. */
export interface ExampleGenerator {
  /**
   * Returns an example of a message: its required fields, and the optional ones that have an
   * example.
   */
  message(schema: DescMessage, direction: Direction): unknown;
  /** Returns an example of an object with some fields of a message. */
  object(fields: readonly DescField[], direction: Direction): Record<string, unknown>;
  /** Returns an example of one field's value. */
  field(field: DescField, direction: Direction): unknown;
}

const uuid = '3f2b8c1e-5d47-4c0a-9e61-7a2d9b4f0c58';
const time = '2030-01-07T04:00:00Z';

/**
 * Creates an example generator. The examples of `example_json` take precedence over those of
 * `fallback`.
 */
export function createExampleGenerator(
  fallback: ExampleOf = () => undefined,
  form: BodyForm = 'rest',
): ExampleGenerator {
  const isRest = form === 'rest';
  const exampleOf: ExampleOf = (field) => {
    const declared = getOption(field, exampleOption);
    return declared === '' ? fallback(field) : JSON.parse(declared);
  };
  // Types whose example is being created. A recursive type has one level of examples.
  const open = new Set<DescMessage>();
  const messageExample = (schema: DescMessage, direction: Direction): unknown => {
    if (schema.typeName === 'google.protobuf.Timestamp') return time;
    open.add(schema);
    const example = objectExample(schema.fields, direction);
    open.delete(schema);
    return example;
  };
  const isOpen = ({ message: type }: DescField) => type !== undefined && open.has(type);
  const objectExample = (fields: readonly DescField[], direction: Direction) => {
    const isExpected = (field: DescField) =>
      direction === 'request' ? isRequired(field) : isAlwaysPresent(field) || isObject(field);
    const included = fields.filter((field) => {
      if (isWholeBody(field) || (isObject(field) && isOpen(field))) return false;
      return exampleOf(field) !== undefined || isExpected(field);
    });
    const nameOf = isRest ? restName : ({ jsonName }: DescField) => jsonName;
    return Object.fromEntries(
      included.map((field) => [nameOf(field), fieldExample(field, direction)]),
    );
  };
  const fieldExample = (field: DescField, direction: Direction): unknown => {
    const value = restExample(field, direction);
    // Protobuf JSON has 64-bit integers, and JSON text, as strings.
    if (isRest || field.fieldKind === 'message') return value;
    if (getOption(field, jsonOption)) return JSON.stringify(value);
    return isBig(field.scalar ?? ScalarType.STRING) && typeof value === 'number'
      ? String(value)
      : value;
  };
  const restExample = (field: DescField, direction: Direction): unknown => {
    const own = exampleOf(field);
    if (own !== undefined) return own;
    if (direction === 'response' && isRest && getOption(field, nullableOption)) return null;
    if (field.fieldKind === 'list') return isOpen(field) ? [] : [elementExample(field, direction)];
    if (field.fieldKind === 'map') return { key: elementExample(field, direction) };
    return elementExample(field, direction);
  };
  const elementExample = (field: DescField, direction: Direction): unknown => {
    if (field.message !== undefined) return messageExample(field.message, direction);
    if (field.enum !== undefined) return field.enum.values[0]!.name;
    if (getOption(field, jsonOption)) return jsonExample(field);
    return scalarExample(field);
  };
  const jsonExample = (field: DescField): unknown => {
    const { type, list } = getOption(field, shapeOption);
    const value =
      type === '' ? {} : messageExample(findMessage(field.parent.file, type), 'response');
    return list ? [value] : value;
  };
  return { message: messageExample, object: objectExample, field: fieldExample };
}

/** Returns true if a field is one object, other than a time. */
function isObject(field: DescField): boolean {
  return field.fieldKind === 'message' && field.message.typeName !== 'google.protobuf.Timestamp';
}

function scalarExample(field: DescField): unknown {
  const fallback = getOption(field, defaultOption);
  if (fallback !== '') return JSON.parse(fallback);
  switch (field.scalar) {
    case ScalarType.BOOL:
      return true;
    case ScalarType.STRING:
      return textExample(field);
    case ScalarType.BYTES:
      return '';
    default:
      return Math.max(1, boundOf(field, 'gte') ?? 1);
  }
}

function textExample(field: DescField): string {
  const { type } = rulesOf(field);
  const [listed] = getOption(field, valuesOption);
  if (listed !== undefined) return listed;
  if (type.case !== 'string') return 'text';
  if (type.value.wellKnown.case === 'uuid') return uuid;
  return type.value.in.find((value) => value !== '') ?? 'text';
}
