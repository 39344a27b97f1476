import type { Readable } from 'node:stream';
import type { StoredFile } from '../store/documents.ts';

/** Bytes of a file from `start` to `end`, both inclusive. */
export interface ByteRange {
  start: number;
  end: number;
}

/** The result-file port. Paths are `<job id>/<file name>`. Faults: `not_found`, `unavailable`. */
export interface Blobs {
  /** Name of the engine, for people: "files", "S3". */
  readonly engine: string;
  /**
   * Writes a file whole or not at all: readers see the old content or the new. Counts bytes and the
   * digest as they pass; `items` is asked for once the chunks have ended.
   */
  write(
    path: string,
    contentType: string,
    chunks: AsyncIterable<Uint8Array | string>,
    items: () => number,
  ): Promise<StoredFile>;
  /** Streams a file, or a range of it. */
  read(path: string, range?: ByteRange): Promise<Readable>;
  /** Size of a file in bytes; null when there is none. */
  size(path: string): Promise<number | null>;
  /** A link of the engine's own that needs nothing else, good for `seconds`; null when the engine
   *  makes none and the gateway serves the file. */
  presign(path: string, fileName: string, seconds: number): Promise<string | null>;
  /** Paths of a job's files, in any order. */
  listJob(jobId: string): Promise<string[]>;
  /** Removes files; those that are not there do no harm. */
  remove(paths: readonly string[]): Promise<void>;
  /** Removes every file of a job. */
  removeJob(jobId: string): Promise<void>;
  /** Resolves when the engine answers; rejects with `unavailable`. */
  ping(): Promise<void>;
  close(): Promise<void>;
}
