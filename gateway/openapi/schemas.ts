import { type DescField, type DescMessage, getOption, ScalarType } from '@bufbuild/protobuf';
import {
  default_json as defaultOption,
  identifier as identifierOption,
  json as jsonOption,
  nullable as nullableOption,
  values as valuesOption,
} from '../../gen/gleaner/options/v1/options_pb.ts';
import { integerBounds, isBig } from '../../src/contract/json/scalars.ts';
import { restName } from '../../src/contract/rest-form.ts';
import { isRequired, rulesOf } from '../../src/contract/rules.ts';

/** A JSON Schema as OpenAPI 3.1 has it. */
export type Schema = Record<string, unknown>;

/** Makes schemas of messages and keeps those that others refer to. */
export interface SchemaBook {
  /** Reference to a message type as requests write it. */
  request(schema: DescMessage): Schema;
  /** Reference to a message type as answers write it. */
  response(schema: DescMessage): Schema;
  /** Schema of one field of a request. */
  requestField(field: DescField): Schema;
  /** Schema of a request's object with some fields only. */
  requestObject(fields: readonly DescField[]): Schema;
  /** Everything referred to so far, by component name. */
  components(): Record<string, Schema>;
}

type Direction = 'request' | 'response';

/** An empty book. `describe` gives the doc comment of a full name. */
export function createSchemaBook(describe: (name: string) => string | undefined): SchemaBook {
  const books = { request: new Map<DescMessage, Schema>(), response: new Map<DescMessage, Schema>() };

  const reference = (schema: DescMessage, direction: Direction): Schema => {
    if (schema.typeName === 'google.protobuf.Timestamp') return { type: 'string', format: 'date-time' };
    const book = books[direction];
    if (!book.has(schema)) {
      const made: Schema = {};
      // Known before it is made, since a type may contain itself.
      book.set(schema, made);
      Object.assign(made, { ...described(describe(schema.typeName)), ...object(schema.fields, direction) });
    }
    return { $ref: `#/components/schemas/${nameOf(schema, direction)}` };
  };
  const object = (fields: readonly DescField[], direction: Direction): Schema => {
    const required = fields.filter((field) =>
      direction === 'request' ? isRequired(field) : isAlwaysThere(field),
    );
    return {
      type: 'object',
      properties: Object.fromEntries(fields.map((field) => [restName(field), member(field, direction)])),
      ...(required.length === 0 ? {} : { required: required.map(restName) }),
    };
  };
  const member = (field: DescField, direction: Direction): Schema => {
    const schema = declared(field, direction);
    const mayBeNull = direction === 'request' ? !isRequired(field) : getOption(field, nullableOption);
    return { ...(mayBeNull ? orNull(schema) : schema), ...described(describe(fullName(field))) };
  };
  const declared = (field: DescField, direction: Direction): Schema => {
    const fallback = getOption(field, defaultOption);
    const asDefault = direction === 'request' && fallback !== '' ? { default: JSON.parse(fallback) } : {};
    return { ...shapeOf(field, direction), ...asDefault };
  };
  const shapeOf = (field: DescField, direction: Direction): Schema => {
    if (field.fieldKind === 'list') {
      const rules = direction === 'request' ? rulesOf(field) : undefined;
      const limits = rules?.type.case === 'repeated' ? rules.type.value : undefined;
      const least = Math.max(Number(limits?.minItems ?? 0n), rules?.required ? 1 : 0);
      return {
        type: 'array',
        items: elementOf(field, direction),
        ...(least > 0 ? { minItems: least } : {}),
        ...(limits?.maxItems ? { maxItems: Number(limits.maxItems) } : {}),
      };
    }
    if (field.fieldKind === 'map')
      return { type: 'object', additionalProperties: elementOf(field, direction) };
    return elementOf(field, direction);
  };
  const elementOf = (field: DescField, direction: Direction): Schema => {
    if (field.message !== undefined) return reference(field.message, direction);
    if (field.enum !== undefined)
      return { type: 'string', enum: field.enum.values.map((value) => value.name) };
    if (direction === 'response' && getOption(field, jsonOption)) return {};
    return scalarSchema(field, direction);
  };
  // A type in both directions has two schemas, since they differ in what is required and what may be null.
  const nameOf = (schema: DescMessage, direction: Direction): string => {
    const name = schema.typeName.replace(/^gleaner\./, '').replace(/\.v\d+\./, '.');
    return direction === 'request' ? `${name}-Input` : name;
  };

  return {
    request: (schema) => reference(schema, 'request'),
    response: (schema) => reference(schema, 'response'),
    requestField: (field) => ({ ...declared(field, 'request'), ...described(describe(fullName(field))) }),
    requestObject: (fields) => object(fields, 'request'),
    components: () =>
      Object.fromEntries(
        (['request', 'response'] as const).flatMap((direction) =>
          Array.from(books[direction], ([schema, made]) => [nameOf(schema, direction), made] as const),
        ),
      ),
  };
}

