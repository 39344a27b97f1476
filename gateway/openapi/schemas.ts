import {
  type DescField,
  type DescMessage,
  getOption,
  hasOption,
  ScalarType,
} from '@bufbuild/protobuf';
import {
  default_json as defaultOption,
  identifier as identifierOption,
  identity as identityOption,
  json as jsonOption,
  nullable as nullableOption,
  json_shape as shapeOption,
  values as valuesOption,
} from '../../gen/gleaner/options/v1/options_pb.ts';
import type { FieldRules, StringRules } from '../../gen/gleaner/validate/rules_pb.ts';
import { isWholeBody } from '../../src/contract/json/message-writer.ts';
import { integerBounds, isBig } from '../../src/contract/json/values.ts';
import { restName } from '../../src/contract/rest-form.ts';
import { isRequired, rulesOf } from '../../src/contract/rules.ts';
import { type Direction, findMessage, type NameSchema } from './names.ts';
import { wellKnownSchemas } from './well-known.ts';

/** JSON Schema of OpenAPI 3.1. */
export type Schema = Record<string, unknown>;

/** Creates JSON Schemas of messages, and collects the schemas that they reference. */
export interface SchemaGenerator {
  request(schema: DescMessage): Schema;
  /** Returns a reference to the response schema of a message type. */
  response(schema: DescMessage): Schema;
  requestField(field: DescField): Schema;
  responseField(field: DescField): Schema;
  /** Returns the schema of a request object that has these fields only. */
  requestObject(fields: readonly DescField[]): Schema;
  /** Returns the referenced schemas by component name. */
  components(): Record<string, Schema>;
}

/** Form of bodies: REST, or Connect, which uses ProtoJSON. */
export type BodyForm = 'rest' | 'connect';

/** Creates an empty schema book. `describe` returns the doc comment of a full name. */
export function createSchemaGenerator(
  describe: (name: string) => string | undefined,
  nameOf: NameSchema,
  form: BodyForm = 'rest',
): SchemaGenerator {
  const isRest = form === 'rest';
  const memberName = (field: DescField) => (isRest ? restName(field) : field.jsonName);
  const books = {
    request: new Map<DescMessage, Schema>(),
    response: new Map<DescMessage, Schema>(),
  };

  const reference = (message: DescMessage, direction: Direction): Schema => {
    if (message.typeName === 'google.protobuf.Timestamp')
      return { type: 'string', format: 'date-time' };
    if (!isRest && Object.hasOwn(wellKnownSchemas, message.typeName))
      return wellKnownSchemas[message.typeName]!;
    const book = books[direction];
    if (!book.has(message)) {
      const schema: Schema = {};
      // Registered before it has members, since a type may contain itself.
      book.set(message, schema);
      Object.assign(schema, described(describe(message.typeName)));
      Object.assign(schema, object(message.fields, direction));
    }
    return { $ref: `#/components/schemas/${nameOf(message, direction)}` };
  };
  const object = (all: readonly DescField[], direction: Direction): Schema => {
    const properties: Record<string, Schema> = {};
    const required: string[] = [];
    for (const field of all) {
      if (isRest && isWholeBody(field)) continue;
      properties[memberName(field)] = member(field, direction);
      if (isRequiredIn(direction, field)) required.push(memberName(field));
    }
    const schema: Schema = { type: 'object', properties };
    if (required.length > 0) schema.required = required;
    return schema;
  };
  const isRequiredIn = (direction: Direction, field: DescField): boolean => {
    if (direction === 'request') return isRequired(field);
    // ProtoJSON omits default values.
    if (!isRest) return false;
    return isAlwaysPresent(field);
  };
  const isNullableIn = (direction: Direction, field: DescField): boolean => {
    if (!isRest) return false;
    if (direction === 'request') return !isRequired(field);
    return getOption(field, nullableOption);
  };
  const member = (field: DescField, direction: Direction): Schema => {
    const schema = declared(field, direction);
    const nullable = isNullableIn(direction, field) ? orNull(schema) : schema;
    return { ...nullable, ...described(describe(fullName(field))) };
  };
  const declared = (field: DescField, direction: Direction): Schema => {
    const schema = { ...shapeOf(field, direction) };
    const defaultJson = getOption(field, defaultOption);
    if (direction === 'request' && defaultJson !== '') schema.default = JSON.parse(defaultJson);
    return schema;
  };
  const shapeOf = (field: DescField, direction: Direction): Schema => {
    const element = elementOf(field, direction);
    if (field.fieldKind === 'map') return { type: 'object', additionalProperties: element };
    if (field.fieldKind !== 'list') return element;
    const list: Schema = { type: 'array', items: element };
    return direction === 'request' ? { ...list, ...lengthBounds(field) } : list;
  };
  const elementOf = (field: DescField, direction: Direction): Schema => {
    if (field.message !== undefined) return reference(field.message, direction);
    if (field.enum !== undefined)
      return { type: 'string', enum: field.enum.values.map((value) => value.name) };
    if (isRest && getOption(field, jsonOption)) return jsonSchema(field);
    const schema = scalarSchema(field, direction);
    if (isRest || field.scalar === undefined || !isBig(field.scalar)) return schema;
    return { type: 'string', format: schema.format ?? 'uint64' };
  };
  const jsonSchema = (field: DescField): Schema => {
    if (!hasOption(field, shapeOption)) return {};
    const { type, list } = getOption(field, shapeOption);
    let schema: Schema = { type: 'object' };
    if (type !== '') schema = reference(findMessage(field.parent.file, type), 'response');
    return list ? { type: 'array', items: schema } : schema;
  };

  return {
    request: (schema) => reference(schema, 'request'),
    response: (schema) => reference(schema, 'response'),
    requestField: (field) => ({
      ...declared(field, 'request'),
      ...described(describe(fullName(field))),
    }),
    responseField: (field) => member(field, 'response'),
    requestObject: (fields) => object(fields, 'request'),
    components: () => {
      const schemas: Record<string, Schema> = {};
      for (const direction of ['request', 'response'] as const)
        for (const [message, schema] of books[direction])
          schemas[nameOf(message, direction)] = schema;
      return schemas;
    },
  };
}

