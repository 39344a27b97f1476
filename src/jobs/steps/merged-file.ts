import { compareFile } from '../../base/recorded-file.ts';
import { Fault } from '../../contract/fault.ts';
import type { FilePack } from '../../kinds/kind.ts';
import type { Batch, PartBody } from '../../store/batches.ts';
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
