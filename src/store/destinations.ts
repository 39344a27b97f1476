import type { JsonObject } from '../base/json.ts';

/**
 * Kind of a destination: a bucket of an S3-compatible service, or a URL that accepts PUT requests.
 */
export type DestinationType = 's3' | 'https';

/** Format of delivered files. */
export type DestinationFormat = 'json' | 'jsonl' | 'csv' | 'csv-bom' | 'parquet';

/** A place of a user to which results are delivered. */
export interface Destination {
  id: string;
  userId: string;
  /** Unique among the destinations of the user. */
  name: string;
  type: DestinationType;
  /** Address without secrets (src/destinations/address.ts). */
  address: JsonObject;
  /** Secrets of the address, encrypted (src/links/secret-box.ts). */
  secrets: string;
  /** Id of the key that encrypted the secrets. */
  secretsKey: string;
  format: DestinationFormat;
  /** Template of the names of delivered files (src/destinations/path-template.ts). */
  path: string;
  createdAt: number;
  updatedAt: number;
  /** Incremented by each write, from 1. */
  revision: number;
}
