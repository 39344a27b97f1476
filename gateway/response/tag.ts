import { hash } from 'node:crypto';
import type { DescField, DescMessage } from '@bufbuild/protobuf';

/** Returns a weak entity tag of a response's text, for responses without a tag from the core. */
export function textTag(text: string | Buffer): string {
  return `W/"${hash('sha256', text, 'base64url').slice(0, 22)}"`;
}

/**
 * Returns true if responses of a type are equal while nothing changes: they have no volatile field.
 */
export function isStable(
  schema: DescMessage,
  isVolatile: (field: DescField) => boolean,
  seen = new Set<DescMessage>(),
): boolean {
  if (seen.has(schema)) return true;
  seen.add(schema);
  return schema.fields.every(
    (field) =>
      !isVolatile(field) &&
      (field.message === undefined || isStable(field.message, isVolatile, seen)),
  );
}
