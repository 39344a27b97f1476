import { type DescField, type DescMessage, isMessage } from '@bufbuild/protobuf';
import { didYouMean } from '../../src/contract/suggest.ts';

/**
 * Throws a TypeError that names a member of a request that its message does not have, such as a
 * name of the REST API: the transport would leave it out, and the service ask for the field.
 */
export function requireKnownFields(schema: DescMessage, request: unknown, path = ''): void {
  // Messages of the library's own definitions, such as Timestamp, also have other forms.
  if (!isRecord(request) || schema.typeName.startsWith('google.protobuf.')) return;
  if (isMessage(request)) return;
  const fields = new Map(schema.fields.map((field) => [field.localName, field]));
  const names = [...fields.keys(), ...schema.oneofs.map(({ localName }) => localName), '$typeName'];
  for (const [name, value] of Object.entries(request)) {
    const location = path === '' ? name : `${path}.${name}`;
    if (!names.includes(name)) throw unknownField(schema, location, name);
    const field = fields.get(name);
    if (field !== undefined) requireKnownMembers(field, value, location);
  }
}

function requireKnownMembers(field: DescField, value: unknown, location: string): void {
  if (field.fieldKind === 'message') requireKnownFields(field.message, value, location);
  if (field.fieldKind !== 'list' || field.listKind !== 'message' || !Array.isArray(value)) return;
  for (const [index, element] of value.entries())
    requireKnownFields(field.message, element, `${location}[${index}]`);
}

function unknownField({ name, fields }: DescMessage, location: string, member: string): TypeError {
  const names = fields.map(({ localName }) => localName);
  const hint = didYouMean(member, names) || ` Its fields are ${names.join(', ')}.`;
  return new TypeError(`${location} is not a field of ${name}.${hint}`);
}

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null;
