import { type DescField, type DescMessage, getOption, ScalarType } from '@bufbuild/protobuf';
import {
  default_json as defaultOption,
  example_json as exampleOption,
  json as jsonOption,
  nullable as nullableOption,
  json_shape as shapeOption,
  values as valuesOption,
} from '../../gen/gleaner/options/v1/options_pb.ts';
import { isBig } from '../../src/contract/json/scalars.ts';
import { restName } from '../../src/contract/rest-form.ts';
import { boundOf, isRequired, rulesOf } from '../../src/contract/rules.ts';
import { isWholeBody } from '../../src/contract/whole-body.ts';
import { type Direction, findMessage } from './names.ts';
import { type BodyForm, isAlwaysPresent } from './schemas.ts';

/** Returns the example of a field; undefined to derive one from its type and rules. */
export type ExampleOf = (field: DescField) => unknown;

/** Creates examples of bodies. */
export interface ExampleGenerator {
  /** Returns an example of a message: its required fields, and the optional ones that have an example. */
  message(schema: DescMessage, direction: Direction): unknown;
  /** Returns an example of an object with some fields of a message. */
  object(fields: readonly DescField[], direction: Direction): Record<string, unknown>;
  /** Returns an example of one field's value. */
  field(field: DescField, direction: Direction): unknown;
}

const uuid = '3f2b8c1e-5d47-4c0a-9e61-7a2d9b4f0c58';
const time = '2030-01-07T04:00:00Z';

/** Creates an example generator. The examples of `example_json` take precedence over those of `fallback`. */
export function createExampleGenerator(
  fallback: ExampleOf = () => undefined,
  form: BodyForm = 'rest',
): ExampleGenerator {
  const isRest = form === 'rest';
  const exampleOf: ExampleOf = (known) => {
    const declared = getOption(known, exampleOption);
    return declared === '' ? fallback(known) : JSON.parse(declared);
  };
  // Types whose example is being created: a type that contains itself has one level of examples.
  const open = new Set<DescMessage>();
  const message = (schema: DescMessage, direction: Direction): unknown => {
    if (schema.typeName === 'google.protobuf.Timestamp') return time;
    open.add(schema);
    const example = object(schema.fields, direction);
    open.delete(schema);
    return example;
  };
  const isOpen = ({ message: type }: DescField) => type !== undefined && open.has(type);
  const object = (fields: readonly DescField[], direction: Direction) => {
    const isShown = (known: DescField) =>
      !isWholeBody(known) &&
      (exampleOf(known) !== undefined ||
        (direction === 'request' ? isRequired(known) : isAlwaysPresent(known) || isObject(known)));
    const shown = fields.filter((known) => isShown(known) && !(isObject(known) && isOpen(known)));
    return Object.fromEntries(
      shown.map((known) => [isRest ? restName(known) : known.jsonName, field(known, direction)]),
    );
  };
  const field = (known: DescField, direction: Direction): unknown => {
    const value = restField(known, direction);
    // Protobuf JSON has 64-bit integers, and JSON text, as strings.
    if (isRest || known.fieldKind === 'message') return value;
    if (getOption(known, jsonOption)) return JSON.stringify(value);
    return isBig(known.scalar ?? ScalarType.STRING) && typeof value === 'number' ? String(value) : value;
  };
  const restField = (known: DescField, direction: Direction): unknown => {
    const own = exampleOf(known);
    if (own !== undefined) return own;
    if (direction === 'response' && isRest && getOption(known, nullableOption)) return null;
    if (known.fieldKind === 'list') return isOpen(known) ? [] : [element(known, direction)];
    if (known.fieldKind === 'map') return { key: element(known, direction) };
    return element(known, direction);
  };
  const element = (known: DescField, direction: Direction): unknown => {
    if (known.message !== undefined) return message(known.message, direction);
    if (known.enum !== undefined) return known.enum.values[0]!.name;
    if (getOption(known, jsonOption)) return jsonExample(known);
    return scalarExample(known);
  };
  const jsonExample = (known: DescField): unknown => {
    const { type, list } = getOption(known, shapeOption);
    const value = type === '' ? {} : message(findMessage(known.parent.file, type), 'response');
    return list ? [value] : value;
  };
  return { message, object, field };
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
