import { createInterface } from 'node:readline';
import { Readable } from 'node:stream';
import type { JsonObject } from '../base/json.ts';
import type { Blobs } from '../blobs/blobs.ts';
import { Fault } from '../contract/fault.ts';
import type { Offers } from '../jobs/offers.ts';
import { type RecordContext, readRecords } from '../jobs/records.ts';
import type { ItemReading } from '../markets/tracked.ts';
import type { Batch, Job } from '../store/documents.ts';
import { sourceOf } from '../store/item-ids.ts';

/** Dependencies of this module. */
export type ReadingsContext = RecordContext & { offers: Offers; blobs: Pick<Blobs, 'read'> };

/** A reading of an item and the unit that found it. */
export interface FoundReading {
  reading: ItemReading;
  region: string;
  source: string;
  /** Time at which the record was collected, if it was reused. */
  collectedAt: number | null;
}

/** Yields the tracked items in the records of a batch, each once. Holds one batch of records, or one listing's line. */
export async function* readingsOf(
  context: ReadingsContext,
  job: Job,
  batch: Batch,
): AsyncGenerator<FoundReading> {
  const { market, kind } = context.offers.of(job);
  const readTracked = market.tracked?.[kind.page];
  if (!readTracked) return;
  const { region } = batch;
  const seen = new Set<string>();
  for await (const { record, index } of recordsOf(context, batch)) {
    const reading = readTracked(record);
    if (reading === null || seen.has(reading.key)) continue;
    seen.add(reading.key);
    const outcome = batch.outcomes[index];
    const collectedAt = outcome?.status === 'SUCCESS' ? (outcome.collectedAt ?? null) : null;
    yield { reading, region, source: sourceOf(batch.market, region, batch.units[index]!.key), collectedAt };
  }
}

/** Yields the records of a batch and the entries of its units' listings, with the index of the unit. */
async function* recordsOf(
  context: ReadingsContext,
  batch: Batch,
): AsyncGenerator<{ record: JsonObject; index: number }> {
  for (const [index, bytes] of await readRecords(context, batch))
    yield { record: JSON.parse(Buffer.from(bytes).toString()) as JsonObject, index };
  for (const index of batch.units.keys()) {
    const outcome = batch.outcomes[index];
    if (outcome?.status !== 'SUCCESS' || !outcome.file) continue;
    for await (const record of entriesOf(context.blobs, outcome.file.path)) yield { record, index };
  }
}

/** Yields the entries of a listing's file, which are a line each (src/kinds/listing.ts). */
async function* entriesOf(blobs: Pick<Blobs, 'read'>, path: string): AsyncGenerator<JsonObject> {
  const lines = createInterface({ input: Readable.from(await blobs.read(path)), crlfDelay: Infinity });
  for await (const line of lines) {
    const text = line.endsWith(',') ? line.slice(0, -1) : line;
    if (!text.startsWith('{') || !text.endsWith('}')) continue;
    yield parse(text, path);
  }
}

function parse(text: string, path: string): JsonObject {
  try {
    return JSON.parse(text) as JsonObject;
  } catch (error) {
    throw new Fault('internal', `${path} has a line that is not JSON`, { cause: error });
  }
}
