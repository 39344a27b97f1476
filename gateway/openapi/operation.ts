import {
  type DescField,
  type DescMessage,
  type DescService,
  getOption,
  ScalarType,
} from '@bufbuild/protobuf';
import { rest as restOption } from '../../gen/gleaner/options/v1/options_pb.ts';
import { wholeBodyField } from '../../src/contract/json/message-writer.ts';
import { requiredScopes } from '../../src/contract/permission.ts';
import { bindingOf, placeOf, restName } from '../../src/contract/rest-form.ts';
import { isRequired } from '../../src/contract/rules.ts';
import { submitOptionFields } from '../../src/contract/submit-options.ts';
import { isStable, type ServedEndpoint } from '../endpoint.ts';
import type { DocumentOptions } from './document-options.ts';
import { errorResponses } from './error-responses.ts';
import type { ExampleGenerator } from './examples.ts';
import {
  createdWaitParameter,
  type documentHeaders,
  ifNoneMatch,
  waitParameter,
} from './headers.ts';
import { documentLinks } from './links.ts';
import { findMessage } from './names.ts';
import type { Schema, SchemaGenerator } from './schemas.ts';

/** Returns the OpenAPI request body of an endpoint whose body has these fields. */
function requestBody(
  { method, body, multipart }: ServedEndpoint,
  fields: readonly DescField[],
  { book, examples }: { book: SchemaGenerator; examples: ExampleGenerator },
): Schema {
  if (multipart) {
    const schema = formSchema(fields, book);
    const example = examples.object(fields, 'request');
    return { required: true, content: { 'multipart/form-data': { schema, example } } };
  }
  if (body !== '*') {
    const [field] = fields as [DescField];
    const schema = book.requestField(field);
    const example = examples.field(field, 'request');
    return { required: true, content: { 'application/json': { schema, example } } };
  }
  const isWholeRequest = fields.length === method.input.fields.length;
  const schema = isWholeRequest ? book.request(method.input) : book.requestObject(fields);
  const example = examples.object(fields, 'request');
  const required = book.requestObject(fields).required !== undefined;
  return { required, content: { 'application/json': { schema, example } } };
}

/** Returns the schema of a form. Fields of bytes are files. */
function formSchema(fields: readonly DescField[], book: SchemaGenerator): Schema {
  const properties: Record<string, Schema> = {};
  for (const field of fields) {
    const { description, contentEncoding, ...property } = book.requestField(field);
    if (contentEncoding !== undefined) property.format = 'binary';
    if (description !== undefined) property.description = description;
    properties[restName(field)] = property;
  }
  const schema: Schema = { type: 'object', properties };
  const { required } = book.requestObject(fields);
  if (required !== undefined) schema.required = required;
  return schema;
}

/** Shared state of the operations of one document. */
export interface OperationContext extends DocumentOptions {
  book: SchemaGenerator;
  examples: ExampleGenerator;
  headers: ReturnType<typeof documentHeaders>;
  tagOf: (service: DescService) => string;
  describe: (name: string) => string | undefined;
}

/** Fields of a request by their place. */
type Places = Record<'path' | 'query' | 'body', DescField[]>;

/** Returns the OpenAPI operation of an endpoint. */
export function documentOperation(endpoint: ServedEndpoint, context: OperationContext): Schema {
  const { describe, operationIdOf = defaultId } = context;
  const { method } = endpoint;
  const places = placesOf(endpoint);
  if (endpoint.exported) places.query.push(...placesOf(endpoint.exported).query);
  const parameters = parametersOf(endpoint, places, context);
  const scopes = requiredScopes(method);
  const text = describe(`${method.parent.typeName}.${method.name}`) ?? method.name;
  const hasInput = parameters.length + places.body.length > 0;
  const operation: Schema = {
    operationId: operationIdOf(endpoint),
    tags: [context.tagOf(method.parent)],
    summary: context.titleOf?.(method) ?? firstSentence(text),
    description: [text, ...notesOf(endpoint, places, context)].join('\n\n'),
  };
  if (scopes !== null) operation['x-required-scopes'] = scopes;
  operation.parameters = parameters;
  if (hasTag(endpoint, context.isVolatile)) parameters.push(ifNoneMatch);
  if (places.body.length > 0) operation.requestBody = requestBody(endpoint, places.body, context);
  operation.responses = {
    ...responses(endpoint, places, context),
    ...errorResponses(errorStatuses(endpoint, places, hasInput)),
  };
  if (context.codeSamplesOf) operation['x-codeSamples'] = context.codeSamplesOf(endpoint);
  return operation;
}

