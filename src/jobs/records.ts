import { pipeline, type Readable } from 'node:stream';
import { createGunzip } from 'node:zlib';
import { readCsvField } from '../base/csv.ts';
import { linesOf } from '../base/read-lines.ts';
import type { Blobs } from '../blobs/blobs.ts';
import { Fault } from '../contract/fault.ts';
import type { FileEntry, UnitFilePack } from '../kinds/kind.ts';
import type { Batch, Outcome, Segment } from '../store/batches.ts';
import type { StoredFile } from '../store/documents.ts';
import type { Store } from '../store/store.ts';
import type { JobContext } from './context.ts';

/** Returns the current version of a batch by its position in its job, or null if there is none. */
export async function readBatch(store: Store, jobId: string, seq: number): Promise<Batch | null> {
  const [batch = null] = await Array.fromAsync(store.batches.read(jobId, { seqs: [seq] }));
  return batch;
}

/** Reader of the records of a batch. Its calls must follow each other. */
export interface StoredRecordReader {
  /** Returns the stored bytes of a unit's record, or null if the unit has none. */
  read(index: number): Promise<Uint8Array | null>;
  /** Reads the record of a unit, and those that are stored behind it, before they are asked for. */
  prefetch(index: number): Promise<void>;
}

/** Maximum bytes of records that a reader holds, and reads with one request, unless one record is larger. */
const maxAheadBytes = 8 * 1024 ** 2;

/** Maximum bytes between two records that are read with one request. */
const maxGapBytes = 64 * 1024;

/**
 * Creates a reader of a batch's records, or of the units in `wanted`, to be read in ascending order. Records
 * that are stored next to each other are read together. When a batch ends, its records move to another
 * segment, so a missing segment is looked for in the current version of the batch. Throws `internal` for a
 * record that cannot be found.
 */
export function openRecords(
  { store, blobs }: JobContext,
  batch: Batch,
  wanted: readonly number[] = [...batch.units.keys()],
): StoredRecordReader {
  const indexes = new Set(wanted.filter((index) => isRecord(batch.outcomes[index])));
  const ahead = new Map<number, Uint8Array>();
  let aheadBytes = 0;
  let current = batch;
  const load = async (index: number) => {
    const segment = current.segments.find(({ records }) => index in records);
    if (segment === undefined) throw new Fault('not_found', `There is no record of unit ${index}.`);
    for (const [at, bytes] of await readRun(blobs, segment, index, indexes, maxAheadBytes - aheadBytes)) {
      ahead.set(at, bytes);
      aheadBytes += bytes.length;
    }
  };
  const prefetch = async (index: number) => {
    if (!indexes.has(index) || ahead.has(index)) return;
    try {
      return await load(index);
    } catch (error) {
      if (Fault.from(error).code !== 'not_found') throw error;
    }
    current = (await readBatch(store, batch.jobId, batch.seq)) ?? batch;
    try {
      await load(index);
    } catch (error) {
      const { code, message } = Fault.from(error);
      if (code !== 'not_found') throw error;
      throw new Fault('internal', `batch ${batch.id} has lost a record: ${message}`, { cause: error });
    }
  };
  return {
    prefetch,

    async read(index) {
      if (!indexes.has(index)) return null;
      await prefetch(index);
      const bytes = ahead.get(index)!;
      ahead.delete(index);
      indexes.delete(index);
      aheadBytes -= bytes.length;
      return bytes;
    },
  };
}

/** Yields the records of a batch, with the indexes of their units. */
export async function* readRecords(
  context: JobContext,
  batch: Batch,
): AsyncGenerator<[index: number, record: Uint8Array]> {
  const records = openRecords(context, batch);
  for (const index of batch.units.keys()) {
    const record = await records.read(index);
    if (record !== null) yield [index, record];
  }
}

/** Returns the record of one unit, or null if it has none. */
export function readRecord(context: JobContext, batch: Batch, index: number): Promise<Uint8Array | null> {
  return openRecords(context, batch, [index]).read(index);
}

/** Returns true if the result of a unit is a record, not a file. */
export function isRecord(outcome: Outcome | undefined): boolean {
  return outcome?.status === 'SUCCESS' && outcome.file === undefined;
}

/** Reads the record of a unit, and the following ones of `wanted` up to `maxBytes`, with one request. */
async function readRun(
  blobs: Blobs,
  { path, encoding, records }: Segment,
  index: number,
  wanted: ReadonlySet<number>,
  maxBytes: number,
): Promise<[index: number, record: Uint8Array][]> {
  const [start, length] = records[index]!;
  let end = start + length;
  const run = [[index, start, length]] as [number, number, number][];
  const behind = Object.entries(records)
    .map(([at, place]) => [Number(at), ...place] as [number, number, number])
    .filter(([at, offset]) => offset >= end && at !== index && wanted.has(at))
    .sort(([, one], [, other]) => one - other);
  for (const place of behind) {
    const [, offset, bytes] = place;
    if (offset + bytes - start > maxBytes || offset - end > maxGapBytes) break;
    run.push(place);
    end = offset + bytes;
  }
  const stored =
    encoding === 'gzip'
      ? await inflateRange(await blobs.read(path), start, end)
      : await readRange(blobs, path, start, end);
  if (stored.length !== end - start)
    throw new Fault('internal', `${path} ends before byte ${end}: its content was changed`);
  return run.map(([at, offset, bytes]) => {
    const record = stored.subarray(offset - start, offset - start + bytes);
    return [at, encoding === 'csv' ? Buffer.from(readCsvField(record.toString())) : record];
  });
}

/** Returns a range of the content of a compressed stream, without holding the bytes before it. */
async function inflateRange(source: Readable, start: number, end: number): Promise<Buffer> {
  const chunks: Uint8Array[] = [];
  const content = createGunzip({ chunkSize: 128 * 1024 });
  let at = 0;
  // A failure of the source ends the content with its error.
  pipeline(source, content, () => {});
  for await (const chunk of content as AsyncIterable<Buffer>) {
    chunks.push(chunk.subarray(Math.max(0, start - at), Math.max(0, end - at)));
    at += chunk.length;
    if (at >= end) break;
  }
  return Buffer.concat(chunks);
}

/** Streams the rows of a segment. Throws `internal` if bytes are missing. */
export async function* readRows(
  { blobs }: JobContext,
  batch: Batch,
  segment: Segment,
): AsyncGenerator<Uint8Array> {
  const { start, end } = segment.body!;
  let left = end - start;
  try {
    for await (const chunk of await blobs.read(segment.path, { start, end: end - 1 })) {
      left -= chunk.length;
      yield chunk;
    }
  } catch (error) {
    if (Fault.from(error).code !== 'not_found') throw error;
    throw new Fault('internal', `batch ${batch.id} has lost its segment ${segment.path}`, { cause: error });
  }
  if (left !== 0)
    throw new Fault('internal', `${segment.path} ends before byte ${end}: its content was changed`);
}

/**
 * Yields the entries of a unit's file. Throws `internal` if the file has another number of entries than were
 * written.
 */
export async function* readFileEntries(
  { blobs }: JobContext,
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

async function readRange(blobs: Blobs, path: string, start: number, end: number): Promise<Buffer> {
  if (end === start) return Buffer.alloc(0);
  // Unlike buffer() of Node, which takes several times as long for small files.
  return Buffer.concat(await Array.fromAsync(await blobs.read(path, { start, end: end - 1 })));
}
