import { promisify } from 'node:util';
import { gunzip } from 'node:zlib';
import { readCsvField } from '../base/csv.ts';
import { linesOf } from '../base/lines.ts';
import type { Blobs } from '../blobs/blobs.ts';
import { Fault } from '../contract/fault.ts';
import type { FileEntry, UnitFilePack } from '../kinds/kind.ts';
import type { Batch, Part, StoredFile } from '../store/documents.ts';
import type { JobContext } from './context.ts';

export interface RecordContext {
  store: Pick<JobContext['store'], 'readBatches'>;
  blobs: Pick<Blobs, 'read'>;
}

const decompress = promisify(gunzip);

/** Returns the stored bytes of the records of a batch's successful units, by index. */
export function readRecords(context: RecordContext, batch: Batch): Promise<Map<number, Uint8Array>> {
  return withCurrentBatch(context, batch, async (current) => {
    const records = new Map<number, Uint8Array>();
    for (const part of current.parts) await readPart(context.blobs, part, Object.keys(part.records), records);
    for (const index of recordIndexes(current)) if (!records.has(index)) throw recordMissing(index);
    return new Map([...records].sort(([one], [other]) => one - other));
  });
}

/** Returns the record of one unit, or null if it has none. */
export function readRecord(context: RecordContext, batch: Batch, index: number): Promise<Uint8Array | null> {
  return withCurrentBatch(context, batch, async (current) => {
    if (!recordIndexes(current).includes(index)) return null;
    const records = new Map<number, Uint8Array>();
    const part = current.parts.find((each) => index in each.records);
    if (part === undefined) throw recordMissing(index);
    await readPart(context.blobs, part, [`${index}`], records);
    return records.get(index)!;
  });
}

/** Returns the indexes of units whose result is a record, not a file. */
function recordIndexes({ units, outcomes }: Batch): number[] {
  return [...units.keys()].filter((index) => {
    const outcome = outcomes[index];
    return outcome?.status === 'SUCCESS' && outcome.file === undefined;
  });
}

/**
 * Reads from a batch, and again from its current version if a part is missing: when a batch ends, its records move
 * to another part. Fault `internal` for a record that cannot be found.
 */
async function withCurrentBatch<T>(
  { store }: RecordContext,
  batch: Batch,
  read: (batch: Batch) => Promise<T>,
): Promise<T> {
  try {
    return await read(batch);
  } catch (error) {
    if (Fault.from(error).code !== 'not_found') throw error;
  }
  const [current = batch] = await Array.fromAsync(store.readBatches(batch.jobId, [batch.seq]));
  try {
    return await read(current);
  } catch (error) {
    const { code, message } = Fault.from(error);
    if (code !== 'not_found') throw error;
    throw new Fault('internal', `batch ${batch.id} has lost a record: ${message}`, { cause: error });
  }
}

const recordMissing = (index: number) => new Fault('not_found', `There is no record of unit ${index}.`);

/** Reads the records of some units with one request. */
async function readPart(
  blobs: RecordContext['blobs'],
  part: Part,
  indexes: readonly string[],
  records: Map<number, Uint8Array>,
): Promise<void> {
  const places = indexes.map((index) => [Number(index), ...part.records[Number(index)]!] as const);
  const isComplete = part.encoding === 'gzip';
  const from = isComplete ? 0 : Math.min(...places.map(([, offset]) => offset));
  const to = Math.max(...places.map(([, offset, length]) => offset + length));
  const stored = isComplete
    ? await decompress(await readAll(await blobs.read(part.path)))
    : await readRange(blobs, part.path, from, to);
  for (const [index, offset, length] of places) {
    const bytes = stored.subarray(offset - from, offset - from + length);
    records.set(index, part.encoding === 'csv' ? Buffer.from(readCsvField(bytes.toString())) : bytes);
  }
}

/** Streams the rows of a part. Fault `internal` if bytes are missing. */
export async function* readRows(
  { blobs }: RecordContext,
  batch: Batch,
  part: Part,
): AsyncGenerator<Uint8Array> {
  const { start, end } = part.body!;
  let left = end - start;
  try {
    for await (const chunk of await blobs.read(part.path, { start, end: end - 1 })) {
      left -= chunk.length;
      yield chunk;
    }
  } catch (error) {
    if (Fault.from(error).code !== 'not_found') throw error;
    throw new Fault('internal', `batch ${batch.id} has lost its part ${part.path}`, { cause: error });
  }
  if (left !== 0)
    throw new Fault('internal', `${part.path} ends before byte ${end}: its content was changed`);
}

/** Yields the entries of a unit's file. Fault `internal` if the file has another number of entries than were written. */
export async function* readFileEntries(
  { blobs }: Pick<RecordContext, 'blobs'>,
  pack: UnitFilePack,
  { path, items }: StoredFile,
): AsyncGenerator<FileEntry> {
  let count = 0;
  for await (const entry of pack.entries(linesOf(await blobs.read(path)))) {
    count++;
    yield entry;
  }
  if (count !== items)
    throw new Fault('internal', `${path} has ${count} entries instead of ${items}: its content was changed`);
}

async function readRange(
  blobs: RecordContext['blobs'],
  path: string,
  start: number,
  end: number,
): Promise<Buffer> {
  if (end === start) return Buffer.alloc(0);
  const bytes = await readAll(await blobs.read(path, { start, end: end - 1 }));
  if (bytes.length !== end - start)
    throw new Fault('internal', `${path} ends before byte ${end}: its content was changed`);
  return bytes;
}

/** Reads a stream into memory. Unlike buffer() of Node, which takes several times as long for small files. */
async function readAll(stream: AsyncIterable<Uint8Array>): Promise<Buffer> {
  return Buffer.concat(await Array.fromAsync(stream));
}
