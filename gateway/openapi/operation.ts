import {
  type DescField,
  type DescMessage,
  type DescService,
  getOption,
  ScalarType,
} from '@bufbuild/protobuf';
import { rest as restOption } from '../../gen/gleaner/options/v1/options_pb.ts';
import { requiredScopes } from '../../src/contract/permission.ts';
import { bindingOf, placeOf, restName } from '../../src/contract/rest-form.ts';
import { isRequired } from '../../src/contract/rules.ts';
import { submitOptionFields } from '../../src/contract/submit-options.ts';
import { wholeBodyField } from '../../src/contract/whole-body.ts';
import type { ServedEndpoint } from '../endpoint.ts';
import { isStable } from '../response/tag.ts';
import type { DocumentOptions } from './document-options.ts';
import { errorResponses } from './error-responses.ts';
import type { ExampleGenerator } from './examples.ts';
import { createdWaitParameter, type documentHeaders, ifNoneMatch, waitParameter } from './headers.ts';
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
    fields.length === method.input.fields.length ? book.request(method.input) : book.requestObject(fields);
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
  const { describe, operationIdOf = defaultId, isVolatile } = context;
  const { method, verb } = endpoint;
  const isLocated = context.isLocated(endpoint);
  const isTagged = hasTag(endpoint, isVolatile);
  const places = placesOf(endpoint);
  const { path, body } = places;
  const query = [...places.query, ...(endpoint.exported ? placesOf(endpoint.exported).query : [])];
  const parameters = [
    ...path.map((field) => ({ ...parameter(field, 'path', context), required: true })),
    ...query.map((field) => ({
      ...parameter(field, 'query', context),
      ...(isRequired(field) || endpoint.requiredParameters.includes(field.name) ? { required: true } : {}),
    })),
    ...(endpoint.takesOptions ? submitOptionFields.map((field) => parameter(field, 'query', context)) : []),
    ...(endpoint.waits ? [endpoint.isSubmit ? createdWaitParameter : waitParameter] : []),
    ...(isLocated || endpoint.isRepeatable ? [idempotencyKey] : []),
  ];
  const scopes = requiredScopes(method);
  const text = describe(`${method.parent.typeName}.${method.name}`) ?? method.name;
  return {
    operationId: operationIdOf(endpoint),
    tags: [context.tagOf(method.parent)],
    summary: context.titleOf?.(method) ?? text.split(/(?<=\.)\s/)[0],
    description: [text, ...notesOf(endpoint, places, context)].join('\n\n'),
    ...(scopes === null ? {} : { 'x-required-scopes': scopes }),
    parameters: [...parameters, ...(isTagged ? [ifNoneMatch] : [])],
    ...(body.length > 0 ? { requestBody: requestBody(endpoint, body, context) } : {}),
    responses: {
      ...responses(endpoint, { ...places, query }, { isLocated, isTagged }, context),
      ...errorResponses([
        ...[400, 401, 403, 429, 500, 502, 503],
        ...(path.length > 0 ? [404] : []),
        ...(body.length > 0 ? [413, 415] : []),
        ...(query.some(({ fieldKind }) => fieldKind === 'list') ? [431] : []),
        ...(parameters.length + body.length > 0 ? [422] : []),
        ...(verb === 'GET' ? [] : [409]),
        ...endpoint.errors,
      ]),
    },
    ...(context.codeSamplesOf ? { 'x-codeSamples': context.codeSamplesOf(endpoint) } : {}),
  };
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
  const placed = (place: string) =>
    method.input.fields.filter((field) => placeOf(binding, field)[0] === place);
  return { path: placed('path'), query: placed('query').filter(isPlain), body: placed('body') };
}

