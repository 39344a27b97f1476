import type { DescField, DescMessage, MessageInitShape, MessageShape } from '@bufbuild/protobuf';
import { TimestampSchema, timestampFromMs } from '@bufbuild/protobuf/wkt';
import { isBig } from '../../contract/json/values.ts';

type Convert = (value: never) => unknown;

/** Fields of a message as a plain object. */
type PlainMessage<D extends DescMessage> = Exclude<MessageInitShape<D>, MessageShape<D>>;

/**
 * Returns a function that converts documents to a message: it sets the fields that a document has
 * under the same name, except for `omitted` ones. Times in milliseconds become timestamps, and null
 * leaves a field unset.
 */
export function toMessage<D extends DescMessage>(
  schema: D,
  ...omitted: readonly string[]
): (document: object) => PlainMessage<D> {
  const includedFields = schema.fields.filter(({ localName }) => !omitted.includes(localName));
  const converters = includedFields.map((field) => [field.localName, converterOf(field)] as const);
  return (document) => {
    const message: Record<string, unknown> = {};
    for (const [name, convert] of converters) {
      const value = (document as Record<string, unknown>)[name];
      if (value !== undefined && value !== null) message[name] = convert(value as never);
    }
    return message as PlainMessage<D>;
  };
}

function converterOf(field: DescField): Convert {
  const convert = singleConverter(field);
  return field.fieldKind === 'list' ? (values: readonly never[]) => values.map(convert) : convert;
}

function singleConverter({ message, scalar }: DescField): Convert {
  if (message === undefined)
    return scalar !== undefined && isBig(scalar) ? BigInt : (value) => value;
  if (message.typeName === TimestampSchema.typeName) return timestampFromMs;
  // Created when the first value is converted, because messages may contain each other.
  let nested: Convert | undefined;
  return (value) => {
    nested ??= toMessage(message);
    return nested(value);
  };
}
