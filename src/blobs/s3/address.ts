import { ConfigError } from '../../base/config.ts';

/** Where files are kept, as GLEANER_S3_URL says it. */
export interface S3Address {
  /** Scheme, host and port. */
  endpoint: string;
  bucket: string;
  region: string;
  /** Undefined: found the way AWS's own tools do. */
  credentials: { accessKeyId: string; secretAccessKey: string } | undefined;
  /** What signed links start with, where clients reach the storage by another name than we do. */
  publicEndpoint: string;
}

const form = 'https://[key:secret@]host[:port]/bucket[?region=us-east-1&public=https://files.example.org]';

/** Reads GLEANER_S3_URL. Throws ConfigError; its words never hold the credentials. */
export function parseAddress(text: string): S3Address {
  const url = URL.parse(text);
  const bucket = url?.pathname.replace(/^\/|\/$/g, '') ?? '';
  if (url === null || !/^https?:$/.test(url.protocol))
    throw new ConfigError(`GLEANER_S3_URL: expected ${form}`);
  if (!/^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$/.test(bucket)) {
    throw new ConfigError(`GLEANER_S3_URL: ${JSON.stringify(bucket)} is no bucket's name; expected ${form}`);
  }
  if ((url.username === '') !== (url.password === '')) {
    throw new ConfigError(`GLEANER_S3_URL: a key and its secret go together; expected ${form}`);
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
    publicEndpoint: publicEndpoint(url),
  };
}

function publicEndpoint(url: URL): string {
  const named = url.searchParams.get('public');
  if (named === null) return url.origin;
  const read = URL.parse(named);
  if (read === null || !/^https?:$/.test(read.protocol) || read.pathname !== '/') {
    throw new ConfigError(`GLEANER_S3_URL: public=${named} is no address such as https://files.example.org`);
  }
  return read.origin;
}
