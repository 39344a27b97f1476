import type { Readable } from 'node:stream';
import { damagedFile } from '../../base/recorded-file.ts';
import { Fault } from '../../contract/fault.ts';
import type { FilePlace } from '../../contract/files.ts';

/** Reader of result files, by paths of the form `<job id>/<file name>`. */
export interface FileReader {
  /** Returns the size in bytes, or null for an unknown file. */
  size(path: string): Promise<number | null>;
  /** Streams a file, or the bytes `start` to `end` of it, both inclusive. */
  read(path: string, range?: { start: number; end: number }): Promise<Readable>;
  /** Returns a link of the storage engine, valid for `seconds`, or null if it has none. */
  presign(path: string, fileName: string, seconds: number): Promise<string | null>;
}

/** Contents of a result file. */
export interface FileContents {
  size: number;
  /** Streams the contents, or the bytes `start` to `end` of them, both inclusive. */
  read(part?: { start: number; end: number }): Promise<AsyncIterable<Uint8Array>>;
}

/** Returns the contents of a file that are in another one. */
export function placedContents(files: Pick<FileReader, 'read'>, location: FilePlace): FileContents {
  const [head, tail] = [Buffer.from(location.head), Buffer.from(location.tail)];
  const rowBytes = location.end - location.start;
  const size = head.length + rowBytes + tail.length;

  async function* readPart(start: number, end: number): AsyncGenerator<Uint8Array> {
    const first = head.subarray(start, end);
    if (first.length > 0) yield first;
    const rows = {
      start: Math.max(0, start - head.length),
      end: Math.min(rowBytes, end - head.length),
    };
    if (rows.end > rows.start)
      yield* await readRange(
        files,
        location.path,
        location.start + rows.start,
        location.start + rows.end,
      );
    const rest = size - tail.length;
    const last = tail.subarray(Math.max(0, start - rest), Math.max(0, end - rest));
    if (last.length > 0) yield last;
  }

  return {
    size,
    read: async ({ start, end } = { start: 0, end: size - 1 }) => readPart(start, end + 1),
  };
}

/** Streams bytes of a file, `end` exclusive. Throws `storage_damaged` if it does not exist. */
function readRange(
  files: Pick<FileReader, 'read'>,
  path: string,
  start: number,
  end: number,
): Promise<AsyncIterable<Uint8Array>> {
  return files.read(path, { start, end: end - 1 }).catch((error: unknown) => {
    if (Fault.from(error).code !== 'not_found') throw error;
    throw damagedFile(path, 'is missing', error);
  });
}
