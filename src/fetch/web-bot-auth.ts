import { createHash, createPrivateKey, createPublicKey, randomBytes, sign } from 'node:crypto';
import {
  component,
  createSignatureSync,
  type MessageDescriptor,
  type SignatureFields,
} from 'http-message-sig';
import type { Clock } from '../base/clock.ts';

/** Headers that sign a request, by lower-case name. */
export type SignRequest = (method: string, url: string) => Record<string, string>;

/** Identity of this crawler: its keys, published under its address (Web Bot Auth). */
export interface BotIdentity {
  /**
   * Returns the headers that sign a request, for its method, authority, and path. They are valid
   * for 5 minutes.
   */
  signRequest: SignRequest;
  /**
   * Returns the directory of the public keys, with a signature by each of them that is valid for a
   * day.
   */
  directory(): { headers: Record<string, string>; body: string };
}

/** Options for createBotIdentity(). */
export interface BotIdentityOptions {
  /**
   * Seeds of the Ed25519 keys, 32 bytes each. The first key signs requests; all are in the
   * directory.
   */
  seeds: readonly Buffer[];
  /** Origin of the directory, with https. */
  agent: string;
  clock: Pick<Clock, 'now'>;
}

/** Path of the directory of keys. */
const directoryPath = '/.well-known/http-message-signatures-directory';

const directoryType = 'application/http-message-signatures-directory+json';

/** Duration of the signature of a request and of the directory, in seconds. */
const requestSeconds = 300;
const directorySeconds = 86_400;

/** Label of a request's signature, and key of its member of `Signature-Agent`. */
const label = 'sig1';

const requestComponents = [
  '@authority',
  '@method',
  '@path',
  component('signature-agent', { key: label }),
];
const directoryComponents = [component('@authority', { req: true }), 'content-digest'];

/**
 * Creates the identity of this crawler. docs/fetching.md names the draft that defines its headers.
 */
export function createBotIdentity({ seeds, agent, clock }: BotIdentityOptions): BotIdentity {
  const keys = seeds.map(createBotKey);
  const [newest] = keys as [BotKey];
  const validity = (seconds: number) => {
    const created = Math.floor(clock.now() / 1000);
    return { created, expires: created + seconds };
  };
  const signatureAgent = `${label}="${agent}"`;
  const body = JSON.stringify({ keys: keys.map(({ jwk }) => jwk) });
  const digest = `sha-256=:${createHash('sha256').update(body).digest('base64')}:`;
  return {
    signRequest(method, url) {
      const fields = [{ name: 'signature-agent', value: signatureAgent }];
      const { signature, signatureInput } = signMessage(
        newest,
        {
          kind: 'request',
          method,
          targetUri: url,
          fields,
        },
        {
          label,
          components: requestComponents,
          parameters: {
            ...validity(requestSeconds),
            keyid: newest.keyid,
            nonce: randomBytes(64).toString('base64'),
            tag: 'web-bot-auth',
          },
        },
      );
      return { 'signature-agent': signatureAgent, 'signature-input': signatureInput, signature };
    },
    directory() {
      // The authority is this service's own, whatever host a caller names: no other may show these
      // keys as its own.
      const request = {
        kind: 'request',
        method: 'GET',
        targetUri: agent + directoryPath,
        fields: [],
      } as const;
      const fields = [{ name: 'content-digest', value: digest }];
      const parameters = {
        ...validity(directorySeconds),
        tag: 'http-message-signatures-directory',
      };
      const signatures = keys.map((key, index) =>
        signMessage(
          key,
          {
            kind: 'response',
            status: 200,
            fields,
            request,
          },
          {
            label: `key${index}`,
            components: directoryComponents,
            parameters: { ...parameters, keyid: key.keyid },
          },
        ),
      );
      const headers = {
        'content-type': directoryType,
        'content-digest': digest,
        'signature-input': signatures.map(({ signatureInput }) => signatureInput).join(', '),
        signature: signatures.map(({ signature }) => signature).join(', '),
      };
      return { headers, body };
    },
  };
}

/** An Ed25519 key. */
export interface BotKey {
  /** JWK thumbprint of the public key (RFC 7638, RFC 8037). */
  keyid: string;
  /** Public key for the directory. */
  jwk: Record<'kty' | 'crv' | 'kid' | 'x' | 'use', string>;
  sign(data: Uint8Array): Uint8Array;
}

/** Start of a PKCS #8 document with an Ed25519 key; the seed follows (RFC 8410, section 7). */
const pkcs8Start = Buffer.from('302e020100300506032b657004220420', 'hex');

/** Creates an Ed25519 key from its seed of 32 bytes. */
export function createBotKey(seed: Buffer): BotKey {
  const key = createPrivateKey({
    key: Buffer.concat([pkcs8Start, seed]),
    format: 'der',
    type: 'pkcs8',
  });
  const { x } = createPublicKey(key).export({ format: 'jwk' }) as { x: string };
  const kind = { crv: 'Ed25519', kty: 'OKP' };
  // The members of a thumbprint are in alphabetical order.
  const keyid = createHash('sha256')
    .update(JSON.stringify({ ...kind, x }))
    .digest('base64url');
  return {
    keyid,
    jwk: { ...kind, kid: keyid, x, use: 'sig' },
    sign: (data) => sign(null, data, key),
  };
}

/** Signs components of a message (RFC 9421). */
export function signMessage(
  key: BotKey,
  message: MessageDescriptor,
  options: Pick<Parameters<typeof createSignatureSync>[1], 'label' | 'components' | 'parameters'>,
): SignatureFields {
  return createSignatureSync(message, {
    ...options,
    signer: { algorithm: 'ed25519', sign: key.sign },
  });
}
