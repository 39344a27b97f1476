import { hash, randomBytes, randomUUID } from 'node:crypto';

/** Makes ids. Handed in where a test wants to know them beforehand. */
export type NewId = () => string;

/** A random uuid. */
export const newId: NewId = () => randomUUID();

/** The uuid that a name always comes to. */
export function nameId(name: string): string {
  const hex = sha256(name);
  const variant = '89ab'[Number.parseInt(hex[16]!, 16) & 3];
  // Version 8: made as its maker likes (RFC 9562).
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-8${hex.slice(13, 16)}-${variant}${hex.slice(17, 20)}-${hex.slice(20, 32)}`;
}

/** A new API key: 32 random bytes behind a prefix to recognise leaked ones by. */
export function newApiKey(): string {
  return `gl_${randomBytes(32).toString('base64url')}`;
}

/** SHA-256 as hexadecimal text: how keys are stored and bodies compared. */
export function sha256(data: string | Uint8Array): string {
  return hash('sha256', data, 'hex');
}
