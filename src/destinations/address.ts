import type { JsonObject } from '../base/json.ts';
import type { Log } from '../base/log.ts';
import type { SecretBox } from '../links/secret-box.ts';
import type { Destination } from '../store/destinations.ts';
import type { Store } from '../store/store.ts';

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
export function openDestination(
  box: SecretBox,
  destination: Destination,
): OpenedDestination | null {
  const { id, userId, type, address, secrets } = destination;
  const text = box.open(secrets, contextOf(id, userId));
  if (text === null) return null;
  return { type, address, secrets: JSON.parse(text) } as OpenedDestination;
}

/** Destinations per call. */
const maxDestinations = 200;

/**
 * Encrypts the secrets of destinations with the newest key, so that the earlier keys can be removed
 * after a rotation. Secrets whose key is unknown stay as they are. Each step can be repeated;
 * concurrent calls do no harm.
 */
export async function resealDestinations(
  { store, log }: { store: Pick<Store, 'destinations'>; log: Log },
  box: SecretBox,
): Promise<void> {
  const key = box.newestKey;
  let count = 0;
  for (const destination of await store.destinations.find(
    { secretsKey: { not: key } },
    { order: ['secretsKey', 'id'], limit: maxDestinations },
  )) {
    const opened = openDestination(box, destination);
    if (opened === null) continue;
    const sealed = sealSecrets(box, destination, opened.secrets);
    const revision = destination.revision + 1;
    if (await store.destinations.put({ ...destination, ...sealed, revision })) count += 1;
  }
  if (count > 0) log.info({ count }, 'secrets of destinations encrypted with the newest key');
}

const contextOf = (id: string, userId: string) => `destination ${id} of ${userId}`;

/** Returns the URL of a file in a destination, for display. */
export function targetOf(
  { type, address }: Pick<Destination, 'type' | 'address'>,
  path: string,
): string {
  if (type === 'https') return `${(address as HttpsAddress).url}${path}`;
  const { bucket, prefix } = address as DestinationBucket;
  return `s3://${[bucket, prefix, path].filter((part) => part !== '').join('/')}`;
}
