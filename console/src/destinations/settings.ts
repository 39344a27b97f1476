import type { Destination } from '../../../gen/gleaner/destination/v1/destination_pb.ts';
import { describeError } from '../ui/errors/describe.ts';

export type DestinationTypeName = 's3' | 'https';

export const typeLabels: Readonly<Record<DestinationTypeName, string>> = {
  s3: 'S3-compatible bucket',
  https: 'HTTPS address',
};

/** Values of the form of a destination. Secrets are empty until the user enters them. */
export interface DestinationValues {
  name: string;
  type: DestinationTypeName;
  url: string;
  bucket: string;
  region: string;
  prefix: string;
  accessKey: string;
  secretKey: string;
  /** `id` is the React key. */
  headers: { id: string; name: string; value: string }[];
  query: string;
  clearSecrets: boolean;
  format: string;
  path: string;
}

/** Inputs of each type, by the name of their value. */
const inputs: Readonly<Record<DestinationTypeName, RegExp>> = {
  s3: /^(?:name|url|format|path|bucket|region|prefix|accessKey|secretKey)$/,
  https: /^(?:name|url|format|path|query|headers\.\d+\.(?:name|value))$/,
};

/** Returns the values of the form for a destination, or for a new one. */
export function valuesOf(destination: Destination | null): DestinationValues {
  return {
    name: destination?.name ?? '',
    type: destination?.type === 'https' ? 'https' : 's3',
    url: destination?.url ?? '',
    bucket: destination?.bucket ?? '',
    region: destination?.region ?? '',
    prefix: destination?.prefix ?? '',
    accessKey: destination?.accessKey ?? '',
    secretKey: '',
    headers: [],
    query: '',
    clearSecrets: false,
    format: destination?.format ?? 'json',
    path: destination?.path ?? '',
  };
}

/** Returns the settings of the destination's type, which are sent. */
export function settingsOf({ type, headers, ...values }: DestinationValues) {
  const { bucket, region, prefix, accessKey, secretKey, format } = values;
  const common = {
    name: values.name.trim(),
    url: values.url.trim(),
    format,
    path: values.path.trim(),
  };
  if (type === 's3') {
    const address = { bucket: bucket.trim(), region: region.trim(), prefix: prefix.trim() };
    return {
      ...common,
      ...address,
      accessKey: accessKey.trim(),
      secretKey,
    };
  }
  return {
    ...common,
    headers: headers.map(({ name, value }) => ({ name: name.trim(), value })),
    query: values.query.trim().replace(/^\?/, ''),
  };
}

/**
 * Returns the name of the value that the path of a problem concerns: "accessKey" for "access_key".
 */
const valueName = (path: string) =>
  path.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());

/** Returns whether the form of a type has an input for the path of a problem. */
export const hasInput = (type: DestinationTypeName, path: string): boolean =>
  inputs[type].test(valueName(path));

/** Returns the problems of an error that concern inputs, by the name of their value. */
export function inputProblems(type: DestinationTypeName, error: unknown): Record<string, string> {
  const problems = describeError(error).problems.filter(({ where }) => hasInput(type, where));
  return Object.fromEntries(problems.map(({ where, message }) => [valueName(where), message]));
}

/** Returns the place of a destination's files: address, or service, bucket, and prefix. */
export function addressOf({ url, bucket, prefix }: Destination): string {
  if (bucket === '') return url;
  return [url.replace(/\/$/, ''), bucket, prefix].filter(Boolean).join('/');
}
