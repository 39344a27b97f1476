import { createCipheriv, createDecipheriv, createHash, randomBytes } from 'node:crypto';
import { deriveKey } from './secrets.ts';

/** An encrypted text and the id of the key that encrypted it. */
export interface SealedText {
  sealed: string;
  key: string;
}

/** Encrypts secrets that the service stores for its users. */
export interface SecretBox {
  /** Id of the key that encrypts new texts. */
  readonly newestKey: string;
  /**
   * Encrypts a text with the newest key. `context` names its owner; the text can be opened only with the same
   * one.
   */
  seal(text: string, context: string): SealedText;
  /** Decrypts a text. Returns null if its key is unknown, or if the text or its context was changed. */
  open(sealed: string, context: string): string | null;
}

const cipher = 'aes-256-gcm';
const ivBytes = 12;
const tagBytes = 16;

/** Creates a box with keys that are derived from the secrets of the service, newest first. */
export function createSecretBox(secrets: readonly string[]): SecretBox {
  const keys = secrets.map((secret) => {
    const bytes = deriveKey(secret, 'gleaner stored secrets');
    return { id: createHash('sha256').update(bytes).digest('hex').slice(0, 16), bytes };
  });
  const newest = keys[0]!;
  return {
    newestKey: newest.id,
    seal(text, context) {
      const iv = randomBytes(ivBytes);
      const encryption = createCipheriv(cipher, newest.bytes, iv).setAAD(Buffer.from(context));
      const data = [iv, encryption.update(text, 'utf8'), encryption.final(), encryption.getAuthTag()];
      return { sealed: `${newest.id}.${Buffer.concat(data).toString('base64url')}`, key: newest.id };
    },
    open(sealed, context) {
      const [keyId, data = ''] = sealed.split('.');
      const key = keys.find(({ id }) => id === keyId);
      const bytes = Buffer.from(data, 'base64url');
      if (key === undefined || bytes.length < ivBytes + tagBytes) return null;
      const decryption = createDecipheriv(cipher, key.bytes, bytes.subarray(0, ivBytes))
        .setAAD(Buffer.from(context))
        .setAuthTag(bytes.subarray(-tagBytes));
      try {
        const text = decryption.update(bytes.subarray(ivBytes, -tagBytes));
        return Buffer.concat([text, decryption.final()]).toString('utf8');
      } catch {
        return null;
      }
    },
  };
}
