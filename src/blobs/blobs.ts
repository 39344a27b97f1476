import type { Readable } from 'node:stream';
import type { StoredFile } from '../store/documents.ts';

/** A byte range, with both ends inclusive. */
export interface ByteRange {
  start: number;
  end: number;
}

/**
 * The port of the result storage. Paths are `<job id>/<file name>`. Methods reject with `not_found` or
 * `unavailable`.
 */
export interface Blobs {
  /** Display name of the engine: "files", "S3". */
  readonly engine: string;
  /**
   * Writes a file atomically: readers see either the old or the new content. Computes size and digest while
   * writing; `items` is called once the chunks have ended.
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
   * Creates a presigned link of the engine, valid for `seconds`. Returns null if the engine has none; the
   * gateway then serves the file.
   */
  presign(path: string, fileName: string, seconds: number): Promise<string | null>;
  /** Returns the paths of a job's files, in any order. */
  listJob(jobId: string): Promise<string[]>;
  /** Removes files and ignores missing ones. */
  remove(paths: readonly string[]): Promise<void>;
  /** Removes all files of a job. */
  removeJob(jobId: string): Promise<void>;
  /** Resolves when the engine responds; rejects with `unavailable`. */
  ping(): Promise<void>;
  close(): Promise<void>;
}
