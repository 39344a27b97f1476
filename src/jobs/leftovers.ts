import type { Batch, Job, StoredFile } from '../store/documents.ts';
import type { JobContext } from './context.ts';
import { writeRecords } from './part.ts';

/** Names of parts with records of an earlier version: such a part is written before its batch refers to it. */
const movedPrefix = 'moved_';

/** Batches moved in one call. */
const movedAtOnce = 100;

/**
 * Removes the files of a job that neither it nor its batches refer to: parts of lost claims, parts that a batch's
 * last one replaced, unit files of late workers. Every batch must be done; `successful` is the number of those with
 * a result, which have at least a file each.
 */
export async function removeUnreferenced(
  { store, blobs }: JobContext,
  job: Job,
  merged: StoredFile | null,
  successful: number,
): Promise<void> {
  const paths = await blobs.listJob(job.id);
  if (paths.length <= successful + (merged ? 1 : 0)) return;
  const referenced = new Set([merged?.path]);
  for await (const batch of store.readBatches(job.id))
    for (const path of pathsOf(batch)) referenced.add(path);
  const isMoved = (path: string) => path.startsWith(`${job.id}/${movedPrefix}`);
  const unreferenced = paths.filter((path) => !referenced.has(path) && !isMoved(path));
  if (unreferenced.length > 0) await blobs.remove(unreferenced);
}

function* pathsOf({ file, parts, outcomes }: Batch): Generator<string> {
  if (file) yield file.path;
  for (const { path } of parts) yield path;
  for (const outcome of Object.values(outcomes)) {
    if (outcome.status === 'SUCCESS' && outcome.file) yield outcome.file.path;
  }
}

/** Moves records that an earlier version kept in the database to the blob store, some batches in each call. */
export async function moveEarlierPayloads(context: JobContext): Promise<void> {
  const { store, log } = context;
  const batches = await store.findLegacyBatches(movedAtOnce);
  for (const batch of batches) {
    const records = await store.readLegacyRecords(batch);
    // What a worker of this version has written is in the batch's parts.
    for (const part of batch.parts)
      for (const index of Object.keys(part.records)) records.delete(Number(index));
    const path = `${batch.jobId}/${movedPrefix}${batch.seq + 1}_${batch.id}`;
    await store.migrateLegacyRecords(batch.id, await writeRecords(context, path, records));
  }
  if (batches.length > 0) log.info({ batches: batches.length }, 'records moved to the result storage');
}
