// Writes docs/gleaner.postman_collection.json, a collection of requests for Postman, Bruno, and others, from the OpenAPI
// document.
import { writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type OpenApi, type Operation, openApiDocument, operationsOf } from './openapi-document.ts';

const schema = 'https://schema.getpostman.com/json/collection/v2.1.0/collection.json';

/** Returns the text of the collection: a folder for each tag, with a request for each operation. */
export function collection(document: OpenApi): string {
  const folders = new Map<string, object[]>();
  for (const { verb, path, operation } of operationsOf(document)) {
    const tag = operation.tags?.[0] ?? 'Other';
    folders.set(tag, [...(folders.get(tag) ?? []), item(verb, path, operation)]);
  }
  const { title } = document.info;
  const whole = {
    info: {
      name: title,
      description: 'Set the variables `url` and `key`. A test key (docs/sandbox.md) costs nothing.',
      schema,
    },
    auth: { type: 'bearer', bearer: [{ key: 'token', value: '{{key}}', type: 'string' }] },
    variable: [
      { key: 'url', value: 'http://127.0.0.1:8080' },
      { key: 'key', value: '' },
    ],
    item: [...folders].map(([name, items]) => ({ name, item: items })),
  };
  return `${JSON.stringify(whole, undefined, 2)}\n`;
}

function item(verb: string, path: string, operation: Operation): object {
  const { operationId, summary, description, parameters = [] } = operation;
  const segments = path.split('/').slice(1);
  const query = parameters
    .filter((parameter) => parameter.in === 'query')
    .map(({ name, description, example }) => ({
      key: name,
      value: example === undefined ? '' : String(example),
      description: description ?? '',
      disabled: true,
    }));
  const variable = parameters
    .filter((parameter) => parameter.in === 'path')
    .map(({ name, description }) => ({ key: name, value: '', description: description ?? '' }));
  const names = segments.map((segment) => segment.replace(/^\{(.+)\}$/, ':$1'));
  return {
    name: (summary ?? operationId).replace(/\.$/, ''),
    request: {
      method: verb,
      description: description ?? summary ?? '',
      ...bodyOf(operation),
      url: {
        raw: `{{url}}/${names.join('/')}`,
        host: ['{{url}}'],
        path: names,
        ...(query.length === 0 ? {} : { query }),
        ...(variable.length === 0 ? {} : { variable }),
      },
    },
  };
}

/** Returns the body of a request with its example: JSON, or else a form. */
function bodyOf({ requestBody }: Operation): object {
  const json = requestBody?.content['application/json'];
  if (json !== undefined) {
    const example = json.example ?? Object.values(json.examples ?? {})[0]?.value ?? {};
    return {
      header: [{ key: 'Content-Type', value: 'application/json' }],
      body: {
        mode: 'raw',
        raw: JSON.stringify(example, undefined, 2),
        options: { raw: { language: 'json' } },
      },
    };
  }
  const form = requestBody?.content['multipart/form-data'];
  if (form === undefined) return {};
  const fields = Object.entries(form.schema.properties ?? {}).map(([key, { format, description }]) =>
    format === 'binary' || key === 'file'
      ? { key, type: 'file', src: [], description: description ?? '' }
      : { key, type: 'text', value: '', description: description ?? '' },
  );
  return { body: { mode: 'formdata', formdata: fields } };
}

if (import.meta.main) {
  const folder = join(dirname(fileURLToPath(import.meta.url)), '../docs');
  writeFileSync(join(folder, 'gleaner.postman_collection.json'), collection(await openApiDocument()));
}
