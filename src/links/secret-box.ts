import { sha256 } from '../base/id.ts';
import { deriveKey, seal, unseal } from '../base/sealing.ts';

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
   * Encrypts a text with the newest key. `context` names its owner; the text can be opened only
   * with the same one.
   */
  seal(text: string, context: string): SealedText;
  /**
   * Decrypts a text. Returns null if its key is unknown, or if the text or its context was changed.
   */
  open(sealed: string, context: string): string | null;
}

/** Creates a box with keys that are derived from the secrets of the service, newest first. */
export function createSecretBox(secrets: readonly string[]): SecretBox {
  const keys = secrets.map((secret) => {
    const bytes = deriveKey(secret, 'gleaner stored secrets');
    return { id: sha256(bytes).slice(0, 16), bytes };
  });
  const newest = keys[0]!;
  return {
    newestKey: newest.id,
    seal: (text, context) => ({
      sealed: `${newest.id}.${seal(text, newest.bytes, context)}`,
      key: newest.id,
    }),
    open(sealed, context) {
      const [keyId, data = ''] = sealed.split('.');
      const key = keys.find(({ id }) => id === keyId);
      return key === undefined ? null : unseal(data, key.bytes, context);
    },
  };
}
