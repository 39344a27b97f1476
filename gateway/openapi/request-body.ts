import type { DescField } from '@bufbuild/protobuf';
import { restName } from '../../src/contract/rest-form.ts';
import type { ServedEndpoint } from '../endpoint.ts';
import type { ExampleGenerator } from './examples.ts';
import type { Schema, SchemaGenerator } from './schemas.ts';

/** Returns the OpenAPI request body of an endpoint whose body has these fields. */
export function requestBody(
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
