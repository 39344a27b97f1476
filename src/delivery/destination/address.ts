import type { SecretBox } from '../../access/links/secret-box.ts';
import type { JsonObject } from '../../base/json.ts';
import type { Destination } from '../../store/destinations.ts';

/** Address of a bucket, without its secret. */
export interface DestinationBucket extends JsonObject {
  /** Scheme, host, and port of the service. */
  url: string;
  bucket: string;
  region: string;
  /** Prefix of all names, without a slash at the end; may be empty. */
  prefix: string;
  accessKey: string;
}

/** Address that accepts PUT requests, without its secrets. */
export interface HttpsAddress extends JsonObject {
  /** URL without its query, with a slash at the end. */
  url: string;
  /** Names of the headers that are sent with each request. */
  headerNames: string[];
}

/** Secret of a bucket. */
export interface S3Secrets {
  secretKey: string;
}

/** Secrets of an address that accepts PUT requests. */
export interface HttpsSecrets {
  /** Query of the URL, with its question mark. Empty if there is none. */
  query: string;
  headers: Record<string, string>;
}

/** A destination with its decrypted secrets. */
export type OpenedDestination =
  | { type: 's3'; address: DestinationBucket; secrets: S3Secrets }
  | { type: 'https'; address: HttpsAddress; secrets: HttpsSecrets };

/** Encrypts the secrets of a destination. */
export function sealSecrets(
  box: SecretBox,
  { id, userId }: Pick<Destination, 'id' | 'userId'>,
  secrets: S3Secrets | HttpsSecrets,
): Pick<Destination, 'secrets' | 'secretsKey'> {
  const { sealed, key } = box.seal(JSON.stringify(secrets), contextOf(id, userId));
  return { secrets: sealed, secretsKey: key };
}

/** Decrypts the secrets of a destination. Returns null if the service does not have their key. */
export function openDestination(box: SecretBox, destination: Destination): OpenedDestination | null {
  const { id, userId, type, address, secrets } = destination;
  const text = box.open(secrets, contextOf(id, userId));
  return text === null ? null : ({ type, address, secrets: JSON.parse(text) } as OpenedDestination);
}

const contextOf = (id: string, userId: string) => `destination ${id} of ${userId}`;

/** Returns the place of a file in a destination, for people. */
export function targetOf({ type, address }: Pick<Destination, 'type' | 'address'>, path: string): string {
  if (type === 'https') return `${(address as HttpsAddress).url}${path}`;
  const { bucket, prefix } = address as DestinationBucket;
  return `s3://${[bucket, prefix, path].filter((part) => part !== '').join('/')}`;
}
