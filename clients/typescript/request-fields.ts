import { type DescField, type DescMessage, isMessage, ScalarType } from '@bufbuild/protobuf';

/**
 * Throws a TypeError for a member of a request that spells the name of a field in another way, such
 * as the name of the REST API: the transport would leave it out, and the service ask for the field.
 * So it does for an object in place of JSON text.
 */
export function requireFieldNames(schema: DescMessage, request: unknown, path = ''): void {
  // Messages of the library's own definitions, such as Timestamp, also have other forms.
  if (!isRecord(request) || schema.typeName.startsWith('google.protobuf.')) return;
  if (isMessage(request)) return;
  for (const [name, value] of Object.entries(request)) {
    const location = path === '' ? name : `${path}.${name}`;
    if (Object.hasOwn(schema.field, name)) {
      requireNamesBelow(schema.field[name]!, value, location);
      continue;
    }
    const meant = schema.fields.find(({ localName }) => plain(localName) === plain(name));
    if (meant !== undefined)
      throw new TypeError(`${location} is written ${meant.localName} in ${schema.name}`);
  }
}

function requireNamesBelow(field: DescField, value: unknown, location: string): void {
  const isText = field.fieldKind === 'scalar' && field.scalar === ScalarType.STRING;
  if (isText && isRecord(value))
    throw new TypeError(`${location} takes a string. Pass JSON as text: JSON.stringify(…)`);
  if (field.fieldKind === 'message') requireFieldNames(field.message, value, location);
  if (field.fieldKind !== 'list' || field.listKind !== 'message' || !Array.isArray(value)) return;
  for (const [index, element] of value.entries())
    requireFieldNames(field.message, element, `${location}[${index}]`);
}

const plain = (name: string): string => name.replaceAll('_', '').toLowerCase();

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null;
