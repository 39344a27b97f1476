import { compareFile } from '../base/recorded-file.ts';
import { Fault } from '../contract/fault.ts';
import { readBatch, segmentWithRows } from '../jobs/records.ts';
import type { Segment } from '../store/batches.ts';
import type { Store } from '../store/store.ts';
import type { Copying } from './copy-files.ts';

/** The copied database, and the one that the service changes meanwhile. */
export interface StorePair {
  copied: Store;
  current: Store;
}

/**
 * Copies the segments of a job that its merged file has replaced since the database was copied:
 * from the rows in this file. Skips segments that the rows do not result in.
 */
export async function copyMovedRows(
  { copied, current }: StorePair,
  jobId: string,
  copying: Copying,
): Promise<void> {
  const { file } = (await current.jobs.get(jobId)) ?? { file: null };
  if (file === null) return;
  for await (const batch of copied.batches.read(jobId)) {
    const segment = segmentWithRows(batch);
    if (segment === undefined || (await copying.copy.size(segment.path)) !== null) continue;
    const now = await readBatch(current, jobId, batch.seq);
    const moved = now === null ? undefined : segmentWithRows(now);
    if (moved?.path !== file.path) continue;
    await copySegment(segment, moved, copying);
  }
}

/**
 * Writes a segment from its rows in a merged file, with the head and tail of that file around them
 * if the segment has any.
 */
async function copySegment(
  segment: Segment,
  moved: Segment,
  { source, copy }: Copying,
): Promise<void> {
  const { path, bytes, sha256, body } = segment;
  const head = body!.start;
  const tail = bytes - body!.end;
  const rows = moved.body!;
  const parts = [
    { start: 0, end: head - 1 },
    { start: rows.start, end: rows.end - 1 },
    { start: moved.bytes - tail, end: moved.bytes - 1 },
  ];
  const read = async function* (): AsyncGenerator<Uint8Array> {
    for (const part of parts)
      if (part.end >= part.start) yield* await source.read(moved.path, part);
  };
  try {
    const contents = compareFile(path, { bytes, sha256 }, read());
    await copy.write(path, 'application/octet-stream', contents, () => 0);
  } catch (error) {
    if (!['not_found', 'storage_damaged'].includes(Fault.from(error).code)) throw error;
  }
}
