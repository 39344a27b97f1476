import type { Readable } from 'node:stream';
import { Fault } from '../contract/fault.ts';
import type { StoredFile } from '../store/documents.ts';

/** A byte range, with both ends inclusive. */
export interface ByteRange {
  start: number;
  end: number;
}

/**
 * The port of the result storage. Paths are `<job id>/<file name>`. Methods reject with `not_found`
 * or `unavailable`.
 */
export interface Blobs {
  /** Display name of the engine: "files", "S3". */
  readonly engine: string;
  /**
   * Writes a file atomically: readers see either the old or the new content. Computes size and
   * digest while writing; `items` is called once the chunks have ended.
   */
  write(
    path: string,
    contentType: string,
    chunks: AsyncIterable<Uint8Array | string>,
    items: () => number,
  ): Promise<StoredFile>;
  /** Opens a stream of a file or a range of it. */
  read(path: string, range?: ByteRange): Promise<Readable>;
  /** Returns the size of a file in bytes, or null if it does not exist. */
  size(path: string): Promise<number | null>;
  /**
   * Creates a presigned link of the engine, valid for `seconds`. Returns null if the engine has
   * none; the gateway then serves the file.
   */
  presign(path: string, fileName: string, seconds: number): Promise<string | null>;
  /** Yields the paths of all files, in any order. */
  list(): AsyncIterable<string>;
  /** Returns the paths of a job's files, in any order. */
  listJob(jobId: string): Promise<string[]>;
  /** Removes files and ignores missing ones. */
  remove(paths: readonly string[]): Promise<void>;
  removeJob(jobId: string): Promise<void>;
  /** Resolves when the engine responds; rejects with `unavailable`. */
  ping(): Promise<void>;
  close(): Promise<void>;
}

const part = /^[\p{L}\p{N}_][\p{L}\p{M}\p{N} ._()+,=@-]*$/u;
const maxPartBytes = 200;

/**
 * Splits a blob path into its two parts, `<job id>/<file name>`. A part starts with a letter, digit
 * or `_`, continues with those, combining marks, spaces and `._()+,=@-`, and has at most 200 bytes
 * of UTF-8, so that no path leaves the folder or bucket. Throws `not_found` for any other path,
 * since no such file can exist.
 */
export function parsePath(path: string): { jobId: string; fileName: string } {
  const parts = path.split('/');
  if (parts.length !== 2 || !parts.every(isPart)) throw missing(path);
  return { jobId: parts[0]!, fileName: parts[1]! };
}

/** Returns the job id if it is valid as a folder name; throws `not_found` otherwise. */
export function parseJobId(jobId: string): string {
  if (!isPart(jobId)) throw missing(jobId);
  return jobId;
}

/** Creates the Fault for a path without a file. */
export function missing(path: string): Fault {
  return new Fault('not_found', `There is no file ${JSON.stringify(path.slice(0, 300))}.`);
}

function isPart(text: string): boolean {
  return part.test(text) && Buffer.byteLength(text) <= maxPartBytes;
}

/**
 * Converts the errors that end a stream, such as a connection that is lost before the last byte.
 * Returns the stream.
 */
export function convertErrors(stream: Readable, convert: (error: Error) => Error): Readable {
  const destroy = stream._destroy;
  stream._destroy = (error, done) =>
    destroy.call(stream, error, (final) => done(final ? convert(final) : final));
  return stream;
}
