import { type DescField, type DescMessage, ScalarType } from '@bufbuild/protobuf';
import type { ServedEndpoint } from '../../../gateway/endpoint.ts';
import { createExampleGenerator } from '../../../gateway/openapi/examples.ts';
import type { Schema } from '../../../gateway/openapi/schemas.ts';
import { exampleOf } from './api-examples.ts';

const examples = createExampleGenerator(exampleOf, 'connect');

/**
 * Returns a TypeScript sample of an operation with `@gleaner/client`, for the `x-codeSamples` of OpenAPI
 * documents. Renderers create samples of other languages from the operation, with the reader's key.
 */
export function codeSamplesOf({ method, isSubmit, streams }: ServedEndpoint): Schema[] {
  const service = method.parent.name;
  const call = `${service}.method.${method.localName}`;
  const request = literal(method.input, examples.message(method.input, 'request'));
  const source = [
    `import { createGleanerClient, ${service} } from '@gleaner/client';`,
    '',
    `const gleaner = createGleanerClient({`,
    `  url: process.env.GLEANER_URL!,`,
    `  apiKey: process.env.GLEANER_API_KEY!,`,
    `});`,
    ...statements(call, request, isSubmit, streams),
  ];
  return [{ lang: 'TypeScript', label: '@gleaner/client', source: source.join('\n') }];
}

function statements(call: string, request: string, isSubmit: boolean, streams: boolean): string[] {
  if (isSubmit)
    return [
      `const { jobId } = await gleaner.submit(${call}, ${request});`,
      `const job = await gleaner.wait(jobId);`,
      `await gleaner.downloadAll(jobId, 'results');`,
    ];
  if (streams)
    return [
      `const stream = await gleaner.stream(${call}, ${request});`,
      `for await (const line of stream.lines()) console.log(line);`,
    ];
  return [`const response = await gleaner.call(${call}, ${request});`];
}

/** Returns an example of a message as an object literal: 64-bit integers are bigints, and bytes an array. */
function literal(message: DescMessage, example: unknown): string {
  if (message.typeName === 'google.protobuf.Timestamp')
    return `timestampFromDate(new Date(${JSON.stringify(example)}))`;
  const members = Object.entries(example as Record<string, unknown>).map(([name, value]) => {
    const field = message.fields.find(({ jsonName }) => jsonName === name)!;
    const text = Array.isArray(value)
      ? `[${value.map((element) => valueText(field, element)).join(', ')}]`
      : valueText(field, value);
    return `${name}: ${text}`;
  });
  return members.length === 0 ? '{}' : `{ ${members.join(', ')} }`;
}

function valueText(field: DescField, value: unknown): string {
  if (field.message !== undefined) return literal(field.message, value);
  if (field.scalar === ScalarType.INT64) return `${value}n`;
  if (field.scalar === ScalarType.BYTES) return `new TextEncoder().encode(${JSON.stringify(value)})`;
  return JSON.stringify(value);
}
