import { pipeline, Readable } from 'node:stream';
import { createGzip } from 'node:zlib';
import { Fault } from '../base/fault.ts';
import type { FilePack, UnitPlace } from '../kinds/kind.ts';
import type { Batch, Job, StoredFile } from '../store/documents.ts';
import type { JobContext } from './context.ts';

/** How often a long compilation says that it is alive, so that no sweep begins a second one. */
const aliveMs = 10_000;

/**
 * Writes a job's merged file: units in the order submitted, streamed a batch at a time, payloads as
 * the bytes they were stored as. Null for kinds without one, and where there is nothing to tell.
 */
export async function compile(context: JobContext, job: Job, success: number): Promise<StoredFile | null> {
  const pack = context.offers.of(job).kind.files.job;
  if (!pack || job.state === 'rejecting' || (success === 0 && !pack.whenAllFailed)) return null;
  return write(context, pack, pack.name(job), job, batchesWithPayloads(context, job));
}

/** Writes a batch's own file from its outcomes and payloads; null for kinds without one. */
export async function compileBatch(
  context: JobContext,
  job: Job,
  batch: Batch,
  payloads: ReadonlyMap<number, Uint8Array>,
): Promise<StoredFile | null> {
  const pack = context.offers.of(job).kind.files.batch;
  if (!pack) return null;
  return write(context, pack, pack.name(job, batch), job, [{ batch, payloads }]);
}

interface BatchContents {
  batch: Batch;
  payloads: ReadonlyMap<number, Uint8Array>;
}

async function* batchesWithPayloads(context: JobContext, job: Job): AsyncGenerator<BatchContents> {
  const { store, clock } = context;
  let alive = clock.now();
  for await (const batch of store.readBatches(job.id)) {
    if (clock.now() - alive > aliveMs) {
      alive = clock.now();
      await store.moveJob(job.id, [job.state], job.state, alive);
    }
    yield { batch, payloads: await store.readPayloads(batch) };
  }
}

async function write(
  context: JobContext,
  pack: FilePack,
  name: string,
  job: Job,
  contents: AsyncIterable<BatchContents> | Iterable<BatchContents>,
): Promise<StoredFile> {
  const count = { items: 0 };
  const chunks = units(pack, job, contents, count);
  // A failure reaches the reader of the last stream, who is the one to report it.
  const stream = pack.gzip ? pipeline(Readable.from(chunks), createGzip(), () => {}) : chunks;
  return context.blobs.write(`${job.id}/${name}`, pack.contentType(job), stream, () => count.items);
}

async function* units(
  pack: FilePack,
  job: Job,
  contents: AsyncIterable<BatchContents> | Iterable<BatchContents>,
  count: { items: number },
): AsyncGenerator<string | Uint8Array> {
  yield pack.head(job);
  for await (const { batch, payloads } of contents) {
    for (const [index, unit] of batch.units.entries()) {
      const place: UnitPlace = { job, region: batch.region, first: count.items === 0 };
      const outcome = batch.outcomes[index];
      const payload = payloads.get(index);
      // A file without it would say that the unit failed, and it was paid for.
      if (outcome?.status === 'SUCCESS' && payload === undefined)
        throw new Fault('internal', `unit ${index} of batch ${batch.id} has lost its record`);
      const parts = outcome ? pack.unit(unit, outcome, payload, place) : null;
      if (parts === null) continue;
      count.items++;
      yield* parts;
    }
  }
  yield pack.tail(job);
}
