import { createCipheriv, createDecipheriv, createHash, hkdfSync, randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { Clock } from '../base/clock.ts';
import { openPrivateFolder, restrictFile } from '../base/data-dir.ts';
import { createSecretFile, readSecretFile } from './secret-file.ts';

/** An encrypted text and the id of the key that encrypted it. */
export interface SealedText {
  sealed: string;
  key: string;
}

/** Encrypts secrets that the service stores for its users. */
export interface SecretBox {
  /** Encrypts a text with the newest key. `context` names its owner; the text can be opened only with the same one. */
  seal(text: string, context: string): SealedText;
  /** Decrypts a text. Returns null if its key is unknown, or if the text or its context was changed. */
  open(sealed: string, context: string): string | null;
  /** Returns the id of the key that encrypts new texts, or null if there is none yet. */
  newestKey(): string | null;
}

/** Options for openSecretBox(). */
export interface SecretBoxOptions {
  /** Secrets from which keys are derived, newest first (GLEANER_LINK_SECRETS); null: those of a file in the data folder. */
  configured: readonly string[] | null;
  dataDir: string;
  clock: Clock;
}

/** Name of the file with the secrets in the data folder. It exists once a text was encrypted. */
export const encryptionFile = 'encryption-secrets.json';

const readIntervalMs = 60_000;
const cipher = 'aes-256-gcm';
const ivBytes = 12;
const tagBytes = 16;

interface Key {
  id: string;
  bytes: Buffer;
}

function deriveKey(secret: string): Key {
  const bytes = Buffer.from(hkdfSync('sha256', secret, '', 'gleaner stored secrets', 32));
  return { id: createHash('sha256').update(bytes).digest('hex').slice(0, 16), bytes };
}

/**
 * Opens the keys, which are derived from the configured secrets, and from those in `<data dir>/encryption-secrets.json`
 * (mode 0600). Without configured secrets, the first encryption creates the file. Throws an Error that names the file
 * if it cannot be read or written.
 */
export function openSecretBox({ configured, dataDir, clock }: SecretBoxOptions): SecretBox {
  const file = join(dataDir, encryptionFile);
  const configuredKeys = (configured ?? []).map(deriveKey);
  let fileKeys: Key[] = [];
  let readAt = Number.NEGATIVE_INFINITY;

  const readFile = () => {
    readAt = clock.now();
    if (!existsSync(file)) return;
    restrictFile(file);
    const entries = readSecretFile(file, 'secrets encrypted so far must be entered again');
    fileKeys = entries.map(({ secret }) => deriveKey(secret));
  };
  const allKeys = () => {
    if (clock.now() - readAt >= readIntervalMs) readFile();
    return [...configuredKeys, ...fileKeys];
  };
  const findKey = (id: string): Key | undefined => {
    const isKey = (key: Key) => key.id === id;
    const known = allKeys().find(isKey);
    if (known !== undefined) return known;
    // Another process may have created the file.
    readFile();
    return fileKeys.find(isKey);
  };
  const newest = (): Key => {
    const [known] = allKeys();
    if (known !== undefined) return known;
    openPrivateFolder(dataDir);
    createSecretFile(file, clock.now());
    readFile();
    return fileKeys[0]!;
  };

  return {
    seal(text, context) {
      const { id, bytes } = newest();
      const iv = randomBytes(ivBytes);
      const encryption = createCipheriv(cipher, bytes, iv).setAAD(Buffer.from(context));
      const data = [iv, encryption.update(text, 'utf8'), encryption.final(), encryption.getAuthTag()];
      return { sealed: `${id}.${Buffer.concat(data).toString('base64url')}`, key: id };
    },
    open(sealed, context) {
      const [id = '', data = ''] = sealed.split('.');
      const key = findKey(id);
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
    newestKey: () => allKeys()[0]?.id ?? null,
  };
}
