import { setImmediate as nextTurn } from 'node:timers/promises';
import type { DescMethod, DescService } from '@bufbuild/protobuf';
import { requiredRole } from '../../src/contract/permission.ts';
import type { ApiInfo } from './document-options.ts';
import { createExampleGenerator } from './examples.ts';
import { createSchemaNames } from './names.ts';
import { createSchemaGenerator, type Schema } from './schemas.ts';

export interface ConnectDocumentOptions extends ApiInfo {
  services: readonly DescService[];
  methodTagOf: (method: DescMethod) => string;
  /** Descriptions of the tags, in the order of the document. */
  methodTags: Readonly<Record<string, string>>;
}

const errorSchema: Schema = {
  type: 'object',
  description: 'An error of a call.',
  properties: {
    code: { type: 'string', description: 'Connect code of the error, such as `not_found`.' },
    message: { type: 'string', description: 'The error in words.' },
    details: {
      type: 'array',
      description: 'Details in Base64, by the name of their type.',
      items: {
        type: 'object',
        properties: { type: { type: 'string' }, value: { type: 'string' } },
        required: ['type', 'value'],
      },
    },
  },
  required: ['code'],
};

/**
 * Returns the OpenAPI 3.1 document of the methods with a single response, as Connect serves them
 * with JSON. The event loop turns between the methods.
 */
export async function connectDocument(options: ConnectDocumentOptions): Promise<Schema> {
  const { services, title, version, description, license, comments, methodTagOf } = options;
  const describe = (name: string) => (Object.hasOwn(comments, name) ? comments[name] : undefined);
  const methods = services.flatMap((service) =>
    service.methods.filter(({ methodKind }) => methodKind === 'unary'),
  );
  const names = createSchemaNames(
    methods.map(({ output }) => output),
    options.schemaNameOf,
  );
  const book = createSchemaGenerator(describe, names, 'connect');
  const examples = createExampleGenerator(options.exampleOf, 'connect');
  const operationOf = (method: DescMethod): Schema => {
    const text = describe(`${method.parent.typeName}.${method.name}`) ?? method.name;
    const role = requiredRole(method);
    return {
      operationId: method.localName,
      tags: [methodTagOf(method)],
      summary: options.titleOf?.(method) ?? text.split(/(?<=\.)\s/)[0],
      description:
        role === null
          ? text
          : `${text}\n\nNeeds an operator key with the role \`${role}\` or higher.`,
      ...(role === null ? {} : { 'x-required-role': role }),
      requestBody: {
        required: true,
        content: {
          'application/json': {
            schema: book.request(method.input),
            example: examples.message(method.input, 'request'),
          },
        },
      },
      responses: {
        200: {
          description: 'The response.',
          content: {
            'application/json': {
              schema: book.response(method.output),
              example: examples.message(method.output, 'response'),
            },
          },
        },
        default: {
          description: 'An error.',
          content: {
            'application/json': {
              schema: { $ref: '#/components/schemas/ConnectError' },
              example: { code: 'not_found', message: 'Not found.' },
            },
          },
        },
      },
    };
  };
  const paths: Record<string, Schema> = {};
  for (const method of methods) {
    await nextTurn();
    paths[`/${method.parent.typeName}/${method.name}`] = { post: operationOf(method) };
  }
  return {
    openapi: '3.1.0',
    info: {
      title,
      version,
      description,
      ...(license ? { license } : {}),
    },
    servers: [{ url: options.publicUrl() }],
    security: [{ bearer: [] }],
    tags: Object.entries(options.methodTags).map(([name, text]) => ({ name, description: text })),
    paths,
    components: {
      securitySchemes: {
        bearer: { type: 'http', scheme: 'bearer', description: "An operator's API key." },
      },
      schemas: { ConnectError: errorSchema, ...book.components() },
    },
  };
}
