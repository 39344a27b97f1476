import { type DescField, type DescMessage, getOption } from '@bufbuild/protobuf';
import { expect, test } from 'vitest';
import { FieldBehavior, field_behavior } from '../../gen/google/api/field_behavior_pb.ts';
import { isRequired } from './rules.ts';
import { services } from './services.ts';

/** Returns a message and the messages of its fields. */
function messagesOf(message: DescMessage, seen = new Set<DescMessage>()): Set<DescMessage> {
  if (seen.has(message)) return seen;
  seen.add(message);
  for (const { message: part } of message.fields) if (part) messagesOf(part, seen);
  return seen;
}

const fields: readonly DescField[] = services
  .flatMap(({ methods }) => methods.flatMap(({ input }) => [...messagesOf(input)]))
  .flatMap((message) => message.fields);
const names = (of: readonly DescField[]) => [...new Set(of.map(String))];

test('required fields are marked for API tools, and no others', () => {
  const required = fields.filter(isRequired);
  const marked = fields.filter((field) =>
    getOption(field, field_behavior).includes(FieldBehavior.REQUIRED),
  );
  expect(required).not.toEqual([]);
  expect(names(marked)).toEqual(names(required));
});
