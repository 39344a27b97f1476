import type { Batch, PartBody, Segment, StoredBatch } from '../../store/batches.ts';
import type { Where } from '../../store/collection.ts';
import type { Job, StoredFile } from '../../store/documents.ts';
import type { JobContext } from '../context.ts';
import { segmentWithRows } from '../records.ts';
import type { MergedFile } from './merged-file.ts';

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
