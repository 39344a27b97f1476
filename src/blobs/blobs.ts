import { createHash } from 'node:crypto';
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
  if (parts.length !== 2 || !parts.every(isPart)) throw missingFile(path);
  return { jobId: parts[0]!, fileName: parts[1]! };
}

/** Returns the job id if it is valid as a folder name; throws `not_found` otherwise. */
export function parseJobId(jobId: string): string {
  if (!isPart(jobId)) throw missingFile(jobId);
  return jobId;
}

/** Creates the Fault for a path without a file. */
export function missingFile(path: string): Fault {
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

const blockBytes = 262_144;

/** Size and digest of the blocks yielded by toBlocks(). */
export interface BlockTotals {
  readonly bytes: number;
  /** Returns the SHA-256 in hexadecimal. Can be called once. */
  digest(): string;
}

/**
 * Combines chunks of any size into blocks of up to 256 KiB, none empty, so that many small records
 * need few writes. Strings are encoded as UTF-8. Yielded blocks are never reused. `totals` covers
 * all yielded blocks.
 */
export function toBlocks(chunks: AsyncIterable<Uint8Array | string>): {
  blocks: AsyncGenerator<Buffer, void, void>;
  totals: BlockTotals;
} {
  const hash = createHash('sha256');
  let bytes = 0;
  const count = (block: Buffer): Buffer => {
    hash.update(block);
    bytes += block.length;
    return block;
  };

  async function* gather(): AsyncGenerator<Buffer, void, void> {
    let block = Buffer.allocUnsafeSlow(blockBytes);
    let filled = 0;
    for await (const chunk of chunks) {
      const length = Buffer.byteLength(chunk);
      if (length > blockBytes - filled && filled > 0) {
        yield count(block.subarray(0, filled));
        block = Buffer.allocUnsafeSlow(blockBytes);
        filled = 0;
      }
      if (length > blockBytes) {
        yield count(Buffer.from(chunk as Uint8Array));
        continue;
      }
      copyChunk(block, chunk, filled);
      filled += length;
    }
    if (filled > 0) yield count(block.subarray(0, filled));
  }

  return {
    blocks: gather(),
    totals: {
      get bytes() {
        return bytes;
      },
      digest: () => hash.digest('hex'),
    },
  };
}

function copyChunk(block: Buffer, chunk: Uint8Array | string, offset: number): void {
  if (typeof chunk === 'string') block.write(chunk, offset);
  else block.set(chunk, offset);
}

/** Size of a file, and its SHA-256 in hexadecimal. */
export interface Digest {
  bytes: number;
  sha256: string;
}

/** Reads chunks to their end. */
export async function computeDigest(chunks: AsyncIterable<Uint8Array>): Promise<Digest> {
  const hash = createHash('sha256');
  let bytes = 0;
  for await (const chunk of chunks) {
    hash.update(chunk);
    bytes += chunk.length;
  }
  return { bytes, sha256: hash.digest('hex') };
}
