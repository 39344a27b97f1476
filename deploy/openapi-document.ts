import { startTestApi } from '../src/api/rest/fixture.ts';
import { services } from '../src/contract/services.ts';

/** A schema of an OpenAPI document. */
export interface Schema {
  $ref?: string;
  type?: string | string[];
  format?: string;
  description?: string;
  enum?: (string | null)[];
  anyOf?: Schema[];
  items?: Schema;
  properties?: Record<string, Schema>;
  required?: string[];
  additionalProperties?: Schema;
  example?: unknown;
}

/** An operation of an OpenAPI document. */
export interface Operation {
  operationId: string;
  summary?: string;
  description?: string;
  tags?: string[];
  parameters?: {
    name: string;
    in: string;
    description?: string;
    schema?: Schema;
    example?: unknown;
  }[];
  requestBody?: {
    content: Record<
      string,
      { schema: Schema; example?: unknown; examples?: Record<string, { value: unknown }> }
    >;
  };
}

/** The OpenAPI document of the REST interface, as far as generators need it. */
export interface OpenApi {
  info: { title: string; version: string; description: string };
  tags?: { name: string; description?: string }[];
  paths: Record<string, Record<string, Operation>>;
  components: { schemas: Record<string, Schema> };
}

/** Returns the OpenAPI document that a service of this version serves. */
export async function openApiDocument(): Promise<OpenApi> {
  const forUsers = services.filter(({ name }) => name !== 'OperatorService');
  const gateway = await startTestApi({ services: forUsers });
  try {
    return (await (await gateway.ask('/openapi.json', { key: null })).json()) as OpenApi;
  } finally {
    await gateway.close(0);
  }
}

/** Verbs of operations in the document. */
const verbs = new Set(['get', 'put', 'post', 'delete', 'patch']);

/** Yields every operation with its verb and path. */
export function* operationsOf({
  paths,
}: OpenApi): Generator<{ verb: string; path: string; operation: Operation }> {
  for (const [path, operations] of Object.entries(paths))
    for (const [verb, operation] of Object.entries(operations))
      if (verbs.has(verb) && operation.operationId)
        yield { verb: verb.toUpperCase(), path, operation };
}
