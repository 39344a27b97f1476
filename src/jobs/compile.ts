import type { FilePack } from '../kinds/kind.ts';
import type { Batch, Job, StoredFile } from '../store/documents.ts';
import type { JobContext } from './context.ts';
import { composeRows, toMember } from './part.ts';
import { readRecords, readRows } from './records.ts';

/** How often a long compilation says that it is alive, so that no sweep begins a second one. */
const aliveMs = 10_000;

/**
 * Writes a job's merged file: its head, the rows of its batches' parts in the order submitted, its tail. Rows are
 * copied as they were written. Null for kinds without one, and where there is nothing to tell.
 */
export async function compile(context: JobContext, job: Job, success: number): Promise<StoredFile | null> {
  const pack = context.offers.of(job).kind.files.job;
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
  let alive = clock.now();
  yield pack.head(job);
  for await (const batch of store.readBatches(job.id)) {
    if (clock.now() - alive > aliveMs) {
      alive = clock.now();
      await store.moveJob(job.id, [job.state], job.state, alive);
    }
    const { items, chunks } = await rowsOf(context, pack, job, batch);
    if (items === 0) continue;
    if (count.items > 0) yield pack.separator;
    count.items += items;
    yield* chunks;
  }
  yield pack.tail(job);
}

interface BatchRows {
  items: number;
  chunks: AsyncIterable<Uint8Array> | Iterable<string | Uint8Array>;
}

async function rowsOf(context: JobContext, pack: FilePack, job: Job, batch: Batch): Promise<BatchRows> {
  const composed = batch.parts.find(({ body }) => body !== null);
  if (composed) return { items: composed.body!.items, chunks: readRows(context, batch, composed) };
  // It was ended from outside, or by an earlier version, and has no part with its rows.
  const rows = composeRows(pack, job, batch, await readRecords(context, batch));
  return { items: rows.items, chunks: pack.gzip && rows.items > 0 ? [await toMember(rows)] : rows.chunks };
}
