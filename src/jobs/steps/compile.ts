import type { FilePack } from '../../kinds/kind.ts';
import type { Batch } from '../../store/batches.ts';
import type { Job, StoredFile } from '../../store/documents.ts';
import type { JobContext } from '../context.ts';
import { openRecords, readRows } from '../records.ts';
import { composeRows, noRows } from './record-segment.ts';

/** Interval at which a long compilation touches its job, so that the sweep does not start a second one. */
const touchIntervalMs = 10_000;

/**
 * Writes a job's merged file: the head, the rows of the batches' segments in submission order, and the tail.
 * Copies rows byte for byte. Returns null for kinds without a merged file, and for jobs without a row.
 */
export async function compile(context: JobContext, job: Job, success: number): Promise<StoredFile | null> {
  const pack = context.jobTypes.of(job).kind.files.job;
  if (!pack || job.state === 'rejecting' || (success === 0 && !pack.whenAllFailed)) return null;
  const count = { items: 0 };
  const path = `${job.id}/${pack.name(job)}`;
  return context.blobs.write(
    path,
    pack.contentType(job),
    merge(context, pack, job, count),
    () => count.items,
  );
}

async function* merge(
  context: JobContext,
  pack: FilePack,
  job: Job,
  count: { items: number },
): AsyncGenerator<string | Uint8Array> {
  const { store, clock } = context;
  let touchedAt = clock.now();
  yield pack.head(job);
  for await (const batch of store.batches.read(job.id)) {
    if (clock.now() - touchedAt > touchIntervalMs) {
      touchedAt = clock.now();
      await store.jobs.move(job.id, [job.state], job.state, touchedAt);
    }
    const { rows, chunks } = rowsOf(context, pack, job, batch);
    let isFirst = true;
    for await (const chunk of chunks) {
      if (isFirst && count.items > 0) yield pack.separator;
      isFirst = false;
      yield chunk;
    }
    count.items += rows.items;
  }
  yield pack.tail(job);
}

/** Returns the rows of a batch, and their number once they are read. */
function rowsOf(
  context: JobContext,
  pack: FilePack,
  job: Job,
  batch: Batch,
): { rows: { items: number }; chunks: AsyncIterable<Uint8Array> } {
  const segment = batch.segments.find(({ body }) => body !== null);
  if (segment) return { rows: segment.body!, chunks: readRows(context, batch, segment) };
  // Batches ended by a cancellation have no segment with rows.
  const { read } = openRecords(context, batch);
  const rows = noRows();
  return { rows, chunks: composeRows(pack, job, batch, read, rows) };
}