function notesOf(endpoint: ServedEndpoint, { body }: Places, context: OperationContext): string[] {
  const scopes = requiredScopes(endpoint.method) ?? [];
  return [
    ...(scopes.length === 0
      ? []
      : [`Needs a key with ${scopes.map((scope) => `\`${scope}\``).join(' and ')}.`]),
    ...(context.notesOf?.(endpoint) ?? []),
    ...(body.length > 0 ? [`Bodies of up to ${endpoint.maxBodyBytes} bytes.`] : []),
    ...(endpoint.cached
      ? [
          'Responses may come from a cache: `Cache-Control` says for how long. With `wait`, only final ones do.',
        ]
      : []),
  ];
}

function responses(
  endpoint: ServedEndpoint,
  { query, body }: Places,
  { isLocated, isTagged }: { isLocated: boolean; isTagged: boolean },
  context: OperationContext,
): Schema {
  const { headers } = context;
  const whole = endpoint.takesOptions ? wholeBodyField(endpoint.method.output) : undefined;
  const links = documentLinks(endpoint, context.endpoints, context.operationIdOf ?? defaultId);
  return {
    [endpoint.successStatus]: {
      description: successTexts[endpoint.successStatus] ?? 'The current state.',
      headers: {
        ...headers.caller,
        ...(query.length + body.length > 0 ? headers.ignored : {}),
        ...(isTagged ? headers.tag : {}),
        ...(isLocated ? headers.location : {}),
        ...(endpoint.cached ? headers.cache : {}),
      },
      content: contentOf(endpoint, context),
      ...(Object.keys(links).length > 0 ? { links } : {}),
    },
    ...(whole?.message
      ? {
          200: {
            description: context.describe(`${whole.parent.typeName}.${whole.name}`) ?? whole.name,
            headers: headers.caller,
            content: jsonContent(whole.message, context),
          },
        }
      : {}),
    ...(isTagged
      ? {
          304: {
            description: 'Not modified: the response is the one that `If-None-Match` names.',
            headers: { ...headers.caller, ...headers.tag },
          },
        }
      : {}),
  };
}

function jsonContent(message: DescMessage, { book, examples }: OperationContext): Schema {
  const example = examples.message(message, 'response');
  return { 'application/json': { schema: book.response(message), example } };
}

/** Returns the bodies of a successful response by media type. */
function contentOf({ method, streams, exported }: ServedEndpoint, context: OperationContext): Schema {
  if (!streams) return jsonContent(method.output, context);
  const { book, examples } = context;
  const contents = [method, ...(exported ? [exported.method] : [])].flatMap(
    (each) => getOption(each, restOption).contents,
  );
  if (contents.length === 0) return { '*/*': { schema: {} } };
  const byType = Map.groupBy(contents, ({ mediaType }) => mediaType);
  return Object.fromEntries(
    Array.from(byType, ([mediaType, listed]) => {
      const names = new Set(listed.map(({ message }) => message).filter((message) => message !== ''));
      const messages = [...names].map((name) => findMessage(method.parent.file, name));
      const schemas = messages.map((message) => book.response(message));
      if (/[/+]json$/.test(mediaType)) {
        const [first] = messages;
        const alternatives = listed.some(({ inArray }) => inArray) ? [...schemas, arrayOfObjects] : schemas;
        return [
          mediaType,
          {
            schema: alternatives.length > 1 ? { anyOf: alternatives } : (alternatives[0] ?? {}),
            ...(first ? { example: examples.message(first, 'response') } : {}),
          },
        ];
      }
      const lines = messages.map((message) => `${JSON.stringify(examples.message(message, 'response'))}\n`);
      return [
        mediaType,
        {
          // OpenAPI 3.1 has no schema for a sequence of JSON values: 3.2 calls it `itemSchema`.
          schema: {
            type: 'string',
            ...(schemas[0] ? { contentSchema: schemas.length > 1 ? { anyOf: schemas } : schemas[0] } : {}),
          },
          ...(lines[0] ? { example: lines[0] } : {}),
        },
      ];
    }),
  );
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
  const plainMessage = field.message === undefined || field.message.typeName === 'google.protobuf.Timestamp';
  return field.fieldKind !== 'map' && plainMessage && field.scalar !== ScalarType.BYTES;
}

function parameter(field: DescField, place: string, { book, examples }: OperationContext): Schema {
  const { description: text, ...schema } = book.requestField(field);
  const atLeastOne =
    place === 'path' &&
    schema.type === 'string' &&
    schema.minLength === undefined &&
    schema.format === undefined
      ? { minLength: 1 }
      : {};
  return {
    name: restName(field),
    in: place,
    ...(text === undefined ? {} : { description: text }),
    schema: { ...schema, ...atLeastOne },
    ...(place === 'path' ? { example: examples.field(field, 'request') } : {}),
  };
}

/** Returns true if responses have an entity tag: the core's, or one of a text that stays the same. */
function hasTag(
  { verb, streams, waits, method }: ServedEndpoint,
  isVolatile: (field: DescField) => boolean,
): boolean {
  return verb === 'GET' && !streams && (waits || isStable(method.output, isVolatile));
}
