import { hash, randomBytes, randomUUID } from 'node:crypto';

/** Makes ids. Handed in where a test wants to know them beforehand. */
export type NewId = () => string;

/** A random uuid. */
export const newId: NewId = () => randomUUID();

/** A new API key: 32 random bytes behind a prefix to recognise leaked ones by. */
export function newApiKey(): string {
  return `gl_${randomBytes(32).toString('base64url')}`;
}

/** SHA-256 as hexadecimal text: how keys are stored and bodies compared. */
export function sha256(data: string | Uint8Array): string {
  return hash('sha256', data, 'hex');
}
