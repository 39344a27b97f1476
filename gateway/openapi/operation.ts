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
    const example = examples.object(fields, 'request');
    return {
      required: true,
      content: { 'multipart/form-data': { schema: formSchema(fields, book), example } },
    };
  }
  if (body !== '*') {
    const schema = book.requestField(fields[0]!);
    const example = examples.field(fields[0]!, 'request');
    return { required: true, content: { 'application/json': { schema, example } } };
  }
  const schema =
    fields.length === method.input.fields.length
      ? book.request(method.input)
      : book.requestObject(fields);
  const example = examples.object(fields, 'request');
  const required = book.requestObject(fields).required !== undefined;
  return { required, content: { 'application/json': { schema, example } } };
}

function formSchema(fields: readonly DescField[], book: SchemaGenerator): Schema {
  const properties = fields.map((field) => {
    const { description: text, contentEncoding, ...schema } = book.requestField(field);
    const file = contentEncoding === undefined ? {} : { format: 'binary' };
    return [
      restName(field),
      { ...schema, ...file, ...(text === undefined ? {} : { description: text }) },
    ] as const;
  });
  const { required } = book.requestObject(fields);
  return {
    type: 'object',
    properties: Object.fromEntries(properties),
    ...(required === undefined ? {} : { required }),
  };
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
  return {
    operationId: operationIdOf(endpoint),
    tags: [context.tagOf(method.parent)],
    summary: context.titleOf?.(method) ?? text.split(/(?<=\.)\s/)[0],
    description: [text, ...notesOf(endpoint, places, context)].join('\n\n'),
    ...(scopes === null ? {} : { 'x-required-scopes': scopes }),
    parameters: hasTag(endpoint, context.isVolatile) ? [...parameters, ifNoneMatch] : parameters,
    ...(places.body.length > 0 ? { requestBody: requestBody(endpoint, places.body, context) } : {}),
    responses: {
      ...responses(endpoint, places, context),
      ...errorResponses(errorStatuses(endpoint, places, hasInput)),
    },
    ...(context.codeSamplesOf ? { 'x-codeSamples': context.codeSamplesOf(endpoint) } : {}),
  };
}

/** Returns the parameters of an operation in the order of the document. */
function parametersOf(
  endpoint: ServedEndpoint,
  { path, query }: Places,
  context: OperationContext,
): Schema[] {
  const isNeeded = (field: DescField) =>
    isRequired(field) || endpoint.requiredParameters.includes(field.name);
  const parameters = [
    ...path.map((field) => ({ ...parameter(field, 'path', context), required: true })),
    ...query.map((field) => ({
      ...parameter(field, 'query', context),
      ...(isNeeded(field) ? { required: true } : {}),
    })),
  ];
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

const defaultId = ({ method: { name } }: ServedEndpoint) => name[0]!.toLowerCase() + name.slice(1);

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
  if (scopes.length > 0)
    notes.push(`Needs a key with ${scopes.map((scope) => `\`${scope}\``).join(' and ')}.`);
  notes.push(...(context.notesOf?.(endpoint) ?? []));
  if (body.length > 0) notes.push(`Bodies of up to ${endpoint.maxBodyBytes} bytes.`);
  if (endpoint.cached)
    notes.push(
      'Responses may come from a cache: `Cache-Control` says for how long. With `wait`, only final ones do.',
    );
  return notes;
}

/** Returns the responses of a successful call by status. */
function responses(endpoint: ServedEndpoint, places: Places, context: OperationContext): Schema {
  const { headers } = context;
  const links = documentLinks(endpoint, context.endpoints, context.operationIdOf ?? defaultId);
  const byStatus: Schema = {
    [endpoint.successStatus]: {
      description: successTexts[endpoint.successStatus] ?? 'The current state.',
      headers: responseHeaders(endpoint, places, context),
      content: contentOf(endpoint, context),
      ...(Object.keys(links).length > 0 ? { links } : {}),
    },
  };
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
  return {
    ...headers.caller,
    ...(query.length + body.length > 0 ? headers.ignored : {}),
    ...(hasTag(endpoint, isVolatile) ? headers.tag : {}),
    ...(isLocated(endpoint) ? headers.location : {}),
    ...(endpoint.cached ? headers.cache : {}),
  };
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
  return Object.fromEntries(
    Array.from(byType, ([mediaType, typeContents]) => {
      const names = new Set(
        typeContents.map(({ message }) => message).filter((name) => name !== ''),
      );
      const messages = Array.from(names, (name) => findMessage(method.parent.file, name));
      const hasArray = typeContents.some(({ inArray }) => inArray);
      const isJson = /[/+]json$/.test(mediaType);
      return [
        mediaType,
        isJson ? jsonBody(messages, hasArray, context) : linesBody(messages, context),
      ];
    }),
  );
}

/** Returns the content of a JSON body: one of the messages, or an array of objects. */
function jsonBody(
  messages: readonly DescMessage[],
  hasArray: boolean,
  { book, examples }: OperationContext,
): Schema {
  const schemas = messages.map((message) => book.response(message));
  const alternatives = hasArray ? [...schemas, arrayOfObjects] : schemas;
  const [first] = messages;
  return {
    schema: alternatives.length > 1 ? { anyOf: alternatives } : (alternatives[0] ?? {}),
    ...(first ? { example: examples.message(first, 'response') } : {}),
  };
}

/** Returns the content of a body with a message per line. */
function linesBody(messages: readonly DescMessage[], { book, examples }: OperationContext): Schema {
  const schemas = messages.map((message) => book.response(message));
  // OpenAPI 3.1 has no schema for a sequence of JSON values: 3.2 calls it `itemSchema`.
  const schema: Schema = { type: 'string' };
  if (schemas.length > 0)
    schema.contentSchema = schemas.length > 1 ? { anyOf: schemas } : schemas[0];
  const lines = messages.map(
    (message) => `${JSON.stringify(examples.message(message, 'response'))}\n`,
  );
  return { schema, ...(lines[0] ? { example: lines[0] } : {}) };
}

const arrayOfObjects: Schema = { type: 'array', items: { type: 'object' } };

const successTexts: Readonly<Record<number, string>> = { 201: 'Created.', 202: 'Accepted.' };

const idempotencyKey: Schema = {
  name: 'Idempotency-Key',
  in: 'header',
  description:
    'Repeating the same key and request within 24 hours returns what the first one created; the same key with another request is a conflict.',
  schema: { type: 'string', pattern: '^[\\x21-\\x7e]{1,255}$' },
};

/** Fields that a query can carry. */
function isPlain(field: DescField): boolean {
  const plainMessage =
    field.message === undefined || field.message.typeName === 'google.protobuf.Timestamp';
  return field.fieldKind !== 'map' && plainMessage && field.scalar !== ScalarType.BYTES;
}

function parameter(
  field: DescField,
  source: 'path' | 'query',
  { book, examples }: OperationContext,
): Schema {
  const { description: text, ...schema } = book.requestField(field);
  const isInPath = source === 'path';
  const isBounded = schema.minLength !== undefined || schema.format !== undefined;
  if (isInPath && schema.type === 'string' && !isBounded) schema.minLength = 1;
  return {
    name: restName(field),
    in: source,
    ...(text === undefined ? {} : { description: text }),
    schema,
    ...(isInPath ? { example: examples.field(field, 'request') } : {}),
  };
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
