import { compareFile } from '../../base/recorded-file.ts';
import { Fault } from '../../contract/fault.ts';
import type { FilePack } from '../../kinds/kind.ts';
import type { Batch, PartBody, Segment, StoredBatch } from '../../store/batches.ts';
import type { Where } from '../../store/collection.ts';
import type { Job, StoredFile } from '../../store/documents.ts';
import { endingStates } from '../../store/job-states.ts';
import type { JobContext } from '../context.ts';
import { prefetch } from '../queries/rows.ts';
import { composeRows, noRows, openRecords, readRows, segmentWithRows } from '../records.ts';
import { removeIfDeleted } from './late-files.ts';

/**
 * Segments that are read while the rows of earlier ones are written, and the maximum bytes of each.
 */
const maxSegmentsAhead = 3;
const maxAheadBytes = 1024 ** 2;

/**
 * Interval at which a long compilation touches its job, so that the sweep does not start a second
 * one.
 */
const touchIntervalMs = 10_000;

/** A merged file, and where it has the rows of batches. */
export interface MergedFile {
  file: StoredFile;
  /** Rows that were copied from a segment, by the position of the batch. */
  rows: ReadonlyMap<number, PartBody>;
}

/** Rows of the batches in a merged file that is being written. */
interface Merging {
  bytes: number;
  items: number;
  rows: Map<number, PartBody>;
}

const noMerging = (): Merging => ({ bytes: 0, items: 0, rows: new Map() });

/**
 * Writes a job's merged file: the head, the rows of the batches' segments in submission order, and
 * the tail. Copies rows byte for byte. Returns null for kinds without a merged file, and for jobs
 * without a row.
 */
export async function compile(
  context: JobContext,
  job: Job,
  success: number,
): Promise<MergedFile | null> {
  const pack = context.jobTypes.of(job).kind.files.job;
  if (!pack || job.state === 'rejecting') return null;
  if (success === 0 && !pack.whenAllFailed) return null;
  const merging = noMerging();
  const path = `${job.id}/${pack.name(job)}`;
  const file = await context.blobs.write(
    path,
    pack.contentType(job),
    merge(context, pack, job, merging),
    () => merging.items,
  );
  return { file, rows: merging.rows };
}

/**
 * Continues the end of a job that was interrupted after its merged file was stored with the job:
 * writes the file again. If the batches result in other contents, for example because another
 * version of the program writes another head, keeps the file and moves no rows. Throws
 * `storage_damaged` if the file is then missing.
 */
export async function resumeMerged(
  context: JobContext,
  job: Job,
  file: StoredFile,
): Promise<MergedFile> {
  try {
    return await compileAgain(context, job, file);
  } catch (error) {
    if (Fault.from(error).code !== 'storage_damaged') throw error;
    if ((await context.blobs.size(file.path)) !== file.bytes) throw error;
    return { file, rows: new Map() };
  }
}

/**
 * Writes a merged file again. Throws `storage_damaged`, and writes nothing, if the batches no
 * longer result in the recorded contents; `results_deleted` if the files are deleted during the
 * write.
 */
export async function compileAgain(
  context: JobContext,
  job: Job,
  file: StoredFile,
): Promise<MergedFile> {
  const pack = context.jobTypes.of(job).kind.files.job;
  if (!pack) throw new Error(`${job.kind} has no merged file`);
  const merging = noMerging();
  const contents = compareFile(file.path, file, merge(context, pack, job, merging));
  await context.blobs.write(file.path, file.contentType, contents, () => file.items);
  if (await removeIfDeleted(context, job.id))
    throw new Fault('results_deleted', 'This file was deleted.');
  return { file, rows: merging.rows };
}

async function* merge(
  context: JobContext,
  pack: FilePack,
  job: Job,
  merging: Merging,
): AsyncGenerator<Uint8Array> {
  const { store, clock } = context;
  let touchedAt = clock.now();
  const count = (chunk: string | Uint8Array): Uint8Array => {
    const bytes = typeof chunk === 'string' ? Buffer.from(chunk) : chunk;
    merging.bytes += bytes.length;
    return bytes;
  };
  yield count(pack.head(job));
  const batchRows = prefetch(store.batches.read(job.id), maxSegmentsAhead, (batch) =>
    rowsOf(context, pack, job, batch),
  );
  for await (const { seq, rows, chunks, isCopied } of batchRows) {
    if (endingStates.includes(job.state) && clock.now() - touchedAt > touchIntervalMs) {
      touchedAt = clock.now();
      await store.jobs.move(job.id, [job.state], job.state, touchedAt);
    }
    let start: number | null = null;
    for await (const chunk of chunks) {
      if (start === null && merging.items > 0) yield count(pack.separator);
      start ??= merging.bytes;
      yield count(chunk);
    }
    merging.items += rows.items;
    if (isCopied && start !== null)
      merging.rows.set(seq, { start, end: merging.bytes, items: rows.items });
  }
  yield count(pack.tail(job));
}

