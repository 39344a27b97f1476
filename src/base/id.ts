import { hash, randomBytes, randomUUID } from 'node:crypto';

/** Generates ids. Injected so that tests can predict them. */
export type NewId = () => string;

/** Generates a random UUID. */
export const newId: NewId = () => randomUUID();

/** Returns a UUID derived from `name`: equal names give equal ids. */
export function idFromName(name: string): string {
  const hex = sha256(name);
  const variant = '89ab'[Number.parseInt(hex[16]!, 16) & 3];
  // UUID version 8: custom content (RFC 9562).
  return [
    hex.slice(0, 8),
    hex.slice(8, 12),
    `8${hex.slice(13, 16)}`,
    `${variant}${hex.slice(17, 20)}`,
    hex.slice(20, 32),
  ].join('-');
}

/** Generates an API key: a prefix that identifies leaked keys, and 32 random bytes. */
export function newApiKey(): string {
  return `gl_${randomBytes(32).toString('base64url')}`;
}

/** Generates an API key for test mode: `gl_test_` and 32 random bytes. */
export function newTestKey(): string {
  return `gl_test_${randomBytes(32).toString('base64url')}`;
}

/**
 * Returns the SHA-256 hash in hexadecimal. Keys are stored, and request bodies compared, by this
 * hash.
 */
export function sha256(data: string | Uint8Array): string {
  return hash('sha256', data, 'hex');
}

const generatedKey = /^(gl_test_|gl_)[A-Za-z0-9_-]{43}$/;

/**
 * Returns the first characters of a generated API key, for display: the form's prefix and four
 * random characters. Empty for any other secret, since its characters would help to guess the rest.
 */
export function keyPrefix(secret: string): string {
  const form = generatedKey.exec(secret)?.[1];
  return form === undefined ? '' : secret.slice(0, form.length + 4);
}
