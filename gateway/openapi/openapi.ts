import type { DescField } from '@bufbuild/protobuf';
import { ScalarType } from '@bufbuild/protobuf';
import { bindingOf, placeOf, restName } from '../../src/contract/rest-form.ts';
import type { PathForms, ServedEndpoint } from '../endpoint.ts';
import { isStable } from '../response/tag.ts';
import { errorComponents, errorResponses, errorSchemas } from './error-responses.ts';
import { documentHeaders, ifNoneMatch, waitParameter } from './headers.ts';
import { createSchemaBook, type Schema, type SchemaBook } from './schemas.ts';

/** Texts of an API for its OpenAPI document. */
export interface ApiInfo {
  title: string;
  version: string;
  description: string;
  license?: { name: string; identifier: string };
  /** Returns the base address of the service. */
  publicUrl: () => string;
  /** Doc comments of the contract by full name. */
  comments: Readonly<Record<string, string>>;
  /** Headers that sessions set on every response, by name, as OpenAPI describes headers. */
  callerHeaders?: Readonly<Record<string, Schema>>;
  /** Returns notes on an operation, which follow its description. */
  notesOf?: (endpoint: ServedEndpoint) => string[];
  /** Tag of the extra paths. */
  extraTag?: { name: string; description: string };
  /** Naming of operations for path forms other than the first. */
  otherForms?: { operationSuffix: string; tagSuffix: string; description: string };
}

/** Options of openApiDocument(). */
export interface DocumentOptions extends ApiInfo {
  endpoints: readonly ServedEndpoint[];
  pathForms: PathForms;
  extraPaths: readonly { path: string; operation?: Schema }[];
  /** Returns whether responses of an endpoint have a `Location`. */
  isLocated: (endpoint: ServedEndpoint) => boolean;
  /** Returns whether a field differs between responses while nothing changes. */
  isVolatile: (field: DescField) => boolean;
}

/** Shared state of the operations of one document. */
interface OperationContext extends DocumentOptions {
  book: SchemaBook;
  headers: ReturnType<typeof documentHeaders>;
  describe: (name: string) => string | undefined;
}

/** Returns the OpenAPI 3.1 document of the endpoints, derived from the descriptors. */
export function openApiDocument(options: DocumentOptions): Schema {
  const { endpoints, publicUrl, title, version, description, license, comments, extraTag } = options;
  const describe = (name: string) => (Object.hasOwn(comments, name) ? comments[name] : undefined);
  const book = createSchemaBook(describe);
  const headers = documentHeaders(options.callerHeaders ?? {});
  const context = { ...options, book, headers, describe };
  const other = options.otherForms ?? { operationSuffix: 'other', tagSuffix: 'other paths', description: '' };
  const paths: Record<string, Record<string, Schema>> = {};
  const add = (path: string, verb: string, operation: Schema) => {
    for (const [index, form] of options.pathForms(path).entries()) {
      const named =
        index === 0
          ? operation
          : {
              ...operation,
              operationId: `${operation.operationId}_${other.operationSuffix}`,
              tags: [`${(operation.tags as string[])[0]} (${other.tagSuffix})`],
            };
      paths[form] = { ...paths[form], [verb]: named };
    }
  };
  for (const endpoint of endpoints)
    add(plainPath(endpoint.path), endpoint.verb.toLowerCase(), operationOf(endpoint, context));
  for (const { path, operation } of options.extraPaths) if (operation) add(path, 'get', operation);

  const services = new Map(
    endpoints.map(({ method }) => [method.parent.name, describe(method.parent.typeName)]),
  );
  if (extraTag) services.set(extraTag.name, extraTag.description);
  const tags = Array.from(services, ([name, text]) => ({
    name,
    ...(text === undefined ? {} : { description: text }),
  }));
  const hasOtherForms = options.pathForms('/').length > 1;
  const otherTags = tags.map(({ name }) => ({
    name: `${name} (${other.tagSuffix})`,
    description: other.description,
  }));
  return {
    openapi: '3.1.0',
    info: { title, version, description, ...(license ? { license } : {}) },
    servers: [{ url: publicUrl() }],
    security: [{ bearer: [] }],
    tags: [...tags, ...(hasOtherForms ? otherTags : [])],
    paths,
    components: {
      securitySchemes: { bearer: { type: 'http', scheme: 'bearer', description: 'An API key.' } },
      headers: headers.components,
      responses: errorComponents(headers),
      schemas: { ...errorSchemas, ...book.components() },
    },
  };
}

/** A path template without the patterns of its variables, as OpenAPI writes it. */
function plainPath(path: string): string {
  return path.replace(/\{([a-z0-9_]+)=[^}]*\}/g, '{$1}');
}

