import { Fault, type Problem } from '../contract/fault.ts';
import { problemOfTarget } from '../fetch/target.ts';
import type { DestinationFormat, DestinationType } from '../store/destinations.ts';
import type { HttpsSecrets, OpenedDestination, S3Secrets } from './address.ts';
import { defaultPath, problemOfPath, problemOfPrefix } from './path-template.ts';

/**
 * Settings of a destination as its user entered them. The patterns of the contract hold for each
 * text.
 */
export interface DestinationInput {
  type: DestinationType;
  url: string;
  bucket: string;
  region: string;
  prefix: string;
  accessKey: string;
  secretKey: string;
  headers: readonly { name: string; value: string }[];
  query: string;
  format: string;
  path: string;
  /** True to remove stored headers and a stored query that the settings do not contain. */
  clearSecrets: boolean;
}

/** Validated settings of a destination. */
export interface DestinationSettings {
  destination: OpenedDestination;
  format: DestinationFormat;
  path: string;
}

/** Headers that the service sets itself, or that concern the connection. */
const reservedHeaders: ReadonlySet<string> = new Set([
  'host',
  'connection',
  'content-length',
  'content-type',
  'content-digest',
  'content-encoding',
  'repr-digest',
  'transfer-encoding',
  'expect',
  'upgrade',
  'te',
  'trailer',
  'keep-alive',
  'user-agent',
]);

/** Returns true for a header that a destination cannot have. `name` is in lower case. */
const isReserved = (name: string): boolean =>
  reservedHeaders.has(name) || name.startsWith('proxy-');

/**
 * Validates the settings of a destination. `stored`: the destination that they replace, whose
 * secrets are kept where the settings contain none and the address stays the same. Throws `invalid`
 * with all problems.
 */
export function readSettings(
  input: DestinationInput,
  stored: OpenedDestination | null,
  allowPrivate: boolean,
): DestinationSettings {
  const problems: Problem[] = [];
  const check = (field: string, problem: string | null) => {
    if (problem !== null)
      problems.push({ loc: ['body', field], msg: problem, type: 'value_error' });
  };
  const path = input.path === '' ? defaultPath : input.path;
  check('url', problemOfUrl(input.url, allowPrivate));
  check('path', problemOfPath(path));
  const destination =
    input.type === 's3' ? readBucket(input, stored, check) : readAddress(input, stored, check);
  if (problems.length > 0) {
    const [{ loc, msg }] = problems as [Problem];
    throw new Fault('invalid', `${loc.join('.')}: ${msg}`, { problems });
  }
  return { destination, format: (input.format || 'json') as DestinationFormat, path };
}

type Check = (field: string, problem: string | null) => void;

function problemOfUrl(text: string, allowPrivate: boolean): string | null {
  const problem = problemOfTarget(text, allowPrivate);
  if (problem !== null) return problem;
  const url = new URL(text);
  if (url.search !== '') return 'The URL must not contain a query. Use the field query';
  if (url.hash !== '') return 'The URL must not contain a fragment';
  if (url.protocol === 'http:' && !allowPrivate) return 'The URL must use https';
  return null;
}

const requiredForS3 = 'Field required for a destination of the type s3';
const secretAgain =
  'Enter the secret again, because the URL, the bucket, or the access key changes';

/** Checks the fields of a destination of the type s3, except for its secret. */
function checkBucketFields(input: DestinationInput, check: Check): void {
  const { bucket, accessKey } = input;
  if (URL.canParse(input.url) && new URL(input.url).pathname !== '/')
    check('url', 'The URL of an S3-compatible service has no path');
  check('prefix', problemOfPrefix(input.prefix));
  for (const [field, value] of Object.entries({ bucket, access_key: accessKey }))
    if (value === '') check(field, requiredForS3);
  if (input.headers.length > 0)
    check('headers', 'Only destinations of the type https have headers');
  if (input.query !== '') check('query', 'Only destinations of the type https have a query');
}

function readBucket(
  input: DestinationInput,
  stored: OpenedDestination | null,
  check: Check,
): OpenedDestination {
  const { bucket, region, accessKey, secretKey } = input;
  checkBucketFields(input, check);
  const url = URL.canParse(input.url) ? new URL(input.url) : null;
  const address = {
    url: url?.origin ?? '',
    bucket,
    region: region === '' ? 'us-east-1' : region,
    prefix: input.prefix.replace(/\/$/, ''),
    accessKey,
  };
  const isSame =
    stored?.type === 's3' &&
    (['url', 'bucket', 'accessKey'] as const).every(
      (name) => stored.address[name] === address[name],
    );
  const secrets: S3Secrets = {
    secretKey: secretKey === '' && isSame ? stored.secrets.secretKey : secretKey,
  };
  if (secrets.secretKey === '') check('secret_key', stored === null ? requiredForS3 : secretAgain);
  return { type: 's3', address, secrets };
}

function readAddress(
  input: DestinationInput,
  stored: OpenedDestination | null,
  check: Check,
): OpenedDestination {
  const url = URL.canParse(input.url) ? new URL(input.url).href.replace(/\/?$/, '/') : '';
  const ofBuckets = { bucket: input.bucket, prefix: input.prefix, access_key: input.accessKey };
  for (const [field, value] of Object.entries({ ...ofBuckets, secret_key: input.secretKey }))
    if (value !== '') check(field, 'Only destinations of the type s3 have this field');
  const entered: HttpsSecrets = {
    query: input.query === '' ? '' : `?${input.query}`,
    headers: readHeaders(input, check),
  };
  const secrets = mergeSecrets(entered, stored, url, input.clearSecrets, check);
  const headerNames = Object.keys(secrets.headers);
  return { type: 'https', address: { url, headerNames }, secrets };
}

/** Returns the entered headers by lower-case name. */
function readHeaders({ headers }: DestinationInput, check: Check): Record<string, string> {
  const values = new Map<string, string>();
  for (const { name, value } of headers) {
    const key = name.toLowerCase();
    if (isReserved(key)) check('headers', `The header ${name} cannot be set`);
    else if (values.has(key)) check('headers', `The header ${name} occurs twice`);
    values.set(key, value);
  }
  return Object.fromEntries(values);
}

/** Returns the secrets of an address: the entered ones, or the stored ones for the same URL. */
function mergeSecrets(
  entered: HttpsSecrets,
  stored: OpenedDestination | null,
  url: string,
  clear: boolean,
  check: Check,
): HttpsSecrets {
  if (stored?.type !== 'https' || clear) return entered;
  const isEntered = {
    headers: Object.keys(entered.headers).length > 0,
    query: entered.query !== '',
  };
  const merged: HttpsSecrets = {
    headers: isEntered.headers ? entered.headers : stored.secrets.headers,
    query: isEntered.query ? entered.query : stored.secrets.query,
  };
  if (stored.address.url === url) return merged;
  const missing = { headers: Object.keys(merged.headers).length > 0, query: merged.query !== '' };
  for (const field of ['headers', 'query'] as const)
    if (missing[field] && !isEntered[field])
      check(field, 'Enter the value again because the URL changes, or set clear_secrets');
  return entered;
}