/** Full name of a field, by which its comment is found. */
export function fullName(field: DescField): string {
  return `${field.parent.typeName}.${field.name}`;
}

function described(text: string | undefined): Schema {
  return text === undefined ? {} : { description: text };
}

/** Answers always have a field that is not optional, and one that is null when it is unset. */
function isAlwaysThere(field: DescField): boolean {
  if (getOption(field, nullableOption)) return true;
  return field.oneof === undefined && !field.proto.proto3Optional && field.fieldKind !== 'message';
}

function orNull(schema: Schema): Schema {
  if (schema.$ref !== undefined) return { anyOf: [schema, { type: 'null' }] };
  if (schema.type === undefined) return schema;
  const allowed = Array.isArray(schema.enum) ? { enum: [...schema.enum, null] } : {};
  return { ...schema, type: [schema.type, 'null'].flat(), ...allowed };
}

function scalarSchema(field: DescField, direction: Direction): Schema {
  const scalar = field.scalar ?? ScalarType.STRING;
  const bounds = integerBounds(scalar);
  const rules = direction === 'request' ? ruleSchema(field) : {};
  if (bounds !== undefined) {
    const [minimum, maximum] = bounds;
    const limits = direction === 'request' ? { minimum, maximum } : {};
    return {
      type: 'integer',
      ...(minimum < 0 ? { format: isBig(scalar) ? 'int64' : 'int32' } : {}),
      ...limits,
      ...rules,
    };
  }
  switch (scalar) {
    case ScalarType.BOOL:
      return { type: 'boolean' };
    case ScalarType.BYTES:
      return { type: 'string', contentEncoding: 'base64', ...rules };
    case ScalarType.STRING:
      if (direction === 'request' && getOption(field, identifierOption))
        return orInteger({ type: 'string', ...rules });
      return { type: 'string', ...rules, ...valuesOf(field, direction) };
    default:
      return { type: 'number' };
  }
}

/** An identifier may be written as a number, too (decisions, "numeric ids"). */
function orInteger(text: Schema): Schema {
  const negative =
    typeof text.pattern === 'string' && !new RegExp(text.pattern, 'u').test('-1') ? { minimum: 0 } : {};
  return { ...text, type: ['string', 'integer'], maximum: Number.MAX_SAFE_INTEGER, ...negative };
}

/** Returns the values of a response's field that the contract lists. */
function valuesOf(field: DescField, direction: Direction): Schema {
  const values = getOption(field, valuesOption);
  return direction === 'response' && values.length > 0 ? { enum: values } : {};
}

const uuidPattern = '^[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}$';

/** The contract's rules on a field, or on its elements, as JSON Schema has them. */
function ruleSchema(field: DescField): Schema {
  const rules = rulesOf(field);
  const { type } =
    field.fieldKind === 'list' && rules.type.case === 'repeated' ? (rules.type.value.items ?? rules) : rules;
  const schema: Schema = {};
  if (type.case === 'string') {
    const { minLen, maxLen, pattern, in: allowed, wellKnown } = type.value;
    if (minLen > 0n) schema.minLength = Number(minLen);
    if (maxLen > 0n) schema.maxLength = Number(maxLen);
    if (pattern !== '') schema.pattern = pattern;
    if (allowed.length > 0) schema.enum = allowed;
    if (wellKnown.value === true) schema.format = wellKnown.case;
    // Formats are notes, not rules, to most readers of the document.
    if (wellKnown.case === 'uuid' && wellKnown.value) schema.pattern = uuidPattern;
  } else if (type.case === 'int32' || type.case === 'int64') {
    const { gte, lte } = type.value;
    if (Object.hasOwn(type.value, 'gte')) schema.minimum = Number(gte);
    if (Object.hasOwn(type.value, 'lte')) schema.maximum = Number(lte);
  }
  if (
    rules.required &&
    field.scalar === ScalarType.STRING &&
    field.fieldKind === 'scalar' &&
    !field.proto.proto3Optional &&
    schema.minLength === undefined
  ) {
    schema.minLength = 1;
  }
  return schema;
}