function operationOf(endpoint: ServedEndpoint, context: OperationContext): Schema {
  const { book, describe, headers, isVolatile } = context;
  const { method, verb } = endpoint;
  const binding = bindingOf(method);
  const isLocated = context.isLocated(endpoint);
  const isTagged = hasTag(endpoint, isVolatile);
  const placed = (place: string) =>
    method.input.fields.filter((field) => placeOf(binding, field)[0] === place);
  const [inPath, inQuery, inBody] = [placed('path'), placed('query').filter(isPlain), placed('body')];
  const parameters = [
    ...inPath.map((field) => ({ ...parameter(field, 'path', book), required: true })),
    ...inQuery.map((field) => parameter(field, 'query', book)),
    ...(endpoint.waits ? [waitParameter] : []),
    ...(isLocated ? [idempotencyKey] : []),
  ];
  const text = describe(`${method.parent.typeName}.${method.name}`) ?? method.name;
  const notes = [...(context.notesOf?.(endpoint) ?? []), ...notesOf(endpoint, inBody.length > 0)];
  return {
    operationId: `${method.parent.name}_${method.name}`,
    tags: [method.parent.name],
    summary: text.split(/(?<=\.)\s/)[0],
    description: [text, ...notes].join('\n\n'),
    parameters: [...parameters, ...(isTagged ? [ifNoneMatch] : [])],
    ...(inBody.length > 0 ? { requestBody: requestBody(endpoint, inBody, book) } : {}),
    responses: {
      [endpoint.successStatus]: {
        description: endpoint.successStatus === 202 ? 'Accepted.' : 'The current state.',
        headers: {
          ...headers.caller,
          ...(inQuery.length + inBody.length > 0 ? headers.ignored : {}),
          ...(isTagged ? headers.tag : {}),
          ...(isLocated ? headers.location : {}),
          ...(endpoint.cached ? headers.cache : {}),
        },
        content: contentOf(endpoint, book),
      },
      ...(isTagged ? notModified(headers) : {}),
      ...errorResponses([
        ...[400, 401, 403, 429, 500, 502, 503],
        ...(inPath.length > 0 ? [404] : []),
        ...(inBody.length > 0 ? [413, 415] : []),
        ...(parameters.length + inBody.length > 0 ? [422] : []),
        ...(verb === 'GET' ? [] : [409]),
        ...endpoint.errors,
      ]),
    },
  };
}

/** Returns the sentences that the description of an operation ends with. */
const notesOf = ({ maxBodyBytes, cached }: ServedEndpoint, hasBody: boolean): string[] => [
  ...(hasBody ? [`Bodies of up to ${maxBodyBytes} bytes.`] : []),
  ...(cached
    ? ['Responses may come from a cache: `Cache-Control` says for how long. With `wait`, only final ones do.']
    : []),
];

/** Returns the content of a successful response. */
const contentOf = ({ streams, method }: ServedEndpoint, book: OperationContext['book']): Schema =>
  streams ? { '*/*': { schema: {} } } : { 'application/json': { schema: book.response(method.output) } };

/** Returns the response to a request whose tag still applies. */
const notModified = (headers: OperationContext['headers']): Schema => ({
  304: {
    description: 'Not modified: the response is the one that `If-None-Match` names.',
    headers: { ...headers.caller, ...headers.tag },
  },
});

const idempotencyKey: Schema = {
  name: 'Idempotency-Key',
  in: 'header',
  description:
    'The same key and body within 24 hours return the first response again; the same key with another body is a conflict.',
  schema: { type: 'string', pattern: '^[\\x21-\\x7e]{1,255}$' },
};

/** Fields that a query can carry. */
function isPlain(field: DescField): boolean {
  const plainMessage = field.message === undefined || field.message.typeName === 'google.protobuf.Timestamp';
  return field.fieldKind !== 'map' && plainMessage && field.scalar !== ScalarType.BYTES;
}

function parameter(field: DescField, place: string, book: SchemaBook): Schema {
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
  };
}

function requestBody(endpoint: ServedEndpoint, fields: readonly DescField[], book: SchemaBook): Schema {
  const { method, body } = endpoint;
  if (endpoint.multipart)
    return { required: true, content: { 'multipart/form-data': { schema: formSchema(fields, book) } } };
  const whole =
    fields.length === method.input.fields.length ? book.request(method.input) : book.requestObject(fields);
  const schema = body === '*' ? whole : book.requestField(fields[0]!);
  const required =
    body === '*' ? (book.requestObject(fields).required as string[] | undefined) !== undefined : true;
  return { required, content: { 'application/json': { schema } } };
}

function formSchema(fields: readonly DescField[], book: SchemaBook): Schema {
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

/** Returns whether responses have an entity tag: the core's, or one of a text that stays the same. */
function hasTag(
  { verb, streams, waits, method }: ServedEndpoint,
  isVolatile: (field: DescField) => boolean,
): boolean {
  return verb === 'GET' && !streams && (waits || isStable(method.output, isVolatile));
}
