import type { DescField } from '@bufbuild/protobuf';
import { ScalarType } from '@bufbuild/protobuf';
import { bindingOf, placeOf, restName } from '../../src/contract/problems.ts';
import {
  cacheHeaders,
  callerHeaders,
  headerComponents,
  ifNoneMatch,
  locationHeaders,
  tagHeaders,
  waitParameter,
} from '../answer/answer-headers.ts';
import { locatorOf } from '../answer/location.ts';
import { isStable } from '../answer/tag.ts';
import { type Endpoint, formsOf } from '../endpoint.ts';
import { errorComponents, errorResponses, errorSchemas } from './error-responses.ts';
import { createSchemaBook, type Schema, type SchemaBook } from './schemas.ts';
import { systemPaths } from './system-paths.ts';

/** What the OpenAPI document is made of. */
export interface OpenApiOptions {
  endpoints: readonly Endpoint[];
  publicUrl: string;
  version: string;
  /** Doc comments of the contract by full name. */
  comments: Readonly<Record<string, string>>;
}

const description = `Collects public product data from online marketplaces: submit a job, poll its retrieve endpoint, download the results.

Every path answers with its \`/v1\` prefix and without it, with the same behaviour. Calls need an API key as
\`Authorization: Bearer <key>\`. Members of a request that are not described are ignored; \`null\` for an optional one
stands for its absence. Identifiers may be written as JSON integers up to 2^53-1. Bodies may be sent with
\`Content-Encoding: gzip\`; limits hold for what comes out. Answers of 1 KB and more come in br or gzip to clients that ask
for it with \`Accept-Encoding\`. Every answer carries \`X-Request-Id\`: the request's own where it has one of up to 128 plain
characters.`;

/** The OpenAPI 3.1 document of the endpoints, derived from the descriptors. */
export function openApiDocument({ endpoints, publicUrl, version, comments }: OpenApiOptions): Schema {
  const describe = (name: string) => (Object.hasOwn(comments, name) ? comments[name] : undefined);
  const book = createSchemaBook(describe);
  const paths: Record<string, Record<string, Schema>> = {};
  const add = (path: string, verb: string, operation: Schema) => {
    const [long, short] = formsOf(path);
    paths[long!] = { ...paths[long!], [verb]: operation };
    paths[short!] = {
      ...paths[short!],
      [verb]: {
        ...operation,
        operationId: `${operation.operationId}_short`,
        tags: [`${(operation.tags as string[])[0]} (short paths)`],
      },
    };
  };
  for (const endpoint of endpoints) {
    add(
      plainPath(endpoint.path),
      endpoint.verb.toLowerCase(),
      operationOf(endpoint, endpoints, book, describe),
    );
  }
  for (const [path, operation] of Object.entries(systemPaths)) add(path, 'get', operation);

  const services = new Map(
    endpoints.map(({ method }) => [method.parent.name, describe(method.parent.typeName)]),
  );
  services.set('Service', 'The service itself.');
  const tags = Array.from(services, ([name, text]) => ({
    name,
    ...(text === undefined ? {} : { description: text }),
  }));
  const shortTags = tags.map(({ name }) => ({
    name: `${name} (short paths)`,
    description: 'The same without /v1.',
  }));
  return {
    openapi: '3.1.0',
    info: {
      title: 'Gleaner',
      version,
      description,
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url: publicUrl }],
    security: [{ bearer: [] }],
    tags: [...tags, ...shortTags],
    paths,
    components: {
      securitySchemes: { bearer: { type: 'http', scheme: 'bearer', description: 'An API key.' } },
      headers: headerComponents,
      responses: errorComponents,
      schemas: { ...errorSchemas, ...book.components() },
    },
  };
}

/** A path template without the patterns of its variables, as OpenAPI writes it. */
function plainPath(path: string): string {
  return path.replace(/\{([a-z0-9_]+)=[^}]*\}/g, '{$1}');
}

function operationOf(
  endpoint: Endpoint,
  endpoints: readonly Endpoint[],
  book: SchemaBook,
  describe: (name: string) => string | undefined,
): Schema {
  const { method, verb } = endpoint;
  const binding = bindingOf(method);
  const placed = (place: string) =>
    method.input.fields.filter((field) => placeOf(binding, field)[0] === place);
  const [inPath, inQuery, inBody] = [placed('path'), placed('query').filter(isPlain), placed('body')];
  const parameters = [
    ...inPath.map((field) => ({ ...parameter(field, 'path', book), required: true })),
    ...inQuery.map((field) => parameter(field, 'query', book)),
    ...(endpoint.waits ? [waitParameter] : []),
    ...(locatorOf(endpoint, endpoints) ? [idempotencyKey] : []),
  ];
  const text = describe(`${method.parent.typeName}.${method.name}`) ?? method.name;
  const notes = [
    ...(endpoint.workingHours
      ? ['Worked on during working hours only: 08:00 to 18:00 GMT+8 unless configured otherwise.']
      : []),
    ...(inBody.length > 0 ? [`Bodies of up to ${endpoint.maxBodyBytes} bytes.`] : []),
    ...(endpoint.cached
      ? [
          'Answers may come from a cache: `Cache-Control` says for how long. With `wait`, that of a running job is passed over.',
        ]
      : []),
  ];
  return {
    operationId: `${method.parent.name}_${method.name}`,
    tags: [method.parent.name],
    summary: text.split(/(?<=\.)\s/)[0],
    description: [text, ...notes].join('\n\n'),
    parameters: [...parameters, ...(isTagged(endpoint) ? [ifNoneMatch] : [])],
    ...(inBody.length > 0 ? { requestBody: requestBody(endpoint, inBody, book) } : {}),
    responses: {
      [endpoint.successStatus]: successOf(endpoint, endpoints, book),
      ...(isTagged(endpoint) ? { 304: notModified } : {}),
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

const idempotencyKey: Schema = {
  name: 'Idempotency-Key',
  in: 'header',
  description:
    'The same key and body within 24 hours give the first answer again; the same key with another body is a conflict.',
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

function requestBody(endpoint: Endpoint, fields: readonly DescField[], book: SchemaBook): Schema {
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

/** Whether answers have a tag: the core's for a job, else one of a text that stays the same. */
function isTagged({ verb, streams, waits, method }: Endpoint): boolean {
  return verb === 'GET' && !streams && (waits || isStable(method.output));
}

const notModified: Schema = {
  description: 'As it was: the answer is the one that `If-None-Match` names.',
  headers: { ...callerHeaders, ...tagHeaders },
};

function successOf(endpoint: Endpoint, endpoints: readonly Endpoint[], book: SchemaBook): Schema {
  return {
    description: endpoint.successStatus === 202 ? 'Accepted.' : 'As it is now.',
    headers: {
      ...callerHeaders,
      ...(isTagged(endpoint) ? tagHeaders : {}),
      ...(locatorOf(endpoint, endpoints) ? locationHeaders : {}),
      ...(endpoint.cached ? cacheHeaders : {}),
    },
    content: endpoint.streams
      ? { '*/*': { schema: {} } }
      : { 'application/json': { schema: book.response(endpoint.method.output) } },
  };
}
