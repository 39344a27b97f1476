import type { JsonObject } from '../base/json.ts';

/** Kind of a destination: a bucket of an S3-compatible service, or a URL that accepts PUT requests. */
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
  /** Address without secrets (src/delivery/destination/address.ts). */
  address: JsonObject;
  /** Secrets of the address, encrypted (src/access/links/secret-box.ts). */
  secrets: string;
  /** Id of the key that encrypted the secrets. */
  secretsKey: string;
  format: DestinationFormat;
  /** Template of the names of delivered files (src/delivery/destination/path-template.ts). */
  path: string;
  createdAt: number;
  updatedAt: number;
  /** Incremented by each write, from 1. */
  revision: number;
}

/** Destinations of users. */
export interface DestinationStore {
  /**
   * Inserts a destination. Returns false, and changes nothing, if its user has one of this name or its id
   * exists.
   */
  createDestination(destination: Destination): Promise<boolean>;
  /**
   * Replaces a destination if its revision follows the stored one. Returns false, and changes nothing, if
   * another writer was faster, if the destination was deleted, or if its user has another destination of this
   * name.
   */
  putDestination(destination: Destination): Promise<boolean>;
  /** Returns the destination, or null if there is none with this id. */
  getDestination(id: string): Promise<Destination | null>;
  /** Returns the destinations of a user by name. */
  listDestinations(userId: string): Promise<Destination[]>;
  /** Deletes a destination. Returns false if the user has none with this id. */
  deleteDestination(id: string, userId: string): Promise<boolean>;
  /** Returns up to `limit` destinations whose secrets were encrypted with another key than `secretsKey`. */
  findDestinationsByOtherKey(secretsKey: string, limit: number): Promise<Destination[]>;
}
