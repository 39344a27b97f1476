import {
  type DescField,
  type DescMessage,
  type DescMethod,
  type DescService,
  getOption,
  hasOption,
} from '@bufbuild/protobuf';
import { http } from '../../gen/google/api/annotations_pb.ts';
import type { HttpRule } from '../../gen/google/api/http_pb.ts';
import type { DeclaredEndpoint, PathForm, ServedEndpoint } from '../endpoint.ts';
import type { DocumentOptions } from '../openapi/document-options.ts';
import { createSchemaNames } from '../openapi/names.ts';
import { createSchemaGenerator, type Schema, type SchemaGenerator } from '../openapi/schemas.ts';
import { findParameter, nameOf } from './parameters.ts';

/** Methods that OpenAPI 3.1 can describe. */
const described = new Set(['GET', 'PUT', 'POST', 'DELETE', 'OPTIONS', 'HEAD', 'PATCH', 'TRACE']);

/** Maximum fields in the name of a documented query parameter. */
const maxSteps = 4;

/** Returns the OpenAPI 3.1 document of endpoints in the dialect of google.api.http and ProtoJSON. */
export function standardDocument(options: DocumentOptions): Schema {
  const { endpoints, title, version, description, comments } = options;
  const describe = (name: string) => (Object.hasOwn(comments, name) ? comments[name] : undefined);
  const names = createSchemaNames(
    endpoints.map(({ method }) => method.output),
    // Nested types of one name are usual in published services.
    options.schemaNameOf ?? (({ typeName }) => typeName),
  );
  const book = createSchemaGenerator(describe, names, 'connect');
  const paths: Record<string, Record<string, Schema>> = {};
  const ids = new Map<string, number>();
  for (const endpoint of endpoints.filter(({ verb }) => described.has(verb))) {
    const { method, verb } = endpoint;
    const { path, parameters } = pathOf(endpoint, endpoint.forms[options.form] ?? endpoint.forms[0]!, book);
    const id = `${method.parent.name}_${method.name}`;
    const count = (ids.get(id) ?? 0) + 1;
    ids.set(id, count);
    const text = describe(`${method.parent.typeName}.${method.name}`) ?? method.name;
    paths[path] = {
      ...paths[path],
      [verb.toLowerCase()]: {
        operationId: count === 1 ? id : `${id}_${count}`,
        tags: [method.parent.name],
        summary: text.split(/(?<=\.)\s/)[0],
        description: text,
        parameters: [...parameters, ...queryOf(endpoint, book)],
        ...requestBody(endpoint, book),
        responses: {
          200: { description: 'The response.', content: responseContent(endpoint, book) },
          default: {
            description: 'An error.',
            content: { 'application/json': { schema: { $ref: '#/components/schemas/ErrorResponse' } } },
          },
        },
      },
    };
  }
  for (const { path, operation } of options.extraPaths) if (operation) paths[path] = { get: operation };
  return {
    openapi: '3.1.0',
    info: { title, version, description },
    servers: [{ url: options.publicUrl() }],
    tags: [...new Set(endpoints.map(({ method }) => method.parent.name))].map((name) => ({ name })),
    paths,
    components: { schemas: { ErrorResponse: errorResponse, ...book.components() } },
  };
}

/** Returns the path of an endpoint with a parameter for each wildcard, and the parameters. */
function pathOf({ method }: ServedEndpoint, { template }: PathForm, book: SchemaGenerator) {
  const parameters: Schema[] = [];
  const used = new Map<string, number>();
  const segments = template.segments.map((segment, index) => {
    if (segment.kind === 'literal') return segment.text;
    const variable = template.variables.find(
      ({ start, end }) => start <= index && (end === null || index < end),
    );
    const field = variable?.field ?? 'segment';
    const count = (used.get(field) ?? 0) + 1;
    used.set(field, count);
    const name = count === 1 ? field : `${field}_${count}`;
    const isWhole = variable !== undefined && variable.end === variable.start + 1;
    const parameter = isWhole ? findParameter(method.input, field) : undefined;
    const schema =
      parameter === undefined || typeof parameter === 'string'
        ? { type: 'string' }
        : book.requestField(parameter.leaf);
    parameters.push({
      ...{ name, in: 'path', required: true, schema },
      ...(isWhole
        ? {}
        : { description: `Part of \`${field}\`${segment.kind === '**' ? ', with slashes' : ''}.` }),
    });
    return `{${name}}`;
  });
  const verb = template.verb === '' ? '' : `:${template.verb}`;
  return { path: `/${segments.join('/')}${verb}`, parameters };
}

