import {
  create,
  type DescField,
  type DescMessage,
  equals,
  getOption,
  type Message,
  ScalarType,
} from '@bufbuild/protobuf';
import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import { describe, expect, test } from 'vitest';
import { ListJobsResponseSchema, UnitSchema } from '../../gen/gleaner/job/v1/job_pb.ts';
import { json as jsonOption } from '../../gen/gleaner/options/v1/options_pb.ts';
import { messageReader } from '../contract/json/message-reader.ts';
import { messageWriter } from '../contract/json/message-writer.ts';
import { startReading } from '../contract/json/reading.ts';
import { services } from '../rpc/services.ts';
import { parseExact } from './exact-json.ts';
import { fromRest, toRest } from './rest-json.ts';

const methods = services.flatMap((service) => service.methods);
const each = (schemas: readonly DescMessage[]) => [
  ...new Map(
    schemas
      .filter(({ typeName }) => !typeName.startsWith('google.'))
      .map((schema) => [schema.typeName, schema]),
  ).values(),
];
const requests = each(methods.map(({ input }) => input));
const answers = each(methods.map(({ output }) => output));

/** A message with every field set. */
function full(schema: DescMessage): Message {
  return create(
    schema,
    Object.fromEntries(
      schema.fields.map((field) => [
        field.localName,
        field.fieldKind === 'list' ? [valueFor(field), valueFor(field)] : valueFor(field),
      ]),
    ),
  );
}

function valueFor(field: DescField): unknown {
  if (field.message?.typeName === 'google.protobuf.Timestamp') return timestampFromMs(1_800_000_000_123);
  if (field.message) return full(field.message);
  if (getOption(field, jsonOption)) return '{"id":12345678901234567890,"share":1.50,"name":"ä"}';
  switch (field.scalar) {
    case ScalarType.BOOL:
      return true;
    case ScalarType.BYTES:
      return new Uint8Array([1, 2, 250]);
    case ScalarType.DOUBLE:
      return 0.5;
    case ScalarType.INT64:
      return 9_007_199_254_740_993n;
    case ScalarType.STRING:
      return `${field.name} "quoted"`;
    default:
      return 7;
  }
}

describe.each([...requests, ...answers])('$typeName', (schema) => {
  test.each([
    ['with every field', full(schema)],
    ['with none', create(schema)],
  ])('%s is written as the gateway writes it, and read again', (_, message) => {
    const text = messageWriter(schema)(message);
    expect(toRest(schema, message)).toEqual(JSON.parse(text));
    expect(equals(schema, fromRest(schema, parseExact(text)), message)).toBe(true);
  });
});

test.each(requests)('$typeName is sent as the gateway reads it', (schema) => {
  const reading = startReading();
  const message = full(schema);
  // Integers beyond 2^53 are for answers alone.
  const text = JSON.stringify(toRest(schema, message, false)).replaceAll('"9007199254740993"', '7');
  const read = messageReader(schema)(JSON.parse(text), reading) as Message;
  expect(reading.problems).toEqual([]);
  expect(toRest(schema, read, false)).toEqual(JSON.parse(text));
});

test('numbers of a page stay as the site wrote them', () => {
  const text = '{"input":{"id":12345678901234567890,"price":1.50},"index":3}';
  expect(fromRest(UnitSchema, parseExact(text)).input).toBe('{"id":12345678901234567890,"price":1.50}');
});

test.each([
  ['[]', 'expected an object, not []'],
  ['{"jobs":{}}', 'jobs: expected a list, not {}'],
  ['{"jobs":[{"total":"3"}]}', 'jobs.0.total: expected an integer, not "3"'],
  ['{"jobs":[{"total":1.5}]}', 'jobs.0.total: expected an integer, not 1.5'],
  ['{"jobs":[{"ended":1}]}', 'jobs.0.ended: expected true or false, not 1'],
  ['{"jobs":[{"created_at":"soon"}]}', 'jobs.0.created_at: expected a time in ISO 8601, not "soon"'],
])('%s is refused', (text, message) => {
  expect(() => fromRest(ListJobsResponseSchema, parseExact(text))).toThrow(message);
});
