import type { Batch, Job, StoredFile } from '../../store/documents.ts';
import type { JobContext, StoreUse } from '../context.ts';

/** Dependencies of this module. */
export type UnreferencedFilesContext = Pick<JobContext, 'blobs'> & StoreUse<'readBatches'>;

/**
 * Removes the files of a job that neither the job nor its batches refer to: parts of lost claims, parts replaced by
 * a batch's final part, and unit files of late workers. Every batch must be done. `successful` is the number of
 * batches with a result, each of which has at least one file.
 */
export async function removeUnreferenced(
  { store, blobs }: UnreferencedFilesContext,
  job: Job,
  merged: StoredFile | null,
  successful: number,
): Promise<void> {
  const paths = await blobs.listJob(job.id);
  if (paths.length <= successful + (merged ? 1 : 0)) return;
  const referenced = new Set([merged?.path]);
  for await (const batch of store.readBatches(job.id))
    for (const { path } of filesOf(batch)) referenced.add(path);
  const unreferenced = paths.filter((path) => !referenced.has(path));
  if (unreferenced.length > 0) await blobs.remove(unreferenced);
}

/** A file that a batch refers to. Type and digest of a part are not stored. */
export type ReferencedFile = Pick<StoredFile, 'path'> & Partial<Pick<StoredFile, 'contentType' | 'sha256'>>;

/** Yields the files that a batch refers to. A part that is also the batch's file is yielded twice. */
export function* filesOf({ file, parts, outcomes }: Batch): Generator<ReferencedFile> {
  yield* parts;
  if (file) yield file;
  for (const outcome of Object.values(outcomes)) {
    if (outcome.status === 'SUCCESS' && outcome.file) yield outcome.file;
  }
}