/** Returns a parameter for each leaf field that is neither in the path nor in the body. */
function queryOf({ method, body, forms }: ServedEndpoint, book: SchemaGenerator): Schema[] {
  if (body === '*') return [];
  const inPath = new Set(forms[0]!.template.variables.map(({ field }) => field));
  const parameters: Schema[] = [];
  const add = (schema: DescMessage, steps: readonly DescField[]) => {
    for (const field of schema.fields) {
      if (steps.length === 0 && field.name === body) continue;
      const all = [...steps, field];
      const parameter = findParameter(method.input, all.map(({ name }) => name).join('.'));
      if (typeof parameter !== 'string') {
        if (inPath.has(nameOf(parameter))) continue;
        const name = all.map(({ jsonName }) => jsonName).join('.');
        parameters.push({ name, in: 'query', schema: book.requestField(field) });
      } else if (field.fieldKind === 'message' && all.length < maxSteps) add(field.message, all);
    }
  };
  add(method.input, []);
  return parameters;
}

const bytes: Schema = { '*/*': { schema: {} } };

function requestBody({ method, body, forms, takesBytes }: ServedEndpoint, book: SchemaGenerator): Schema {
  if (body === '') return {};
  if (takesBytes) return { requestBody: { content: bytes } };
  const inPath = new Set(forms[0]!.template.variables.map(({ field }) => field));
  const fields = method.input.fields.filter(({ name }) => !inPath.has(name));
  const field = method.input.fields.find(({ name }) => name === body);
  const whole = fields.length === method.input.fields.length ? book.request(method.input) : undefined;
  const schema = field ? book.requestField(field) : (whole ?? book.requestObject(fields));
  return { requestBody: { content: { 'application/json': { schema } } } };
}

function responseContent({ method, responseBody }: ServedEndpoint, book: SchemaGenerator): Schema {
  const field = method.output.fields.find(({ name }) => name === responseBody);
  const message = responseBody ? field?.message : method.output;
  if (message?.typeName === httpBodyType) return bytes;
  const schema = field ? book.responseField(field) : book.response(method.output);
  const isList = method.methodKind !== 'unary';
  return { 'application/json': { schema: isList ? { type: 'array', items: schema } : schema } };
}

const errorResponse: Schema = {
  type: 'object',
  properties: {
    error: {
      type: 'object',
      properties: {
        code: { type: 'integer', description: 'HTTP status.' },
        message: { type: 'string', description: 'The error in words.' },
        status: { type: 'string', description: 'Name of the code in google.rpc.Code.' },
        details: {
          type: 'array',
          description: 'Messages with their types in `@type`.',
          items: { type: 'object', additionalProperties: true },
        },
      },
      required: ['code', 'message', 'status'],
    },
  },
  required: ['error'],
};

export const httpBodyType = 'google.api.HttpBody';

/**
 * Returns the endpoints of services: one per google.api.http rule, including `additional_bindings`. Throws an
 * Error that names the method whose rule is invalid.
 */
export function bindingsOf(services: readonly DescService[], maxBodyBytes: number): DeclaredEndpoint[] {
  return services
    .flatMap(({ methods }) => methods.filter((method) => hasOption(method, http)))
    .flatMap((method) => {
      const rule = getOption(method, http);
      if (rule.additionalBindings.some(({ additionalBindings }) => additionalBindings.length > 0))
        throw new Error(`${method}: additional_bindings do not nest`);
      return [rule, ...rule.additionalBindings].map((each) => bindingOf(method, each, maxBodyBytes));
    });
}

function bindingOf(method: DescMethod, rule: HttpRule, maxBodyBytes: number): DeclaredEndpoint {
  const refuse = (why: string): never => {
    throw new Error(`${method}: ${why}`);
  };
  const { pattern, body, responseBody } = rule;
  const [verb, path] =
    pattern.case === 'custom'
      ? [pattern.value.kind, pattern.value.path]
      : [pattern.case?.toUpperCase() ?? refuse('google.api.http has no path'), pattern.value as string];
  const bodyField = method.input.fields.find(({ name }) => name === body);
  if (body !== '' && body !== '*' && bodyField === undefined) refuse(`no field ${body} for the body`);
  if (responseBody !== '' && method.output.fields.every(({ name }) => name !== responseBody))
    refuse(`no field ${responseBody} for the response body`);
  return {
    ...{ method, verb, path, body, responseBody, maxBodyBytes },
    takesBytes:
      body === '*' ? method.input.typeName === httpBodyType : bodyField?.message?.typeName === httpBodyType,
    streams:
      method.methodKind !== 'unary' ||
      (responseBody === '' ? method.output : fieldOf(method, responseBody).message)?.typeName ===
        httpBodyType,
    ...{ successStatus: 200, multipart: false, cached: false, waits: false, isSubmit: false },
    ...{ isRepeatable: false, takesOptions: false, errors: [], workingHours: false, withFormat: null },
    requiredParameters: [],
  };
}

function fieldOf(method: DescMethod, name: string) {
  return method.output.fields.find((field) => field.name === name)!;
}