const firstSentence = (text: string) => text.split(/(?<=\.)\s/)[0];

/** Returns the parameters of an operation in the order of the document. */
function parametersOf(
  endpoint: ServedEndpoint,
  { path, query }: Places,
  context: OperationContext,
): Schema[] {
  const parameters: Schema[] = [];
  for (const field of path)
    parameters.push({ ...parameter(field, 'path', context), required: true });
  for (const field of query) {
    const queryParameter = parameter(field, 'query', context);
    const isNeeded = isRequired(field) || endpoint.requiredParameters.includes(field.name);
    if (isNeeded) queryParameter.required = true;
    parameters.push(queryParameter);
  }
  if (endpoint.takesOptions)
    parameters.push(...submitOptionFields.map((field) => parameter(field, 'query', context)));
  if (endpoint.waits) parameters.push(endpoint.isSubmit ? createdWaitParameter : waitParameter);
  if (context.isLocated(endpoint) || endpoint.isRepeatable) parameters.push(idempotencyKey);
  return parameters;
}

/** Statuses of errors that every operation may have. */
const commonErrors = [400, 401, 403, 429, 500, 502, 503];

/** Returns the statuses of an operation's errors. */
function errorStatuses(
  { verb, errors }: ServedEndpoint,
  { path, query, body }: Places,
  hasInput: boolean,
): number[] {
  const statuses = [...commonErrors, ...errors];
  if (path.length > 0) statuses.push(404);
  if (body.length > 0) statuses.push(413, 415);
  if (query.some(({ fieldKind }) => fieldKind === 'list')) statuses.push(431);
  if (hasInput) statuses.push(422);
  if (verb !== 'GET') statuses.push(409);
  return statuses;
}

/** Returns the messages of an endpoint's streamed bodies. */
export function contentMessages({ method }: ServedEndpoint): DescMessage[] {
  return getOption(method, restOption)
    .contents.filter(({ message }) => message !== '')
    .map(({ message }) => findMessage(method.parent.file, message));
}

/** Returns the name of a method with a small first letter. */
function defaultId({ method }: ServedEndpoint): string {
  const [first = '', ...rest] = method.name;
  return first.toLowerCase() + rest.join('');
}

function placesOf({ method }: ServedEndpoint): Places {
  const binding = bindingOf(method);
  const fieldsIn = (source: keyof Places) =>
    method.input.fields.filter((field) => placeOf(binding, field)[0] === source);
  return {
    path: fieldsIn('path'),
    query: fieldsIn('query').filter(isPlain),
    body: fieldsIn('body'),
  };
}

/** Returns paragraphs that follow the description of an operation. */
function notesOf(endpoint: ServedEndpoint, { body }: Places, context: OperationContext): string[] {
  const scopes = requiredScopes(endpoint.method) ?? [];
  const notes: string[] = [];
  if (scopes.length > 0) {
    const scopeNames = scopes.map((scope) => `\`${scope}\``);
    notes.push(`Needs a key with ${scopeNames.join(' and ')}.`);
  }
  if (context.notesOf) notes.push(...context.notesOf(endpoint));
  if (body.length > 0) notes.push(`Bodies of up to ${endpoint.maxBodyBytes} bytes.`);
  if (endpoint.cached)
    notes.push(
      'Responses may come from a cache: `Cache-Control` says for how long. ' +
        'With `wait`, only final ones do.',
    );
  return notes;
}

/** Returns the responses of a successful call by status. */
function responses(endpoint: ServedEndpoint, places: Places, context: OperationContext): Schema {
  const { headers } = context;
  const success: Schema = {
    description: successTexts[endpoint.successStatus] ?? 'The current state.',
    headers: responseHeaders(endpoint, places, context),
    content: contentOf(endpoint, context),
  };
  const links = documentLinks(endpoint, context.endpoints, context.operationIdOf ?? defaultId);
  if (Object.keys(links).length > 0) success.links = links;
  const byStatus: Schema = { [endpoint.successStatus]: success };
  const replacement = endpoint.takesOptions ? wholeBodyField(endpoint.method.output) : undefined;
  if (replacement?.message) {
    const { parent, name, message } = replacement;
    byStatus[200] = {
      description: context.describe(`${parent.typeName}.${name}`) ?? name,
      headers: headers.caller,
      content: jsonContent(message, context),
    };
  }
  if (hasTag(endpoint, context.isVolatile))
    byStatus[304] = {
      description: 'Not modified: the response is the one that `If-None-Match` names.',
      headers: { ...headers.caller, ...headers.tag },
    };
  return byStatus;
}

