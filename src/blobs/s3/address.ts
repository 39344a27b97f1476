import { ConfigError } from '../../base/config.ts';

/** A bucket, parsed from a URL such as GLEANER_S3_URL. */
export interface S3Address {
  /** Scheme, host and port. */
  endpoint: string;
  bucket: string;
  region: string;
  /** If undefined, the default credential chain of AWS is used. */
  credentials: { accessKeyId: string; secretAccessKey: string } | undefined;
  /** Base URL of presigned links, for clients that reach the storage under another name. */
  publicEndpoint: string;
}

const form =
  'https://[key:secret@]host[:port]/bucket[?region=us-east-1&public=https://files.example.org]';

/**
 * Parses a bucket's URL. `name` is the name of the setting in messages. Throws a ConfigError that
 * never contains the credentials.
 */
export function parseAddress(text: string, name = 'GLEANER_S3_URL'): S3Address {
  const url = URL.parse(text);
  const bucket = url?.pathname.replace(/^\/|\/$/g, '') ?? '';
  if (url === null || !/^https?:$/.test(url.protocol))
    throw new ConfigError(`${name}: expected ${form}`);
  if (!/^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$/.test(bucket)) {
    throw new ConfigError(
      `${name}: ${JSON.stringify(bucket)} is not a bucket name; expected ${form}`,
    );
  }
  if ((url.username === '') !== (url.password === '')) {
    throw new ConfigError(`${name}: a key requires a secret and vice versa; expected ${form}`);
  }
  return {
    endpoint: url.origin,
    bucket,
    region: url.searchParams.get('region') ?? 'us-east-1',
    credentials:
      url.username === ''
        ? undefined
        : {
            accessKeyId: decodeURIComponent(url.username),
            secretAccessKey: decodeURIComponent(url.password),
          },
    publicEndpoint: publicEndpoint(url, name),
  };
}

function publicEndpoint(url: URL, name: string): string {
  const text = url.searchParams.get('public');
  if (text === null) return url.origin;
  const parsed = URL.parse(text);
  if (parsed === null || !/^https?:$/.test(parsed.protocol) || parsed.pathname !== '/') {
    throw new ConfigError(`${name}: public=${text} is not a URL such as https://files.example.org`);
  }
  return parsed.origin;
}