/** Returns the full name of a field, the key of its comment. */
function fullName(field: DescField): string {
  return `${field.parent.typeName}.${field.name}`;
}

function described(text: string | undefined): Schema {
  return text === undefined ? {} : { description: text };
}

/** Returns true if every response has the field: fields without presence, and nullable ones. */
export function isAlwaysPresent(field: DescField): boolean {
  if (getOption(field, nullableOption)) return true;
  return field.oneof === undefined && !field.proto.proto3Optional && field.fieldKind !== 'message';
}

function orNull(schema: Schema): Schema {
  if (schema.$ref !== undefined) return { anyOf: [schema, { type: 'null' }] };
  if (schema.type === undefined) return schema;
  const nullable: Schema = { ...schema, type: [schema.type, 'null'].flat() };
  if (Array.isArray(schema.enum)) nullable.enum = [...schema.enum, null];
  return nullable;
}

/** Returns the bounds of the length of a list in requests. */
function lengthBounds(field: DescField): Schema {
  const { type, required } = rulesOf(field);
  const limits = type.case === 'repeated' ? type.value : undefined;
  const minItems = Math.max(Number(limits?.minItems ?? 0n), required ? 1 : 0);
  const bounds: Schema = {};
  if (minItems > 0) bounds.minItems = minItems;
  if (limits?.maxItems) bounds.maxItems = Number(limits.maxItems);
  return bounds;
}