/** Returns the headers of the response with `successStatus`. */
function responseHeaders(
  endpoint: ServedEndpoint,
  { query, body }: Places,
  { headers, isLocated, isVolatile }: OperationContext,
): Schema {
  const schemas: Schema = { ...headers.caller };
  if (query.length + body.length > 0) Object.assign(schemas, headers.ignored);
  if (hasTag(endpoint, isVolatile)) Object.assign(schemas, headers.tag);
  if (isLocated(endpoint)) Object.assign(schemas, headers.location);
  if (endpoint.cached) Object.assign(schemas, headers.cache);
  return schemas;
}

function jsonContent(message: DescMessage, { book, examples }: OperationContext): Schema {
  const example = examples.message(message, 'response');
  return { 'application/json': { schema: book.response(message), example } };
}

/** Returns the bodies of a successful response by media type. */
function contentOf(
  { method, streams, exported }: ServedEndpoint,
  context: OperationContext,
): Schema {
  if (!streams) return jsonContent(method.output, context);
  const methods = exported ? [method, exported.method] : [method];
  const contents = methods.flatMap((each) => getOption(each, restOption).contents);
  if (contents.length === 0) return { '*/*': { schema: {} } };
  const byType = Map.groupBy(contents, ({ mediaType }) => mediaType);
  const bodies: Schema = {};
  for (const [mediaType, typeContents] of byType) {
    const names = new Set(typeContents.map(({ message }) => message));
    names.delete('');
    const messages = Array.from(names, (name) => findMessage(method.parent.file, name));
    const schemas = messages.map((message) => context.book.response(message));
    const [first] = messages;
    const example = first && context.examples.message(first, 'response');
    if (!/[/+]json$/.test(mediaType)) {
      bodies[mediaType] = linesBody(schemas, example);
      continue;
    }
    if (typeContents.some(({ inArray }) => inArray)) schemas.push(arrayOfObjects);
    bodies[mediaType] = jsonBody(schemas, example);
  }
  return bodies;
}

/** Returns the schema of a value that one of the schemas describes, or of any without schemas. */
function anyOf(schemas: readonly Schema[]): Schema {
  if (schemas.length > 1) return { anyOf: schemas };
  return schemas[0] ?? {};
}

/** Returns the content of a JSON body that one of the schemas describes. */
function jsonBody(schemas: readonly Schema[], example: unknown): Schema {
  const content: Schema = { schema: anyOf(schemas) };
  if (example !== undefined) content.example = example;
  return content;
}

/** Returns the content of a body with a JSON value per line, which one of the schemas describes. */
function linesBody(schemas: readonly Schema[], example: unknown): Schema {
  // OpenAPI 3.1 has no schema for a sequence of JSON values: 3.2 calls it `itemSchema`.
  const schema: Schema = { type: 'string' };
  if (schemas.length > 0) schema.contentSchema = anyOf(schemas);
  const content: Schema = { schema };
  if (example !== undefined) content.example = `${JSON.stringify(example)}\n`;
  return content;
}

const arrayOfObjects: Schema = { type: 'array', items: { type: 'object' } };

const successTexts: Readonly<Record<number, string>> = { 201: 'Created.', 202: 'Accepted.' };

const idempotencyKey: Schema = {
  name: 'Idempotency-Key',
  in: 'header',
  description:
    'Repeating the same key and request within 24 hours returns what the first one created; ' +
    'the same key with another request is a conflict.',
  schema: { type: 'string', pattern: '^[\\x21-\\x7e]{1,255}$' },
};

/** Fields that a query can carry. */
function isPlain(field: DescField): boolean {
  if (field.message !== undefined) return field.message.typeName === 'google.protobuf.Timestamp';
  return field.fieldKind !== 'map' && field.scalar !== ScalarType.BYTES;
}

function parameter(
  field: DescField,
  source: 'path' | 'query',
  { book, examples }: OperationContext,
): Schema {
  const { description, ...schema } = book.requestField(field);
  const result: Schema = { name: restName(field), in: source };
  if (description !== undefined) result.description = description;
  result.schema = schema;
  if (source === 'query') return result;
  const isBounded = schema.minLength !== undefined || schema.format !== undefined;
  if (schema.type === 'string' && !isBounded) schema.minLength = 1;
  result.example = examples.field(field, 'request');
  return result;
}

/**
 * Returns true if responses have an entity tag: the core's, or one of a text that stays the same.
 */
function hasTag(
  { verb, streams, waits, method }: ServedEndpoint,
  isVolatile: (field: DescField) => boolean,
): boolean {
  return verb === 'GET' && !streams && (waits || isStable(method.output, isVolatile));
}
