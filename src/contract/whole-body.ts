import { type DescField, type DescMessage, getOption, type Message } from '@bufbuild/protobuf';
import { whole_body as wholeBodyOption } from '../../gen/gleaner/options/v1/options_pb.ts';

/** Returns true if a field replaces the whole body in REST responses when it is set. */
export const isWholeBody = (field: DescField): boolean => getOption(field, wholeBodyOption);

/**
 * Returns the field of a message type that can replace the whole body, or undefined if there is
 * none.
 */
export const wholeBodyField = (schema: DescMessage): DescField | undefined =>
  schema.fields.find(isWholeBody);

/**
 * Returns the value of the field that replaces the whole body of a response, or undefined if it is
 * not set.
 */
export function wholeBodyOf(field: DescField, response: Message): Message | undefined {
  return (response as unknown as Record<string, Message | undefined>)[field.localName];
}
