import { hash } from 'node:crypto';
import type { DescMessage } from '@bufbuild/protobuf';

/** A tag of an answer's text, for answers that the core gives none. Weak. */
export function textTag(text: string): string {
  return `W/"${hash('sha256', text, 'base64url').slice(0, 22)}"`;
}

/** Whether answers of a type stay the same while nothing changes: signed links differ at every call. */
export function isStable(schema: DescMessage, seen = new Set<DescMessage>()): boolean {
  if (seen.has(schema)) return true;
  seen.add(schema);
  return schema.fields.every(
    ({ name, message }) => name !== 'download_url' && (message === undefined || isStable(message, seen)),
  );
}