/** Rows of a batch. */
interface BatchRows {
  seq: number;
  /** Their number, once they are read. */
  rows: { items: number };
  chunks: AsyncIterable<Uint8Array> | Uint8Array[];
  /** True if the rows are copied from a segment. */
  isCopied: boolean;
}

/** Returns the rows of a batch. Rows of a small segment are read into memory. */
async function rowsOf(
  context: JobContext,
  pack: FilePack,
  job: Job,
  batch: Batch,
): Promise<BatchRows> {
  const { seq } = batch;
  const segment = segmentWithRows(batch);
  if (segment) {
    const rows = segment.body!;
    const stream = readRows(context, batch, segment);
    const isLarge = rows.end - rows.start > maxAheadBytes;
    return {
      seq,
      rows,
      chunks: isLarge ? stream : await Array.fromAsync(stream),
      isCopied: true,
    };
  }
  // Batches ended by a cancellation have no segment with rows.
  const { read } = openRecords(context, batch);
  const rows = noRows();
  return {
    seq,
    rows,
    chunks: composeRows(pack, job, batch, read, rows),
    isCopied: false,
  };
}

/** Batches that are changed per call of the store. */
const chunkSize = 100;

/**
 * Lets the batches of a job refer to their rows in its merged file, then removes the segments that
 * these were copied from, and the other files that neither the job nor its batches refer to:
 * segments of lost claims, segments replaced by a batch's final segment, and unit files of late
 * workers. Every batch must be done. `successful` is the number of batches with a result.
 */
export async function replaceSegments(
  context: JobContext,
  job: Job,
  merged: MergedFile | null,
  successful: number,
): Promise<void> {
  const { store, blobs } = context;
  const paths = await blobs.listJob(job.id);
  // Without a merged file, each batch with a result has at least one file.
  if (paths.length <= (merged === null ? successful : 1)) return;
  const referenced = await referToRows(context, job, merged);
  const unreferenced = paths.filter((path) => !referenced.has(path));
  if (unreferenced.length === 0) return;
  // On SQLite, a durable write of the job keeps the references through a power failure.
  if (merged !== null)
    await store.jobs.update({ id: job.id, state: job.state }, { file: merged.file });
  await blobs.remove(unreferenced);
}

/**
 * Moves the references of batches to the rows in a merged file. Returns the files with references.
 */
async function referToRows(
  { store }: JobContext,
  job: Job,
  merged: MergedFile | null,
): Promise<ReadonlySet<string>> {
  const referenced = new Set<string>();
  if (merged !== null) referenced.add(merged.file.path);
  let changes: [where: Where<StoredBatch>, change: Partial<StoredBatch>][] = [];
  for await (const batch of store.batches.read(job.id)) {
    const rows = merged?.rows.get(batch.seq);
    const change = merged && rows ? movedTo(merged.file, rows, batch) : null;
    for (const { path } of filesOf({ ...batch, ...change })) referenced.add(path);
    if (change === null) continue;
    changes.push([{ id: batch.id, jobId: job.id, state: 'done' }, change]);
    if (changes.length < chunkSize) continue;
    await store.batches.writeAll([], changes);
    changes = [];
  }
  if (changes.length > 0) await store.batches.writeAll([], changes);
  return referenced;
}

/** Returns the segments and the stored bytes of a batch whose rows are in a merged file. */
function movedTo(
  { path, bytes, sha256 }: StoredFile,
  rows: PartBody,
  batch: Batch,
): Pick<Batch, 'segments' | 'storedBytes'> | null {
  const segment = segmentWithRows(batch)!;
  if (segment.path === path) return null;
  // Offsets of compressed records are relative to the rows of their batch.
  const shift = segment.encoding === 'gzip' ? 0 : rows.start - segment.body!.start;
  const records: Segment['records'] = {};
  for (const [index, [offset, ...rest]] of Object.entries(segment.records))
    records[Number(index)] = [offset + shift, ...rest];
  const moved: Segment = {
    ...segment,
    path,
    bytes,
    sha256,
    records,
    body: rows,
  };
  return {
    segments: batch.segments.map((each) => (each === segment ? moved : each)),
    storedBytes: batch.storedBytes - segment.bytes,
  };
}

/**
 * A file that a batch refers to. Segments have no media type, and files of kept pages no digest.
 */
export type ReferencedFile = Pick<StoredFile, 'path' | 'bytes'> &
  Partial<Pick<StoredFile, 'contentType' | 'sha256'>>;

/**
 * Yields the files that a batch refers to. A segment that is also the batch's file is yielded
 * twice. The file of a batch whose rows are in the merged file is not stored.
 */
export function* filesOf({ file, segments, pages, outcomes }: Batch): Generator<ReferencedFile> {
  yield* segments;
  yield* pages?.files ?? [];
  if (file && segments.some(({ path }) => path === file.path)) yield file;
  for (const outcome of Object.values(outcomes)) {
    if (outcome.status === 'SUCCESS' && outcome.file) yield outcome.file;
  }
}
