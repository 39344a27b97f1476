import { createHash } from 'node:crypto';
import { Fault } from '../contract/fault.ts';
import type { FileRecord } from '../contract/files.ts';

const remedy =
  'Restore it from a backup or run the job again; `gleaner doctor` lists the damaged files.';

/** Creates the fault for a stored file that differs from its record: "ends before byte 20". */
export function damagedFile(path: string, difference: string, cause?: unknown): Fault {
  return new Fault('storage_damaged', `The stored file ${path} ${difference}. ${remedy}`, {
    cause,
  });
}

/**
 * Yields the contents of a file, and compares them with its record. The last chunk follows the
 * comparison, so that nobody receives all of a damaged file. Throws `storage_damaged`.
 */
export async function* compareFile(
  path: string,
  { bytes, sha256 }: FileRecord,
  contents: AsyncIterable<Uint8Array>,
): AsyncGenerator<Uint8Array, void, void> {
  const hash = createHash('sha256');
  let size = 0;
  let lastChunk: Uint8Array | null = null;
  for await (const chunk of contents) {
    if (lastChunk !== null) yield lastChunk;
    lastChunk = chunk;
    size += chunk.length;
    hash.update(chunk);
  }
  if (size !== bytes) throw damagedFile(path, `has ${size} bytes instead of ${bytes}`);
  if (hash.digest('hex') !== sha256)
    throw damagedFile(path, 'has other contents than were written');
  if (lastChunk !== null) yield lastChunk;
}

/** Reads a file to its end, and compares it with its record. Throws `storage_damaged`. */
export async function checkFile(
  path: string,
  record: FileRecord,
  contents: AsyncIterable<Uint8Array>,
): Promise<void> {
  for await (const _chunk of compareFile(path, record, contents));
}
