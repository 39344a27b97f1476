import { setImmediate as nextTurn } from 'node:timers/promises';
import type { DescService } from '@bufbuild/protobuf';
import type { DocumentOptions } from './document-options.ts';
import { errorComponents, errorSchemas } from './error-responses.ts';
import { createExampleGenerator } from './examples.ts';
import { documentHeaders } from './headers.ts';
import { createSchemaNames } from './names.ts';
import { contentMessages, documentOperation } from './operation.ts';
import { createSchemaGenerator, type Schema } from './schemas.ts';

/**
 * Returns the OpenAPI 3.1 document of the endpoints in one form of their paths, derived from the
 * descriptors. The first document takes some hundred milliseconds, so the event loop turns between
 * its operations. It is not built in advance, because this would delay every start by the same
 * time.
 */
export async function openApiDocument(options: DocumentOptions): Promise<Schema> {
  const { endpoints, title, version, description, contact, license, comments, extraTag } = options;
  const { tagOf = ({ name }: DescService) => name } = options;
  const describe = (name: string) => (Object.hasOwn(comments, name) ? comments[name] : undefined);
  const messages = endpoints.flatMap((endpoint) => [
    endpoint.method.output,
    ...contentMessages(endpoint),
  ]);
  const book = createSchemaGenerator(describe, createSchemaNames(messages, options.schemaNameOf));
  const headers = documentHeaders(options.callerHeaders ?? {});
  const examples = createExampleGenerator(options.exampleOf);
  const context = {
    ...options,
    tagOf,
    book,
    headers,
    describe,
    examples,
  };

  const paths: Record<string, Record<string, Schema>> = {};
  const add = (path: string, verb: string, operation: Schema) => {
    const form = options.pathForms(path)[options.form]!;
    paths[form] = { ...paths[form], [verb]: operation };
  };
  for (const endpoint of endpoints) {
    await nextTurn();
    add(
      plainPath(endpoint.path),
      endpoint.verb.toLowerCase(),
      documentOperation(endpoint, context),
    );
  }
  for (const { path, operation } of options.extraPaths) if (operation) add(path, 'get', operation);

  const services = new Map(
    endpoints.map(({ method }) => [tagOf(method.parent), describe(method.parent.typeName)]),
  );
  if (extraTag) services.set(extraTag.name, extraTag.description);
  return {
    openapi: '3.1.0',
    info: {
      title,
      version,
      description,
      contact,
      license,
    },
    servers: [{ url: options.publicUrl() }],
    security: [{ bearer: [] }],
    tags: Array.from(services, ([name, text]) => ({
      name,
      description: text,
    })),
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
  return path.replace(/\{([A-Za-z0-9_]+)=[^}]*\}/g, '{$1}');
}