function scalarSchema(field: DescField, direction: Direction): Schema {
  const scalar = field.scalar ?? ScalarType.STRING;
  const rules = direction === 'request' ? ruleSchema(field) : {};
  if (integerBounds(scalar) !== undefined) return { ...integerSchema(scalar, direction), ...rules };
  switch (scalar) {
    case ScalarType.BOOL:
      return { type: 'boolean' };
    case ScalarType.BYTES:
      return { type: 'string', contentEncoding: 'base64', ...rules };
    case ScalarType.STRING:
      // Most integers do not have the length that an identifier may require.
      if (direction === 'request' && getOption(field, identifierOption) && isAnyNumber(rules))
        return { type: ['string', 'integer'], ...rules, ...safeIntegers(rules) };
      return { type: 'string', ...rules, ...valuesOf(field, direction) };
    default:
      return { type: 'number', format: 'double' };
  }
}

function integerSchema(scalar: ScalarType, direction: Direction): Schema {
  const [minimum, maximum] = integerBounds(scalar)!;
  const isSigned = minimum < 0;
  const schema: Schema = { type: 'integer' };
  if (isSigned) schema.format = isBig(scalar) ? 'int64' : 'int32';
  // The bounds of int32 follow from its format. JSON readers compare 64-bit integers as doubles.
  if (direction === 'request' && (!isSigned || isBig(scalar)))
    Object.assign(schema, { minimum, maximum });
  return schema;
}

/**
 * Returns the bounds of integers that are accepted for an identifier: not below 0 if its pattern
 * refuses the minus sign.
 */
const safeIntegers = ({ pattern = '' }: Schema): Schema => ({
  minimum: new RegExp(`${pattern}`).test('-1') ? Number.MIN_SAFE_INTEGER : 0,
  maximum: Number.MAX_SAFE_INTEGER,
});

/** Returns true if the digits of any number follow the rules of a text. */
const isAnyNumber = ({ pattern = '' }: Schema) =>
  ['0', '9'.repeat(16)].every((text) => new RegExp(`${pattern}`).test(text));

/** Returns the values of a response's field that the contract lists. */
function valuesOf(field: DescField, direction: Direction): Schema {
  const values = getOption(field, valuesOption);
  return direction === 'response' && values.length > 0 ? { enum: values } : {};
}

const uuidPattern = '^[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}$';

/** Returns the validation rules of a field, or of its elements, as JSON Schema keywords. */
function ruleSchema(field: DescField): Schema {
  const { type } = elementRules(field);
  const schema: Schema = {};
  if (type.case === 'string') addStringRules(schema, type.value);
  else if (type.case === 'int32' || type.case === 'int64') {
    const { gte, lte } = type.value;
    if (Object.hasOwn(type.value, 'gte')) schema.minimum = Number(gte);
    if (Object.hasOwn(type.value, 'lte')) schema.maximum = Number(lte);
  }
  if (!rulesOf(field).required || !isImplicitString(field)) return schema;
  schema.minLength ??= 1;
  // Texts that identify a unit are refused if they are blank.
  if (schema.enum === undefined && getOption(field, identityOption) !== '')
    schema.pattern ??= '\\S';
  return schema;
}

/** Returns the rules of a field, or of the elements of a list. */
function elementRules(field: DescField): FieldRules {
  const rules = rulesOf(field);
  if (field.fieldKind !== 'list' || rules.type.case !== 'repeated') return rules;
  return rules.type.value.items ?? rules;
}

function addStringRules(schema: Schema, rules: StringRules): void {
  const { minLen, maxLen, pattern, wellKnown } = rules;
  if (minLen > 0n) schema.minLength = Number(minLen);
  if (maxLen > 0n) schema.maxLength = Number(maxLen);
  if (pattern !== '') schema.pattern = pattern;
  // The empty string stands for an absent field.
  const values = rules.in.filter((value) => value !== '');
  if (values.length > 0) schema.enum = values;
  if (wellKnown.value === true) schema.format = wellKnown.case;
  // Most tools do not validate formats.
  if (wellKnown.case === 'uuid' && wellKnown.value) schema.pattern = uuidPattern;
}

/** Returns true for a string without presence, whose empty value means that it is absent. */
function isImplicitString(field: DescField): boolean {
  return (
    field.fieldKind === 'scalar' &&
    field.scalar === ScalarType.STRING &&
    !field.proto.proto3Optional
  );
}
