import { type DescFile, type DescMessage, getOption } from '@bufbuild/protobuf';
import { json_shape as shapeOption } from '../../gen/gleaner/options/v1/options_pb.ts';

/** Part of an exchange that a schema describes. */
export type Direction = 'request' | 'response';

/** Returns the name of the component that describes a message type. */
export type NameSchema = (message: DescMessage, direction: Direction) => string;

/**
 * Creates the names of a document's schemas. A type that both requests and responses contain has
 * two schemas, since they differ in required fields; the schema for requests has the suffix
 * `Input`. Throws an Error for two types of one name.
 */
export function createSchemaNames(
  responses: readonly DescMessage[],
  nameOf: (message: DescMessage) => string = ({ name }) => name,
): NameSchema {
  const returned = reachable(responses);
  const owners = new Map<string, DescMessage>();
  return (message, direction) => {
    const suffix = direction === 'request' && returned.has(message) ? 'Input' : '';
    const name = `${nameOf(message)}${suffix}`;
    const owner = owners.get(name) ?? message;
    if (owner !== message)
      throw new Error(`${message.typeName} and ${owner.typeName} have one schema name: ${name}`);
    owners.set(name, message);
    return name;
  };
}

/** Returns the types that responses of these types contain. */
function reachable(messages: readonly DescMessage[]): Set<DescMessage> {
  const found = new Set<DescMessage>();
  const visit = (message: DescMessage | undefined) => {
    if (message === undefined || found.has(message)) return;
    found.add(message);
    for (const field of message.fields) {
      visit(field.message);
      const { type } = getOption(field, shapeOption);
      if (type !== '') visit(findMessage(message.file, type));
    }
  };
  for (const message of messages) visit(message);
  return found;
}

/**
 * Returns a message type by its full name, from a file or its imports. Throws an Error for an
 * unknown one.
 */
export function findMessage(file: DescFile, typeName: string): DescMessage {
  const files = new Set([file]);
  for (const candidate of files) {
    const message = candidate.messages.find((each) => each.typeName === typeName);
    if (message !== undefined) return message;
    for (const imported of candidate.dependencies) files.add(imported);
  }
  throw new Error(`${file.name} knows no message ${typeName}`);
}
