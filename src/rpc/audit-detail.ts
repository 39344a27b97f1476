import { type DescMethod, type Message, ScalarType, toJson } from '@bufbuild/protobuf';

import { originOnly } from '../contract/redact.ts';

/** Maximum characters of a detail. */
const maxDetail = 2_000;
/** Maximum entries of a list that a detail shows. */
const maxEntries = 20;

/**
 * Returns the request of an audited call as JSON text, up to 2,000 characters. Longer lists and files are replaced by
 * their size, so that the cost of an entry does not grow with the request. Secrets (`debug_redact` in the contract) are
 * left out, except for the origins of addresses.
 */
export function auditDetail({ input }: DescMethod, request: Message): string {
  const sizes: Record<string, string> = {};
  const values = request as unknown as Record<string, unknown>;
  for (const { name, localName, fieldKind, scalar, proto } of input.fields) {
    const value = values[localName];
    if (proto.options?.debugRedact) {
      const isGiven =
        fieldKind === 'list' ? (value as unknown[]).length > 0 : value !== undefined && value !== '';
      if (isGiven) sizes[name] = typeof value === 'string' ? originOnly(value) : 'redacted';
    } else if (fieldKind === 'list' && (value as unknown[]).length > maxEntries)
      sizes[name] = `${(value as unknown[]).length} entries`;
    else if (scalar === ScalarType.BYTES && (value as Uint8Array).length > 0)
      sizes[name] = `${(value as Uint8Array).length} bytes`;
  }
  const shown = Object.keys(sizes).length === 0 ? request : withoutFields(input, request, sizes);
  const json = toJson(input, shown, { useProtoFieldName: true });
  return JSON.stringify({ ...(json as object), ...sizes }).slice(0, maxDetail);
}

function withoutFields(
  input: DescMethod['input'],
  request: Message,
  left: Readonly<Record<string, unknown>>,
): Message {
  const kept: Record<string, unknown> = { ...request };
  for (const { name, localName, fieldKind, scalar } of input.fields)
    if (name in left)
      kept[localName] = fieldKind === 'list' ? [] : scalar === ScalarType.BYTES ? new Uint8Array() : '';
  return kept as unknown as Message;
}
