import { createPublicKey, verify } from 'node:crypto';

/** Headers by lower-case name. */
type Headers = Readonly<Record<string, string | string[] | undefined>>;

/** A received message with signatures; `request` is the request of a response. */
export interface SignedMessage {
  method?: string;
  url?: string;
  headers: Headers;
  request?: Omit<SignedMessage, 'request'>;
}

/** A signature that was verified. */
export interface VerifiedSignature {
  label: string;
  components: string[];
  parameters: Record<string, string | number>;
}

/** An Ed25519 key as a JWK. */
export interface PublicJwk {
  kty: string;
  crv: string;
  x: string;
}

const member = /([a-z][a-z0-9_.*-]*)=(\(([^)]*)\)((?:;[a-z]+=(?:"[^"]*"|\d+))*))(?:, |$)/gy;

/**
 * Verifies all Ed25519 signatures of a message by RFC 9421, with independent code and Node's
 * crypto. `keyOf` returns the key with an id. Throws for a signature that is not valid, and for a
 * message without one.
 */
export function verifyMessage(
  message: SignedMessage,
  keyOf: (keyid: string) => PublicJwk | undefined,
): VerifiedSignature[] {
  const input = headerOf(message, 'signature-input');
  const verified = [...input.matchAll(member)].map(([, label, params, components, rest]) => {
    const parameters = Object.fromEntries(
      [...rest!.matchAll(/;([a-z]+)=(?:"([^"]*)"|(\d+))/g)].map(([, name, text, number]) => [
        name!,
        text ?? Number(number),
      ]),
    );
    const names = components === '' ? [] : components!.split(' ');
    const lines = names.map((component) => `${component}: ${componentOf(message, component)}`);
    const base = [...lines, `"@signature-params": ${params}`].join('\n');
    const signature = new RegExp(`(?:^|, )${label}=:([A-Za-z0-9+/=]+):`).exec(
      headerOf(message, 'signature'),
    );
    const jwk = keyOf(`${parameters.keyid}`);
    if (jwk === undefined) throw new Error(`no key ${parameters.keyid}`);
    const key = createPublicKey({ key: { ...jwk }, format: 'jwk' });
    if (!signature || !verify(null, Buffer.from(base), key, Buffer.from(signature[1]!, 'base64')))
      throw new Error(`the signature ${label} is not valid:\n${base}`);
    return { label: label!, components: names, parameters };
  });
  if (verified.length === 0) throw new Error(`no signature in ${input}`);
  return verified;
}

function headerOf({ headers }: SignedMessage, name: string): string {
  const value = headers[name];
  if (value === undefined) throw new Error(`no header ${name}`);
  return `${value}`;
}

function componentOf(message: SignedMessage, component: string): string {
  const [, name, parameters] = /^"([^"]+)"(.*)$/.exec(component)!;
  const from = parameters === ';req' ? message.request! : message;
  if (!name!.startsWith('@')) {
    const value = headerOf(from, name!);
    const key = /^;key="(.+)"$/.exec(parameters!);
    return key ? new RegExp(`(?:^|, )${key[1]}=("[^"]*")`).exec(value)![1]! : value;
  }
  const { host, pathname } = new URL(from.url!);
  const derived = { '@method': from.method, '@authority': host, '@path': pathname }[name!];
  if (derived === undefined) throw new Error(`the component ${component} is not expected`);
  return derived;
}
